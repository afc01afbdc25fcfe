/** Pages of a store that another process writes. */
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { silent } from '../lib/logging.ts';
import { encode } from './cache/compressor.server.ts';
import { openSharedStore, type SharedStorePages } from './shared-store-pages.server.ts';
import { nameOf } from './store/stored-page.ts';
import { closeAll, folder, html, openFolder, start } from './testing.ts';

let pages: SharedStorePages;
let counted: Map<string, number>;

beforeEach(async () => {
  openFolder();
  counted = new Map();
  const { press } = start(async (key) => html(key.padEnd(2000, '.')));
  for (let n = 0; n < 20; n++) await press.get(`/${n}`, 'public');
});
afterEach(async () => {
  pages.close();
  await closeAll();
});

function open(memoryBytes: number): void {
  pages = openSharedStore({
    file: join(folder.dir, 'pages.sqlite'),
    build: 'one',
    memoryBytes,
    headersOf: (page) => page.headers,
    dictionary: null,
    encode: async (...given) => encode(...given),
    log: silent,
    addReads(reads) {
      for (const { ref, count } of reads.values()) counted.set(ref.key, (counted.get(ref.key) ?? 0) + count);
    },
  });
}

function readAll(): void {
  for (let n = 0; n < 20; n++) expect(pages.peek(`/${n}`, 'public')).toBeDefined();
}

it('reads count even if memory has no room for the page until they are passed on', () => {
  open(5000);
  readAll();
  readAll();
  pages.flushReads();
  expect(counted.size).toBe(20);
  expect(new Set(counted.values())).toEqual(new Set([2]));
});

it('reads of a page count even if it is replaced before they are passed on', () => {
  open(1_000_000);
  readAll();
  pages.forget([nameOf('/3', 'public'), nameOf('/4', 'public')]);
  pages.flushReads();
  expect(counted.get('/3')).toBe(1);
  expect(counted.size).toBe(20);
});
