/** The built site as a process on a data folder that is deleted when the bench ends. */
import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { siteFlags } from '../../scripts/setup/node.mjs';
import type { Warmed } from '../../src/press/scheduler/warm-up.server.ts';
import { type Ask, asker, textOf } from './http.ts';
import { start } from './processes.ts';

const secret = 'a-secret-of-the-bench-and-of-nothing-else';
const token = 'operators-token-of-the-bench';

export interface DataFolder {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  remove(): void;
}

/** @param wordpress port of a WordPress on this machine */
export function dataFolder(wordpress: number): DataFolder {
  const folder = mkdtempSync(join(tmpdir(), 'bench-site-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  return {
    folder,
    env: {
      NODE_ENV: 'production',
      PORT: '0',
      SITE_URL: 'https://paper.example',
      DATA_DIR: folder,
      WORDPRESS_URL: `http://127.0.0.1:${wordpress}`,
      WORDPRESS_USER: 'bench',
      WORDPRESS_APP_PASSWORD: 'bench',
      NEWSROOM_SECRET: secret,
      OPERATOR_TOKEN: token,
      // All changes during a run arrive by webhook.
      SYNC_POLL_SECONDS: '86400',
    },
    remove: () => {
      process.off('exit', remove);
      remove();
    },
  };
}

/** Copies the edition and renders the given paths; without a path, all pages. */
export async function prerender({ env }: DataFolder, concurrency: number, only: readonly string[]): Promise<Warmed> {
  const module = join(import.meta.dirname, 'prerender.ts');
  const rendering = start([module, String(concurrency), ...only], env);
  const [line] = await rendering.waitForOutput(/^\{"rendered".*\}$/mu, 4 * 3_600_000);
  if (rendering.child.exitCode === null) await once(rendering.child, 'exit');
  return JSON.parse(line) as Warmed;
}

export interface BenchSite {
  readonly port: number;
  readonly pid: number;
  readonly ask: Ask;
  /** Delivers a webhook as the plugin signs it. @returns the milliseconds until its answer was there, and the answer */
  deliver(hook: object): Promise<{ took: number; ms: number; refreshed: readonly string[] }>;
  /** Values of metrics, all read at the same moment. */
  metrics<const Names extends readonly string[]>(...names: Names): Promise<{ [At in keyof Names]: number }>;
  stop(): Promise<void>;
}

/** Starts the site and waits for its warm-up. */
export async function startSite({ env }: DataFolder): Promise<BenchSite> {
  const site = start([...siteFlags, 'src/server/main.ts'], env);
  const port = Number((await site.waitForOutput(/"port":(\d+)/u))[1]);
  await site.waitForOutput(/The important pages are ready/u);
  const { ask, close } = asker(port, 8);
  return {
    port,
    pid: site.child.pid ?? 0,
    ask,
    async deliver(hook) {
      const body = JSON.stringify(hook);
      const timestamp = String(Math.floor(Date.now() / 1000));
      const delivery = randomUUID();
      const headers = {
        'content-type': 'application/json',
        'x-newsroom-timestamp': timestamp,
        'x-newsroom-delivery': delivery,
        'x-newsroom-signature': `sha256=${createHmac('sha256', secret).update(`${timestamp}.${delivery}.`).update(body).digest('hex')}`,
      };
      const began = performance.now();
      const answer = await ask('/api/v1/revalidate', { method: 'POST', body, headers });
      const took = performance.now() - began;
      if (answer.status !== 200) throw new Error(`The webhook was answered ${answer.status}: ${textOf(answer)}`);
      const { ms, refreshed } = JSON.parse(textOf(answer)) as { ms: number; refreshed: string[] };
      return { took, ms, refreshed };
    },
    async metrics(...names) {
      const text = textOf(await ask('/metrics', { headers: { authorization: `Bearer ${token}` } }));
      return names.map((name) => {
        const value = new RegExp(`^${name} (\\S+)$`, 'mu').exec(text)?.[1];
        if (value === undefined) throw new Error(`The site has no metric ${name}.`);
        return Number(value);
      }) as { [At in keyof typeof names]: number };
    },
    async stop() {
      close();
      await site.stop();
    },
  };
}
