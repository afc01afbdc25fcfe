/**
 * Syncing a real WordPress, that of the sandbox, filled with copies of the edition's articles: once from WordPress itself, for which the site
 * waits, and once from the answers that WordPress gave, which shows how many documents a second the site could take from a faster one.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, createServer, type OutgoingHttpHeaders, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ensureSandbox } from '../../sandbox/setup.mjs';
import { launchSandbox } from '../../sandbox/testing.ts';
import { root } from '../../scripts/setup/places.mjs';
import { step } from '../../scripts/setup/steps.mjs';
import { printFigures } from '../support/bounds.ts';
import { endWithBench, firstJsonLine } from '../support/processes.ts';

/** Documents a second that the site must take where WordPress gives them. */
const wanted = 100;
/** The share of the time that WordPress must at least be busy, if the site is faster than WordPress. */
const leastAtWork = 0.9;

/** Adds copies of the published articles, with their metadata and terms, until there are `count`. */
function fill(database: string, count: number): void {
  const db = new DatabaseSync(database);
  const published = "post_type = 'articles' AND post_status = 'publish'";
  const originals = db.prepare(`SELECT ID FROM wp_posts WHERE ${published}`).all();
  const columns = db
    .prepare("SELECT name FROM pragma_table_info('wp_posts') WHERE name NOT IN ('ID', 'post_name')")
    .all()
    .map(({ name }) => String(name))
    .join(', ');
  const post = db.prepare(
    `INSERT INTO wp_posts (ID, post_name, ${columns}) SELECT ?, post_name || '-' || ?, ${columns} FROM wp_posts WHERE ID = ?`,
  );
  const meta = db.prepare(
    'INSERT INTO wp_postmeta (post_id, meta_key, meta_value) SELECT ?, meta_key, meta_value FROM wp_postmeta WHERE post_id = ?',
  );
  const terms = db.prepare(
    'INSERT INTO wp_term_relationships (object_id, term_taxonomy_id, term_order) SELECT ?, term_taxonomy_id, term_order FROM wp_term_relationships WHERE object_id = ?',
  );
  let id = Number(db.prepare('SELECT max(ID) AS last FROM wp_posts').get()?.last);
  db.exec('BEGIN');
  for (let copy = originals.length; copy < count; copy++) {
    const original = Number(originals[copy % originals.length]?.ID);
    id++;
    post.run(id, copy, original);
    meta.run(id, original);
    terms.run(id, original);
  }
  db.exec('COMMIT');
  db.close();
}

interface Answer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
}

/** Passes requests on to WordPress and keeps the answers; after `replay` is called, it serves those. */
async function startRecorder(url: string) {
  const agent = new Agent({ keepAlive: true });
  const answers = new Map<string, Answer>();
  let replaying = false;
  let [requests, missing, inFlight, since, atWork] = [0, 0, 0, 0, 0];
  const server = createServer((incoming, outgoing) => {
    const { url: path = '/', headers, method } = incoming;
    const known = replaying ? answers.get(path) : undefined;
    if (known) return outgoing.writeHead(known.status, known.headers).end(known.body);
    if (replaying) missing++;
    requests++;
    if (inFlight++ === 0) since = performance.now();
    const passed = request(`${url}${path}`, { method, headers, agent }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.once('end', () => {
        if (--inFlight === 0) atWork += performance.now() - since;
        const kept = { status: answer.statusCode ?? 502, headers: answer.headers, body: Buffer.concat(chunks) };
        if (method === 'GET') answers.set(path, kept);
        outgoing.writeHead(kept.status, kept.headers).end(kept.body);
      });
    });
    passed.on('error', () => outgoing.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** @returns how many requests WordPress has answered, and in how many seconds it was at work for them */
    replay() {
      replaying = true;
      return { requests, atWork: atWork / 1000 };
    },
    missing: () => missing,
    stop: () => {
      agent.destroy();
      server.closeAllConnections();
      server.close();
    },
  };
}

interface Synced {
  readonly ok: boolean;
  readonly stored: number;
  readonly problem: string | null;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakKb: number;
}

/** @returns whether the bounds hold */
export async function syncFromWordPress(count: number): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-wordpress-'));
  const data = join(folder, 'sandbox');
  const launch = () => launchSandbox({ data, port: 0, siteUrl: 'http://127.0.0.1:9', edition: 'tests' });
  await step('Setting up the sandbox', () => ensureSandbox({ root, onProgress: () => {} }));
  try {
    const empty = await step('Importing the edition into WordPress', launch);
    await empty.stop();
    fill(join(data, 'database', '.ht.sqlite'), count);
    const sandbox = await launch();
    const recorder = await startRecorder(sandbox.wordpress.url);
    try {
      const sync = async (file: string): Promise<Synced> => {
        const { siteUser, siteApplicationPassword } = sandbox.wordpress;
        const args = [recorder.address, join(folder, file), siteUser, siteApplicationPassword];
        const module = join(import.meta.dirname, 'sync.ts');
        const syncing = spawn(process.execPath, [module, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
        endWithBench(syncing);
        const synced = await firstJsonLine<Synced>(syncing);
        if (syncing.exitCode === null) await once(syncing, 'exit');
        return synced;
      };
      const fromWordPress = await sync('content.sqlite');
      const wordpress = recorder.replay();
      const fromAnswers = await sync('again.sqlite');
      return report(count, { fromWordPress, fromAnswers, ...wordpress, missing: recorder.missing() });
    } finally {
      recorder.stop();
      await sandbox.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Run {
  readonly fromWordPress: Synced;
  readonly fromAnswers: Synced;
  readonly requests: number;
  readonly atWork: number;
  /** Requests of the second sync that the first one hadn't made. */
  readonly missing: number;
}

function report(count: number, { fromWordPress, fromAnswers, requests, atWork, missing }: Run): boolean {
  const rate = ({ stored, seconds }: Synced): number => stored / seconds;
  const line = (name: string, synced: Synced): string =>
    `${name.padEnd(32)} ${rate(synced).toFixed(0)} documents/s: ${synced.stored} in ${synced.seconds.toFixed(1)} s, ${synced.cpuSeconds.toFixed(1)} s of processor time, ${Math.round(synced.peakKb / 1024)} MB at most`;
  const share = atWork / fromWordPress.seconds;
  console.log(`
WordPress with ${count} articles, ${requests} requests
${line('from WordPress', fromWordPress)}
${line('from the answers that it gave', fromAnswers)}
WordPress was at work for ${atWork.toFixed(1)} s of the first, ${(share * 100).toFixed(0)} %.
`);
  const [first, second] = [Math.round(rate(fromWordPress)), Math.round(rate(fromAnswers))];
  const stored = fromWordPress.ok && fromAnswers.ok && fromWordPress.stored >= count;
  const same = fromAnswers.stored === fromWordPress.stored && missing <= 2;
  return printFigures(
    'Sync from WordPress',
    [
      {
        what: 'documents stored, the same twice',
        value: `${fromWordPress.stored}, ${fromAnswers.stored}`,
        bound: `≥ ${count}`,
        holds: stored && same,
      },
      {
        what: 'documents/s from WordPress, or its share of the time',
        value: `${first}, ${(share * 100).toFixed(0)} %`,
        bound: `≥ ${wanted}, or ≥ ${leastAtWork * 100} %`,
        holds: rate(fromWordPress) >= wanted || share >= leastAtWork,
      },
      {
        what: 'documents/s from its answers',
        value: `${second}`,
        bound: `≥ ${wanted}`,
        holds: rate(fromAnswers) >= wanted,
      },
    ],
    fromWordPress.problem ? [fromWordPress.problem] : [],
  );
}
