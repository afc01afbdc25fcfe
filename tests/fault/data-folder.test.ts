/** The folder of everything the site writes: closed to other users, and a start that ends where there can be none. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, lstatSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { type Paper, startPaper } from '../fixtures/paper.ts';

let paper: Paper | undefined;
afterEach(async () => {
  await paper?.close();
  paper = undefined;
});

it('holds nothing that other users may read, nor does what an earlier version left', async () => {
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

it('ends the start with a sentence where it cannot be made, and names a misspelled setting', async () => {
  const site = spawn(process.execPath, ['src/server/main.ts'], {
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      PORT: '0',
      DATA_DIR: '/proc/no-folder',
      WORDPRES_URL: 'https://wp.example',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [site.stdout, site.stderr]) {
    stream.on('data', (data) => {
      output += data;
    });
  }
  const spinning = setTimeout(() => site.kill('SIGKILL'), 120_000);
  expect(await once(site, 'exit')).toEqual([1, null]);
  clearTimeout(spinning);
  expect(output).toContain("DATA_DIR is /proc/no-folder, which can't be made or written (ENOENT). Set it to a folder");
  expect(output).toContain("WORDPRES_URL isn't a setting and is ignored. Did you mean WORDPRESS_URL?");
});
