/** Reads every stored page once, in each encoding that browsers ask for, and measures the memory of the serving process. */
import { readFileSync } from 'node:fs';
import { openStored } from '../publish/stored.ts';
import { asker } from '../support/http.ts';
import { type DataFolder, startSite } from '../support/site.ts';

export interface Crawl {
  readonly pages: number;
  /** Answers with a status other than 200. */
  readonly wrong: number;
  /** Megabytes: after the crawl, and the most that the process ever had; `null` where the system doesn't say. */
  readonly residentMb: number;
  readonly peakMb: number | null;
}

const connections = 16;
const encodings = ['br', 'gzip'] as const;

/** Most memory that a process has had, in megabytes. Only Linux reports it. */
function peakOf(pid: number): number | null {
  try {
    const kilobytes = /^VmHWM:\s+(\d+) kB$/mu.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kilobytes === undefined ? null : Number(kilobytes) / 1024;
  } catch {
    return null;
  }
}

/** Starts the site on a data folder with its pages rendered, and reads all of them. */
export async function crawl(data: DataFolder): Promise<Crawl> {
  const site = await startSite(data);
  const stored = openStored(data.folder);
  const { ask, close } = asker(site.port, connections);
  try {
    const paths = stored.paths();
    let wrong = 0;
    for (const encoding of encodings) {
      const left = [...paths];
      const read = async (): Promise<void> => {
        for (let path = left.pop(); path !== undefined; path = left.pop()) {
          const { status } = await ask(path, { headers: { 'accept-encoding': encoding } });
          if (status !== 200) wrong++;
        }
      };
      await Promise.all(Array.from({ length: connections }, read));
    }
    const [bytes] = await site.metrics('process_resident_memory_bytes');
    return { pages: paths.length, wrong, residentMb: bytes / 1024 / 1024, peakMb: peakOf(site.pid) };
  } finally {
    close();
    stored.close();
    await site.stop();
  }
}
