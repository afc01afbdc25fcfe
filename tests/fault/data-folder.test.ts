/** The folder of everything the site writes: closed to other users, and a start that fails if the folder can't be made. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { compileCache, type Paper, siteUrl, startPaper } from '../fixtures/paper.ts';

let paper: Paper | undefined;
afterEach(async () => {
  await paper?.close();
  paper = undefined;
});

it('the data folder’s files, including an earlier version’s, are readable only by their owner', async () => {
  const before = process.umask(0o022);
  try {
    paper = await startPaper();
    await paper.kill();
    writeFileSync(join(paper.folder, 'left.sqlite'), '');
    chmodSync(join(paper.folder, 'left.sqlite'), 0o644);
    chmodSync(paper.folder, 0o755);
    await paper.start();
  } finally {
    process.umask(before);
  }
  await paper.ask('/article/story-1');
  paper.edit(1, { title: { rendered: 'Another headline' } });
  expect((await paper.deliver()).status).toBe(200);
  const entries = readdirSync(paper.folder, { recursive: true }).map(String);
  expect(entries.some((name) => name.endsWith('-wal'))).toBe(true);
  const open = ['.', ...entries].filter((name) => (lstatSync(join(paper?.folder ?? '', name)).mode & 0o077) !== 0);
  expect(open).toEqual([]);
});

it('a data folder is served by one process at a time, and by the next one after a kill', async () => {
  paper = await startPaper();
  const { output, ended } = await failedStart({ DATA_DIR: paper.folder });
  expect(ended).toEqual([1, null]);
  expect(output).toContain(`DATA_DIR is ${paper.folder}, which another process of the site serves. Give each a folder`);
  await paper.kill('SIGKILL');
  await paper.start();
  expect((await paper.ask('/article/story-1')).status).toBe(200);
});

/** A start that fails, by default because its folder can't be made. @returns its output, and how it has ended */
async function failedStart(settings: Readonly<Record<string, string>>): Promise<{ output: string; ended: unknown[] }> {
  const basic = { PATH: process.env.PATH, NODE_ENV: 'production', NODE_COMPILE_CACHE: compileCache, PORT: '0' };
  const site = spawn(process.execPath, ['src/server/main.ts'], {
    env: { ...basic, DATA_DIR: '/proc/no-folder', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [site.stdout, site.stderr]) {
    stream.on('data', (data) => {
      output += data;
    });
  }
  const spinning = setTimeout(() => site.kill('SIGKILL'), 120_000);
  // Its output is complete only then.
  const ended = await once(site, 'close');
  clearTimeout(spinning);
  return { output, ended };
}

const sentence = "DATA_DIR is /proc/no-folder, which can't be made or written (ENOENT). Set it to a folder";

it('the start fails when the data folder can’t be created, and the output names a misspelled setting', async () => {
  const { output, ended } = await failedStart({ WORDPRES_URL: 'https://wp.example' });
  expect(ended).toEqual([1, null]);
  expect(output).toContain(sentence);
  expect(output).toContain("WORDPRES_URL isn't a setting and is ignored. Did you mean WORDPRESS_URL?");
});

it('the start of several workers fails with a message when the data folder can’t be created', async () => {
  const { output, ended } = await failedStart({ WORKERS: '2' });
  expect(ended).toEqual([1, null]);
  expect(output).toContain(sentence);
});

it('the start fails with the name of a file that can’t be opened', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'data-folder-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const start = async (name: string): Promise<void> => {
    // A folder in place of the file: no user can open it as a file, not even root, as which tests may run.
    mkdirSync(join(folder, name), { recursive: true });
    const { output, ended } = await failedStart({ DATA_DIR: folder, SITE_URL: siteUrl, LOG_LEVEL: 'error' });
    expect(ended).toEqual([1, null]);
    expect(output).toContain(
      `${join(folder, name)} can't be opened: check that it and DATA_DIR belong to the server's user`,
    );
    rmSync(join(folder, name), { recursive: true });
  };
  await start('content.sqlite');
  // The page store's file name depends on the site.
  await startPaper({ DATA_DIR: folder }).then((other) => other.close());
  const [pages = ''] = readdirSync(join(folder, 'pages')).filter((name) => name.endsWith('.sqlite'));
  rmSync(join(folder, 'pages', pages));
  await start(join('pages', pages));
});
