/**
 * A release: the site is built, serves, is built again with a small change and starts on the same data. The second build
 * renders nothing until the test lets it, so that until then it shows the pages of the first build.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { root } from '../../scripts/setup/places.mjs';
import { createAccessCookie } from '../../src/press/delivery/access-cookie.ts';
import { accessKey, type Paper, startPaper, until } from '../fixtures/paper.ts';

const hour = 3_600_000;
const pages = [
  ...['/', '/latest', '/section/politics', '/pricing', '/about', '/article/story-1/comments'],
  ...Array.from({ length: 10 }, (_, at) => `/article/story-${at + 1}`),
];

let project: string;
let paper: Paper | undefined;
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'two-builds-'));
  const parts = ['src', 'public', 'scripts', 'dist', 'astro.config.mjs', 'tsconfig.json'];
  for (const part of [...parts, 'package.json', 'package-lock.json'])
    cpSync(join(root, part), join(project, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(project, 'node_modules'));
});
afterEach(async () => {
  await paper?.close();
  rmSync(project, { recursive: true, force: true });
});

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== '.sources')
    .map((entry) => entry.name);

function change(file: string, how: (text: string) => string): void {
  const path = join(project, file);
  const before = readFileSync(path, 'utf8');
  const after = how(before);
  if (after === before) throw new Error(`${file} is not what this test thinks it is.`);
  writeFileSync(path, after);
}

it('a new build serves the previous build’s pages until its own are rendered, and its files for a day', async () => {
  const gate = Promise.withResolvers<Response>();
  let waiting = 0;
  paper = await startPaper({}, { root: project });
  const site = paper;
  await until(() => site.output().includes('The important pages are ready'), site.output);
  const cookie = `access=${createAccessCookie({ name: 'access', keys: [accessKey] }).sign('subscriber', Date.now() / 1000 + hour)}`;
  const headers = { 'accept-encoding': 'br', cookie };
  const first = new Map<string, string | undefined>();
  for (const path of pages) {
    const { status, headers: sent } = await site.ask(path, { headers });
    expect([path, status]).toEqual([path, 200]);
    first.set(path, sent.etag);
  }
  await site.kill('SIGTERM');
  const assets = join(project, 'dist', 'client', '_assets');
  const names = readdirSync(assets).filter((name) => /\.(?:css|js)$/.test(name));
  const texts = new Map(names.map((name) => [name, readFileSync(join(assets, name), 'utf8')]));
  const count = filesIn(join(project, 'dist')).length;

  // Every page of a site requests the gate, except those that the build renders for the shared dictionary; WordPress is merely a convenient
  // server for it.
  site.wordpress.intercept = (request) => {
    if (new URL(request.url).pathname !== '/gate') return null;
    waiting++;
    return gate.promise.then((answer) => answer.clone());
  };
  change(
    'src/components/site/Footer.astro',
    (text) =>
      `${text.replace(/\n---\n/, "\nif (process.env.WORDPRESS_URL) await fetch(new URL('/gate', process.env.WORDPRESS_URL));\n---\n")}<p class="second-build">Second build</p>\n`,
  );
  change('src/styles/base.css', (text) => `${text}\n.second-build { color: inherit; }\n`);
  // Started inside a test, with everything that Vitest sets in the environment.
  const build = spawn(process.execPath, [join(project, 'scripts', 'run.mjs'), 'build'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [build.stdout, build.stderr])
    stream.on('data', (data) => {
      said += data;
    });
  const [code] = await once(build, 'close');
  expect(code, said).toBe(0);
  // A development build would leave additional files.
  expect(filesIn(join(project, 'dist')).length).toBe(count);
  const gone = names.filter((name) => !readdirSync(assets).includes(name));
  expect(gone.some((name) => name.endsWith('.css'))).toBe(true);

  const expectOldFiles = async (status: number): Promise<void> => {
    for (const name of gone) {
      const answer = await site.ask(`/_assets/${name}`);
      expect([name, answer.status]).toEqual([name, status]);
      if (status === 200) expect(answer.text).toBe(texts.get(name));
    }
  };
  await site.start({ root: project });
  await until(() => waiting > 0, site.output);
  for (const path of pages) {
    const { status, headers: sent } = await site.ask(path, { headers });
    expect([path, status, sent['server-timing'], sent.etag]).toEqual([path, 200, 'press;desc="hit"', first.get(path)]);
  }
  await expectOldFiles(200);

  gate.resolve(new Response('open'));
  for (const path of pages) {
    await until(async () => (await site.ask(path, { headers })).text.includes('Second build'), site.output);
    const { headers: sent } = await site.ask(path, { headers });
    expect(sent['server-timing'], path).toBe('press;desc="hit"');
    expect(sent.etag, path).not.toBe(first.get(path));
  }
  await until(() => site.output().includes('The important pages are ready'), site.output);
  await expectOldFiles(200);
  await site.kill('SIGTERM');
  const store = readdirSync(join(site.folder, 'pages')).find((name) => name.endsWith('.sqlite')) ?? '';
  const db = new DatabaseSync(join(site.folder, 'pages', store), { readOnly: true });
  const held = db.prepare('SELECT count(DISTINCT ns) AS builds, count(*) AS pages FROM pages').get();
  const known = db.prepare('SELECT count(*) AS builds FROM namespaces').get();
  db.close();
  expect([held?.builds, known?.builds]).toEqual([1, 1]);
  expect(Number(held?.pages)).toBeGreaterThanOrEqual(pages.length);

  // The old files are served for a day, and no longer.
  const nodeArgs = ['--import', fileURLToPath(new URL('./fixtures/clock.ts', import.meta.url))];
  await site.start({ root: project, nodeArgs, env: { CLOCK_SHIFT_MS: String(23 * hour) } });
  await expectOldFiles(200);
  await site.kill('SIGTERM');
  await site.start({ root: project, nodeArgs, env: { CLOCK_SHIFT_MS: String(25 * hour) } });
  await expectOldFiles(404);
});
