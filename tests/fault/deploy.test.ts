/**
 * The Dockerfile: the image's files are assembled and its command is started as another user on a read-only file system. The files in
 * deploy/ have their tests in deploy-files.test.ts.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hashSources } from '../../scripts/build.ts';
import { siteFlags } from '../../scripts/setup/node.mjs';
import { freePort } from '../../scripts/setup/ports.mjs';
import { fakeWordPress, type Json, wirePost, wireSection } from '../fixtures/wordpress.ts';
import { image, read, stopSeconds, unknown } from './fixtures/deploy-files.ts';
import { inContext, openImage, type RunningImage } from './fixtures/image.ts';

/** The output of a process so far. */
function collect(child: ChildProcess): () => string {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (data) => {
      text += data;
    });
  }
  return () => text;
}

describe('the image', () => {
  let running: RunningImage;
  let wordpress: Server;
  beforeAll(async () => {
    running = openImage();
    const { put, handle } = fakeWordPress();
    put('categories', wireSection(2, 'politics', 1) as Json & { id: number });
    put('articles', { ...wirePost({ id: 1, slug: 'story-1', title: { rendered: 'Story 1' } }), id: 1 });
    wordpress = createServer(async (incoming, outgoing) => {
      const answer = await handle(new Request(new URL(incoming.url ?? '/', 'http://wordpress.example')));
      outgoing.writeHead(answer.status, Object.fromEntries(answer.headers));
      outgoing.end(Buffer.from(await answer.arrayBuffer()));
    });
    wordpress.listen(0, '127.0.0.1');
    await once(wordpress, 'listening');
  });
  afterAll(() => {
    wordpress?.closeAllConnections();
    wordpress?.close();
    running?.close();
  });

  /** Runs a command of the image to its end. */
  async function run(
    command: readonly string[],
    env: Record<string, string> = {},
  ): Promise<{ code: number; text: string }> {
    const child = running.start(command, env);
    const text = collect(child);
    const [code] = (await once(child, 'close')) as [number];
    return { code, text: text() };
  }

  it('serves pages, passes its health check, runs operators’ commands, and stops in order', async () => {
    console.log(`The image runs ${running.kind}.`);
    const port = String(await freePort());
    const { port: wordpressPort } = wordpress.address() as AddressInfo;
    const env = { PORT: port, SITE_URL: 'https://paper.example', WORDPRESS_URL: `http://127.0.0.1:${wordpressPort}` };
    const site = running.start(running.image.cmd, env, ['ignore', 'pipe', 'pipe', 'ipc']);
    const output = collect(site);
    const ended = once(site, 'exit');
    try {
      const ask = async (path: string) => {
        const answer = await fetch(`http://127.0.0.1:${port}${path}`, { redirect: 'manual' });
        return { status: answer.status, text: await answer.text() };
      };
      const status = async (path: string) => (await ask(path).catch(() => null))?.status;
      /** Not more often, because answering a request delays the start. */
      const answers = async (path: string): Promise<void> => {
        for (const end = Date.now() + 120_000; (await status(path)) !== 200; await setTimeout(200)) {
          if (site.exitCode !== null || Date.now() > end) throw new Error(`${path} doesn't answer.\n${output()}`);
        }
      };
      await answers('/healthz');
      expect([200, 503]).toContain(await status('/readyz'));
      await answers('/readyz');
      const page = await ask('/article/story-1');
      expect(page).toEqual({ status: 200, text: expect.stringContaining('Story 1') });
      for (const path of [...page.text.matchAll(/\/_assets\/[\w.-]+\.(?:css|js)/g)].slice(0, 3))
        expect(await status(path[0])).toBe(200);

      expect(await run(running.image.healthcheck, { PORT: port })).toEqual({ code: 0, text: '' });
      // The operators' commands find nothing to install or build.
      const command = await run(['node', 'scripts/run.mjs', 'newsletter']);
      expect(command).toEqual({ code: 1, text: expect.stringContaining('Name the newsletter') });
      const verified = await run(['node', 'scripts/run.mjs', 'verify', '--only', 'wordpress']);
      expect(verified).toEqual({ code: 0, text: expect.stringContaining('0 failed, 4 skipped') });

      expect(readdirSync(join(running.data, 'site'))).toEqual(expect.arrayContaining(['content.sqlite', 'pages']));
      if (running.isolated) {
        expect(readFileSync(`/proc/${site.pid}/status`, 'utf8')).toMatch(
          new RegExp(`^Uid:\\t${running.image.user.uid}\\t`, 'm'),
        );
        expect(lstatSync(join(running.data, 'site', 'content.sqlite')).uid).toBe(running.image.user.uid);
      }
    } finally {
      const began = performance.now();
      site.kill(running.image.stopSignal as NodeJS.Signals);
      expect(await ended, output()).toEqual([0, null]);
      expect(performance.now() - began).toBeLessThan(stopSeconds * 1000);
    }
    // Nothing tried to write outside the volume and /tmp.
    expect(output()).not.toMatch(/EROFS|EACCES|EPERM|"level":"error"/);
  });

  it('refuses writes outside its volume', async ({ skip }) => {
    if (!running.limited) skip(running.kind);
    const files = ['new', 'src/new', 'node_modules/new', `${image.volume}/new`];
    const code = `for (const file of ${JSON.stringify(files)}) try { fs.writeFileSync(file, ''); } catch (error) { console.log(error.code); }`;
    const { text } = await run(['node', '--eval', code]);
    // Without a mount the volume doesn't exist.
    const last = running.isolated ? '' : 'ENOENT\\n';
    expect(text).toMatch(new RegExp(`^(?:(?:EROFS|EACCES)\\n){3}${last}$`));
  });

  it('contains the sources that the build was made of, and no tests, secrets or local data', () => {
    expect(hashSources(running.app)).toBe(read('dist/.sources'));
    const names = readdirSync(running.app, { recursive: true, encoding: 'utf8' }).filter(
      (name) => !name.startsWith('node_modules'),
    );
    expect(
      names.filter((name) => /\.test\.tsx?$|^(?:\.env|\.git|var|deploy|tests|sandbox|\.broadsheet)/.test(name)),
    ).toEqual([]);
    for (const path of [
      '.env',
      '.env.local',
      'deploy/site.env',
      'var/site/accounts-secret',
      '.broadsheet/astro-key',
      'node_modules/x/index.js',
    ])
      expect(inContext(path), path).toBe(false);
  });

  it('contains every package that the server and the built pages import', () => {
    const files = [
      ...globSync('src/{server,content,press,lib}/**/*.ts', { cwd: running.app }),
      ...globSync('dist/server/**/*.mjs', { cwd: running.app }),
    ];
    const missing = new Set<string>();
    for (const file of files) {
      const code = readFileSync(join(running.app, file), 'utf8');
      const imports = code.matchAll(/^(?:import|export)\s(?!type\s)(?:[^'"`;]*?\sfrom\s*)?["']([@a-z][\w./@-]*)["']/gm);
      for (const [, specifier = ''] of imports) {
        const name = specifier
          .split('/')
          .slice(0, specifier.startsWith('@') ? 2 : 1)
          .join('/');
        if (!existsSync(join(running.app, 'node_modules', name))) missing.add(`${file}: ${specifier}`);
      }
    }
    expect(files.length).toBeGreaterThan(200);
    expect([...missing]).toEqual([]);
  });

  it('sets only settings that exist, and uses its port, volume and user consistently', () => {
    expect(unknown(Object.keys(image.env))).toEqual([]);
    expect(image.env).toMatchObject({ NODE_ENV: 'production', HOST: '0.0.0.0', PORT: String(image.port) });
    expect(image.env.DATA_DIR?.startsWith(`${image.volume}/`)).toBe(true);
    expect(image.user.uid).toBeGreaterThan(0);
    // The folder whose owner a new volume gets.
    const { uid, gid } = image.user;
    expect(read('Dockerfile')).toContain(
      `RUN install --directory --owner=${uid} --group=${gid} --mode=0700 ${image.volume}\n`,
    );
    expect(image.healthcheck.join(' ')).toContain('/healthz');
  });

  it('starts the site with the same command as systemd and the same flags as npm run serve', () => {
    const command = ['node', ...siteFlags, 'src/server/main.ts'];
    expect(image.cmd).toEqual(command);
    for (const unit of ['broadsheet.service', 'broadsheet@.service'])
      expect(read(`deploy/systemd/${unit}`)).toContain(`ExecStart=/usr/bin/${command.join(' ')}\n`);
    expect(read('package.json')).toContain(`"serve": "node ${siteFlags.join(' ')} scripts/run.mjs serve"`);
  });
});
