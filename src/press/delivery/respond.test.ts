import type { IncomingHttpHeaders, Server } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPressServer } from '../../../tests/fixtures/press-server.ts';
import { askServer, html, press, type TestPress, tempDir } from '../testing.ts';

const text = '<p>It shines for all.</p>'.repeat(400);
let folder: ReturnType<typeof tempDir>;
let fixture: TestPress;
let server: Server;

beforeAll(async () => {
  folder = tempDir();
  fixture = press(folder.dir, {
    render: async (key) =>
      key === '/gone'
        ? { ...html('gone'), status: 410, tags: [] }
        : key === '/tiny'
          ? html('tiny')
          : { ...html(text), headers: { 'content-type': 'text/html', vary: 'Cookie' }, tags: ['t'] },
    headersOf: (page) => ({
      ...page.headers,
      'cache-control': 'public, max-age=0, must-revalidate',
      'cache-tag': page.tags.join(),
    }),
  });
  server = createPressServer(fixture.press);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await fixture.close();
  folder.remove();
});

const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  askServer(server, path, headers, method);

it('the press sends each encoding with its own strong ETag', async () => {
  const first = await ask('/a', { 'accept-encoding': 'br' });
  expect(first.headers['server-timing']).toBe('press;desc="rendered"');
  const br = await ask('/a', { 'accept-encoding': 'gzip, br' });
  const gzip = await ask('/a', { 'accept-encoding': 'gzip' });
  const plain = await ask('/a');
  expect(brotliDecompressSync(br.body).toString()).toBe(text);
  expect(gunzipSync(gzip.body).toString()).toBe(text);
  expect(plain.body.toString()).toBe(text);
  expect(br.headers).toMatchObject({
    'content-encoding': 'br',
    'content-length': String(br.body.byteLength),
    'content-type': 'text/html',
    vary: 'Cookie, Accept-Encoding',
    'cache-tag': 't',
    age: expect.stringMatching(/^\d+$/),
    'server-timing': 'press;desc="hit"',
    date: expect.any(String),
  });
  expect(plain.headers['content-encoding']).toBeUndefined();
  const etags = [br, gzip, plain].map((answer) => answer.headers.etag);
  expect(new Set(etags).size).toBe(3);
  for (const etag of etags) expect(etag).toMatch(/^"[\w-]{22,25}"$/);
});

it('the press responds to HEAD like to GET, without a body', async () => {
  const get = await ask('/a', { 'accept-encoding': 'br' });
  const head = await ask('/a', { 'accept-encoding': 'br' }, 'HEAD');
  const stable = ({ date: _date, age: _age, ...rest }: IncomingHttpHeaders) => rest;
  expect(stable(head.headers)).toEqual(stable(get.headers));
  expect(head.body.byteLength).toBe(0);
});

it('the press responds with 304 only to the ETag of the requested encoding', async () => {
  const br = await ask('/a', { 'accept-encoding': 'br' });
  const same = { 'accept-encoding': 'br', 'if-none-match': `"other", W/${br.headers.etag}` };
  const unchanged = await ask('/a', same);
  expect(unchanged.status).toBe(304);
  expect(unchanged.body.byteLength).toBe(0);
  expect(unchanged.headers).toMatchObject({
    etag: br.headers.etag,
    vary: 'Cookie, Accept-Encoding',
    'cache-control': expect.any(String),
  });
  expect(unchanged.headers['content-encoding']).toBeUndefined();
  expect((await ask('/a', { ...same, 'accept-encoding': 'gzip' })).status).toBe(200);
  expect((await ask('/gone', { 'if-none-match': '*' })).status).toBe(410);
});

it('the press sends a tiny page uncompressed', async () => {
  const tiny = await ask('/tiny', { 'accept-encoding': 'br' });
  expect(tiny.body.toString()).toBe('tiny');
  expect(tiny.headers).toMatchObject({ 'content-length': '4', vary: 'Accept-Encoding' });
  expect(tiny.headers['content-encoding']).toBeUndefined();
});
