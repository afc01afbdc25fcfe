import fs from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, it } from 'vitest';
import type { EditionKind } from '../edition/model.ts';
import { readEdition } from '../edition/read.ts';
import { launchSandbox, type SandboxProcess, signIn } from '../testing.ts';

const data = path.resolve(import.meta.dirname, '../../var/test-sandbox', `kept-${process.pid}`);
const database = path.join(data, 'database', '.ht.sqlite');
const running: SandboxProcess[] = [];
const launch = async (
  edition: EditionKind = 'none',
  onProgress?: Parameters<typeof launchSandbox>[0]['onProgress'],
) => {
  const started = await launchSandbox({ data, port: 0, siteUrl: 'http://127.0.0.1:9', edition, onProgress });
  running.push(started);
  return started;
};

afterAll(async () => {
  for (const started of running) await started.kill();
  fs.rmSync(data, { recursive: true, force: true });
});

it('a killed sandbox repeats its interrupted installation or import, and loses no acknowledged write', async () => {
  await expect(
    launch('none', (_progress, child) => {
      const timer = setInterval(() => {
        if (fs.existsSync(database)) child.kill('SIGKILL');
        if (child.exitCode !== null || child.signalCode !== null) clearInterval(timer);
      }, 5);
    }),
  ).rejects.toThrow(/ended before it was ready/);

  const first = await launch();
  const admin = await signIn(first.wordpress);
  const acknowledged: string[] = [];
  const write = async (title: string) => {
    const body = JSON.stringify({ title, status: 'publish', content: 'x' });
    const response = await admin('/wp/v2/articles', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    if (response.status === 201) acknowledged.push(title);
    return acknowledged.length;
  };
  const writing = (async () => {
    for (let i = 0; i < 100; i += 1) if ((await write(`Story ${i}`)) === 4) void first.kill();
  })().catch(() => {});
  await writing;
  await first.kill();
  expect(acknowledged.length).toBeGreaterThanOrEqual(4);

  let journal = 0;
  await expect(
    launch('demo', ({ progress }, child) => {
      if (!progress.startsWith('Importing')) return;
      // A journal of this size on disk means that the transaction has started to write.
      const timer = setInterval(() => {
        journal = fs.statSync(`${database}-journal`, { throwIfNoEntry: false })?.size ?? 0;
        if (journal > 4096) child.kill('SIGKILL');
        if (child.exitCode !== null || child.signalCode !== null) clearInterval(timer);
      }, 1);
    }),
  ).rejects.toThrow(/ended before it was ready/);
  expect(journal).toBeGreaterThan(4096);

  const count = async ({ wordpress }: SandboxProcess, type: string) => {
    const response = await fetch(`${wordpress.url}/wp-json/wp/v2/${type}?per_page=1&_fields=id`);
    return Number(response.headers.get('x-wp-total'));
  };
  const { documents } = readEdition('http://127.0.0.1:9', 'demo');
  const expected = (type: string) =>
    documents.filter((document) => document.type === type && document.status === 'publish').length;
  const imported = await launch('demo');
  expect(imported.wordpress).toMatchObject({
    secret: first.wordpress.secret,
    adminPassword: first.wordpress.adminPassword,
    siteApplicationPassword: first.wordpress.siteApplicationPassword,
  });
  const written = await fetch(
    `${imported.wordpress.url}/wp-json/wp/v2/articles?search=Story&per_page=100&_fields=title`,
  );
  const titles = ((await written.json()) as { title: { rendered: string } }[]).map(({ title }) => title.rendered);
  expect(titles).toEqual(expect.arrayContaining(acknowledged));
  expect(await count(imported, 'authors')).toBe(expected('authors'));
  expect(await count(imported, 'crosswords')).toBe(expected('crosswords'));
  await imported.stop();
  const file = new DatabaseSync(database, { readOnly: true });
  expect(file.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
  file.close();
  const again = await launch('demo');
  expect(await count(again, 'authors')).toBe(expected('authors'));
  const crossword = await fetch(`${again.wordpress.url}/sandbox/crosswords/low-water`);
  expect(await crossword.text()).toContain('Name on the deed');
  await again.stop();
}, 900_000);
