/** WordPress down at the first start: the site starts, reports that it has no edition, and recovers by itself. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { compileCache } from '../fixtures/paper.ts';
import { answerLikeWordPress } from './fixtures/wordpress.ts';

let folder: string;
let site: ChildProcess | undefined;
let wordpress: Server | undefined;
let output = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fault-'));
  output = '';
});
afterEach(async () => {
  if (site && site.exitCode === null && site.signalCode === null) {
    site.kill('SIGKILL');
    await once(site, 'exit');
  }
  wordpress?.closeAllConnections();
  wordpress?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts the built site and resolves with its address once it listens. */
async function startSite(env: Record<string, string>): Promise<string> {
  site = spawn(process.execPath, ['src/server/main.ts'], {
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      NODE_COMPILE_CACHE: compileCache,
      PORT: '0',
      SITE_URL: 'http://paper.example',
      DATA_DIR: folder,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [site.stdout, site.stderr]) {
    stream?.on('data', (data) => {
      output += data;
    });
  }
  await expect.poll(() => output, { timeout: 120_000 }).toMatch(/"port":\d+/);
  return `http://127.0.0.1:${/"port":(\d+)/.exec(output)?.[1]}`;
}

it('the site answers 503 with Retry-After while WordPress is down, and 200 once WordPress is up', async () => {
  // Holds the port from the start, without an answer.
  wordpress = createServer((_, response) => response.destroy()).listen(0, '127.0.0.1');
  await once(wordpress, 'listening');
  const { port } = wordpress.address() as AddressInfo;
  const base = await startSite({ WORDPRESS_URL: `http://127.0.0.1:${port}`, SYNC_POLL_SECONDS: '1' });
  const page = await fetch(base);
  expect(page.status).toBe(503);
  expect(page.headers.get('retry-after')).toBe('5');
  expect(await page.text()).toContain('still fetching the first stories');
  expect((await fetch(`${base}/healthz`)).status).toBe(200);
  const readyz = await fetch(`${base}/readyz`);
  expect(readyz.status).toBe(503);
  expect(await readyz.json()).toMatchObject({
    ready: false,
    features: { content: { on: true }, preview: { on: false, why: expect.stringContaining('NEWSROOM_SECRET') } },
  });

  wordpress.removeAllListeners('request').on('request', answerLikeWordPress);
  await expect.poll(async () => (await fetch(`${base}/readyz`)).status, { timeout: 120_000, interval: 200 }).toBe(200);
  expect((await fetch(base)).status).toBe(200);
  const article = await fetch(`${base}/article/the-only-story`);
  expect(article.status).toBe(200);
  expect(await article.text()).toContain('The only story');

  // Down later, readers notice nothing.
  wordpress.closeAllConnections();
  wordpress.close();
  expect((await fetch(`${base}/article/the-only-story`)).status).toBe(200);
  expect((await fetch(`${base}/readyz`)).status).toBe(200);
});

it('without WORDPRESS_URL, the site answers 503 and names each missing setting, and exits with 0 on SIGTERM', async () => {
  const base = await startSite({});
  expect((await fetch(base)).status).toBe(503);
  const { ready, features } = (await (await fetch(`${base}/readyz`)).json()) as {
    ready: boolean;
    features: Record<string, { on: boolean; why: string }>;
  };
  expect(ready).toBe(false);
  for (const [name, feature] of Object.entries(features)) {
    expect(feature.on, name).toBe(false);
    expect(feature.why, name).toContain(
      { accounts: 'SITE_URL', billing: 'STRIPE_SECRET_KEY', ticker: 'QUOTES_KEY' }[name] ?? 'WORDPRESS_URL',
    );
    expect(output).toContain(`"feature":"${name}"`);
  }
  expect(
    (
      await fetch(`${base}/api/v1/revalidate`, {
        method: 'POST',
        body: '{}',
        headers: { 'content-type': 'application/json' },
      })
    ).status,
  ).toBe(503);
  const exit = once(site as ChildProcess, 'exit');
  site?.kill('SIGTERM');
  expect(await exit).toEqual([0, null]);
});

it('the site names every invalid setting and exits with code 1', async () => {
  site = spawn(process.execPath, ['src/server/main.ts'], {
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: compileCache, PORT: 'x', LOG_LEVEL: 'loud', DATA_DIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  site.stderr?.on('data', (data) => {
    output += data;
  });
  // Its output is complete only then.
  expect(await once(site, 'close')).toEqual([1, null]);
  expect(output).toContain('PORT is "x"; give');
  expect(output).toContain('LOG_LEVEL is "loud"; give one of');
});

it('the site names the port that is in use and exits before it writes to its data folder', async () => {
  wordpress = createServer().listen(0, '127.0.0.1');
  await once(wordpress, 'listening');
  const { port } = wordpress.address() as AddressInfo;
  site = spawn(process.execPath, ['src/server/main.ts'], {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: compileCache,
      PORT: String(port),
      DATA_DIR: folder,
      LOG_LEVEL: 'silent',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  site.stderr?.on('data', (data) => {
    output += data;
  });
  // Its output is complete only then.
  expect(await once(site, 'close')).toEqual([1, null]);
  expect(output).toContain(`PORT: port ${port} is in use on 127.0.0.1. Set PORT to a free one`);
  expect(readdirSync(folder)).toEqual([]);
});

it('the site says that HOST has no address and exits with code 1', async () => {
  site = spawn(process.execPath, ['src/server/main.ts'], {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: compileCache,
      HOST: 'no-such-host.invalid',
      DATA_DIR: folder,
      LOG_LEVEL: 'silent',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  site.stderr?.on('data', (data) => {
    output += data;
  });
  // Its output is complete only then.
  expect(await once(site, 'close')).toEqual([1, null]);
  expect(output).toContain('HOST: no-such-host.invalid has no address. Set HOST to an address of this machine');
});
