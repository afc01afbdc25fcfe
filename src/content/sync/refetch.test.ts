import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { wirePost } from '../../../tests/fixtures/wordpress.ts';
import { changes, content, fillWordPress, put, start, wordpress } from '../../../tests/world/sync.ts';
import { silent } from '../../lib/logging.ts';
import type { ContentEntry } from '../store/entries.server.ts';
import { createRefetch } from './refetch.server.ts';
import type { Refresh, SyncContext } from './refresh.server.ts';

const puzzle = 'https://games.example/puzzle';

/** A file for the content store of several starts. */
function storeFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'refetch-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'content.sqlite');
}

const pictureAt = (url: string) => ({ url, width: 800, height: 600, alt: '', caption: '', credit: '' });
const frameOf = (slug: string) => content.reader().crossword(slug)?.iframeSrc;
const requested = (part: string): number => wordpress.requests.filter((url) => url.includes(part)).length;

beforeEach(() => {
  fillWordPress();
  for (let id = 11; id <= 130; id++) wordpress.remove('articles', id);
});
afterEach(() => content.stop());

it('documents that were copied before a host was allowed are fetched again, once', async () => {
  wordpress.put('crosswords', { id: 900, ...wirePost({ id: 900, slug: 'monday', acf: { iframe: puzzle } }) });
  put(7, { image: pictureAt('https://pictures.example/a.jpg') });
  const file = storeFile();
  start({ file });
  await content.syncNow();
  expect(frameOf('monday')).toBe('');
  expect(content.reader().article('a-7')?.image).toBeNull();
  await content.stop();

  changes.length = 0;
  start({ file, frameHosts: ['games.example'], mediaHosts: ['pictures.example'] });
  await content.syncNow();
  expect(frameOf('monday')).toBe(puzzle);
  expect(content.reader().article('a-7')?.image?.url).toBe('https://pictures.example/a.jpg');
  // Only what has changed is rendered again.
  const tags = new Set(changes.flatMap((change) => [...change.tags]));
  expect(tags).toContain('article:7');
  expect(tags).not.toContain('article:8');
  await content.stop();

  const before = requested('include=');
  start({ file, frameHosts: ['games.example'], mediaHosts: ['pictures.example'] });
  await content.syncNow();
  expect(requested('include=')).toBe(before);
});

it('a first copy isn’t fetched twice', async () => {
  start({ frameHosts: ['games.example'] });
  await content.syncNow();
  expect(requested('include=')).toBe(0);
});

it('documents aren’t fetched again while WordPress refuses the credentials, which would cut paid articles', async () => {
  put(7, { access: 'subscriber', content: { rendered: '<p>The whole.</p>' } });
  const file = storeFile();
  start({ file });
  await content.syncNow();
  await content.stop();
  wordpress.status = { ...wordpress.status, credentials: false };
  start({ file, frameHosts: ['games.example'] });
  expect(await content.syncNow()).toMatchObject({ ok: true });
  expect(requested('include=')).toBe(0);
  wordpress.status = { ...wordpress.status, credentials: true };
  await content.syncNow();
  expect(requested('include=')).toBeGreaterThan(0);
});

/** A refetch over 2,500 documents. */
function largeArchive() {
  const ids = Array.from({ length: 2500 }, (_, index) => 2500 - index);
  const [meta, cursors] = [new Map<string, string>(), new Map<string, string>()];
  const statement = (sql: string) => ({
    get: (name: string) => (sql.includes('cursors') ? cursors.has(name) && { value: cursors.get(name) } : {}),
    all: (below: number, most: number) =>
      ids
        .filter((id) => id < below)
        .slice(0, most)
        .map((id) => ({ id, type: 'articles' })),
  });
  const write = async (entries: readonly ContentEntry[]): Promise<void> => {
    for (const entry of entries) {
      if (entry.kind === 'cursor') cursors.set(entry.name, JSON.stringify(entry.value));
      if (entry.kind === 'meta') meta.set(entry.key, entry.value);
    }
  };
  const context = {
    store: { getMeta: (key: string) => meta.get(key) ?? null, prepare: statement },
    applier: { write },
    log: silent,
    signal: new AbortController().signal,
  } as unknown as SyncContext;
  const fetched: number[] = [];
  const wire = { isDown: false };
  const refresh = {
    async documents(_type: string, part: readonly number[]) {
      fetched.push(...part);
      if (wire.isDown) throw new Error('WordPress is down');
    },
  } as unknown as Refresh;
  const open = (host: string) => createRefetch(context, refresh, { frameHosts: [host] });
  return { ids, fetched, wire, open };
}

it('a large archive is fetched in parts, the newest first, and continues after a restart', async () => {
  const { ids, fetched, open } = largeArchive();
  await open('a.example').run();
  expect(fetched).toEqual(ids.slice(0, 1000));
  await open('a.example').run();
  expect(open('a.example').complete).toBe(false);
  // With other settings it begins again.
  fetched.length = 0;
  for (const _part of [1, 2, 3]) await open('b.example').run();
  expect(fetched).toEqual(ids);
  expect(open('b.example').complete).toBe(true);
});

it.each([{ isDown: false }, { isDown: true }])(
  'settings that come back in the middle of a copy cause a copy of their own (WordPress is down: $isDown)',
  async ({ isDown }) => {
    const { ids, fetched, wire, open } = largeArchive();
    for (const _part of [1, 2, 3]) await open('a.example').run();
    expect(open('a.example').complete).toBe(true);
    wire.isDown = isDown;
    await open('b.example')
      .run()
      .catch(() => {});
    wire.isDown = false;
    expect(open('a.example').complete).toBe(false);
    await open('a.example').run();
    // The first part of the interrupted copy was ingested with the other settings again.
    fetched.length = 0;
    for (const _part of [1, 2, 3]) await open('b.example').run();
    expect(fetched).toEqual(ids);
    expect([open('a.example').complete, open('b.example').complete]).toEqual([false, true]);
  },
);
