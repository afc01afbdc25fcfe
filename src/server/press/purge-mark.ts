/** Remembers across a crash that purges may not have reached the CDN: then everything is purged at the next start. */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cdn } from '../../lib/cdn/cdn.server.ts';
import { everything } from './open-press.ts';

/** Closes the CDN; the mark goes when nothing was left unsent. */
export type CloseCdn = () => Promise<void>;

/** Purges everything if the process before did not end in order, and marks that this one runs. */
export function markPurges(cdn: Cdn, dataDir: string): CloseCdn {
  if (cdn.stats().provider === null) return async () => void (await cdn.close());
  const mark = join(dataDir, 'cdn-purges-open');
  if (existsSync(mark)) cdn.purge([everything]);
  writeFileSync(mark, '');
  return async () => {
    if ((await cdn.close()) === 0) rmSync(mark, { force: true });
  };
}
