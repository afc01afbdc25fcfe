/** `kill -9` during the back-fill: nothing half-done, nothing lost, and it resumes where it was. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openContentStore } from '../../src/content/store/content-store.server.ts';
import { createReader } from '../../src/content/store/reader.server.ts';
import { silent } from '../../src/lib/logging.ts';
import { type FakeWordPress, fakeWordPress, wirePost, wireSection } from '../fixtures/wordpress.ts';

const count = 800;
let folder: string;
let file: string;
let wordpress: FakeWordPress;
let server: http.Server;
let address: string;
let child: ChildProcess | null = null;
/** Called with every request for a page of articles, with the number of articles before it. */
let onPage: (before: number) => void = () => {};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'content-kill-'));
  file = join(folder, 'mirror.sqlite');
  server = http.createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', address);
    const key = url.searchParams.get('after_key');
    if (url.pathname.endsWith('/articles') && !url.searchParams.has('_fields'))
      onPage(key ? count + 1 - Number(key.split(',')[1]) : Number(url.searchParams.get('offset')));
    const answer = await wordpress.handle(new Request(url));
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  wordpress = fakeWordPress(address);
  wordpress.put('categories', { id: 3, ...wireSection(3, 'politics', 1) });
  for (let id = 1; id <= count; id++) {
    const date = new Date(Date.UTC(2026, 9, 1) + id * 60_000).toISOString().slice(0, 19);
    wordpress.put('articles', { id, ...wirePost({ id, slug: `a-${id}`, category: [{ id: 3 }], date_gmt: date }) });
  }
});
afterAll(() => {
  child?.kill('SIGKILL');
  server.close();
  server.closeAllConnections();
  rmSync(folder, { recursive: true, force: true });
});

function begin(): ChildProcess {
  child = spawn(process.execPath, [join(import.meta.dirname, '../fixtures/content-backfill.ts'), address, file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return child;
}

/** The contents of the store, checked by SQLite itself. */
function inspect(): { articles: number; offset: number } {
  const db = new DatabaseSync(file);
  expect(db.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
  const cursor = db.prepare("SELECT value FROM cursors WHERE name = 'backfill:articles'").get();
  const held = db.prepare("SELECT count(*) AS n FROM documents WHERE type = 'articles'").get();
  const search = db.prepare('SELECT count(*) AS n FROM search').get();
  db.close();
  // All rows of a document are stored, or none.
  expect(search).toEqual(held);
  return {
    articles: Number(held?.n),
    offset: cursor ? (JSON.parse(String(cursor.value)) as { offset: number }).offset : 0,
  };
}

it('copying the archive resumes at the last stored page, however often it is killed', async () => {
  let before = 0;
  for (const pages of [3, 2, 4, 3]) {
    const process = begin();
    const asked: number[] = [];
    const killed = once(process, 'exit');
    onPage = (start) => {
      asked.push(start);
      // The previous page is being sanitized or written at this moment.
      if (asked.length === pages) process.kill('SIGKILL');
    };
    expect(await killed).toEqual([null, 'SIGKILL']);
    expect(asked[0]).toBe(before);
    const { articles, offset } = inspect();
    expect(offset).toBeGreaterThanOrEqual(before);
    // The cursor and the documents before it were committed together.
    expect(articles).toBe(offset);
    before = offset;
  }
  expect(before).toBeGreaterThan(0);
  expect(before).toBeLessThan(count);

  const asked: number[] = [];
  onPage = (start) => void asked.push(start);
  const last = begin();
  let printed = '';
  last.stdout?.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  // What it printed is complete only then.
  expect(await once(last, 'close')).toEqual([0, null]);
  expect(JSON.parse(printed)).toMatchObject({ ok: true, problem: null, stored: count - before });
  expect(asked[0]).toBe(before);
  const store = openContentStore({ file, origin: address, log: silent });
  const { items, total } = createReader(store).articles({ limit: count });
  expect(total).toBe(count);
  expect(new Set(items.map(({ id }) => id)).size).toBe(count);
  store.close();
});
