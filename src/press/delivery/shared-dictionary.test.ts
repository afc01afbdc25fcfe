import { createHash } from 'node:crypto';
import type { Server } from 'node:http';
import { type BrotliOptions, brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPressServer } from '../../../tests/fixtures/press-server.ts';
import { silent } from '../../lib/logging.ts';
import { createPageDictionary, type PageDictionary } from '../cache/dictionary.server.ts';
import { type Answered, askServer, html, press, type TestPress, tempDir } from '../testing.ts';

const words = (seed: number) =>
  Array.from({ length: 3000 }, (_, at) => ((at * 2_654_435_761 + seed) % 100_003).toString(36)).join(' ');
/** Text that hardly compresses. */
const noise = () => {
  let text = '';
  for (let at = 0; at < 100; at++) text += createHash('sha512').update(String(at)).digest('base64');
  return text;
};
const shell = `<main>${words(1)}</main>`;
const story = (what: string) => `${shell}<h1>${what}</h1>`;
const bytes = Buffer.from(shell);
/** A reader waits for it for as long as a busy machine may need. */
const dictionary = createPageDictionary(bytes, silent, 60_000);
const { available } = dictionary;
const chromium = 'gzip, deflate, br, zstd, dcb, dcz';
const withIt = { 'accept-encoding': chromium, 'available-dictionary': available };
const withDcz = { ...withIt, 'accept-encoding': 'gzip, br, zstd, dcz' };

let folder: ReturnType<typeof tempDir>;
let fixture: TestPress;
let server: Server;
let renders = 0;

beforeAll(async () => {
  folder = tempDir();
  fixture = press(folder.dir, {
    dictionary,
    render: async (key) => {
      renders++;
      if (key === '/gone') return { ...html(story('gone')), status: 410 };
      if (key === '/data') return { ...html(story('data')), headers: { 'content-type': 'application/json' } };
      if (key === '/tiny') return html('tiny');
      if (key === '/other') return html(noise());
      return { ...html(story(`${key} ${renders}`)), tags: ['t'], access: key === '/restricted' ? 'subscriber' : null };
    },
    headersOf: (page, withDictionary) => ({
      ...page.headers,
      vary: 'Available-Dictionary',
      'cache-control': withDictionary ? 'private' : 'public',
    }),
  });
  server = createPressServer(fixture.press);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await fixture.close();
  await dictionary.close();
  folder.remove();
});

type Asked = Parameters<typeof askServer>;
const ask = (path: Asked[1], headers: Asked[2], method?: Asked[3]) => askServer(server, path, headers, method);

/** What a browser reads: magic bytes and the hash of its dictionary, then brotli or Zstandard. */
function read({ body, headers }: Answered): string {
  expect(headers['content-length']).toBe(String(body.byteLength));
  const isBrotli = headers['content-encoding'] === 'dcb';
  if (!isBrotli) expect(headers['content-encoding']).toBe('dcz');
  const magic = isBrotli ? 'ff444342' : '5e2a4d1820000000';
  const hashAt = magic.length / 2;
  expect(body.subarray(0, hashAt).toString('hex')).toBe(magic);
  expect(`:${body.subarray(hashAt, hashAt + 32).toString('base64')}:`).toBe(available);
  const compressed = body.subarray(hashAt + 32);
  const how = { dictionary: bytes } as BrotliOptions;
  return (isBrotli ? brotliDecompressSync(compressed, how) : zstdDecompressSync(compressed, how)).toString();
}

it('a browser with the shared dictionary gets under 200 bytes for a known page shell', async () => {
  const rendered = await ask('/a', withIt);
  const cached = await ask('/a', withIt);
  const gzip = await ask('/a', { 'accept-encoding': 'gzip' });
  expect(rendered.headers['server-timing']).toContain('rendered');
  expect(cached.headers['server-timing']).toContain('hit');
  expect(read(rendered)).toBe(gunzipSync(gzip.body).toString());
  expect(read(cached)).toBe(read(rendered));
  expect(cached.body.byteLength).toBeLessThan(200);
  expect(gzip.body.byteLength).toBeGreaterThan(5000);
});

it('a browser gets Brotli with the dictionary unless it prefers or only accepts Zstandard', async () => {
  const codingFor = async (accepted: string) =>
    (await ask('/a', { ...withIt, 'accept-encoding': accepted })).headers['content-encoding'];
  expect(await codingFor(chromium)).toBe('dcb');
  expect(await codingFor('br, dcz, dcb')).toBe('dcb');
  expect(await codingFor('br, dcb')).toBe('dcb');
  expect(await codingFor('br, dcz')).toBe('dcz');
  expect(await codingFor('br, dcb;q=0.5, dcz')).toBe('dcz');
  expect(await codingFor('br, dcb;q=0, dcz;q=0.1')).toBe('dcz');
  const [brotli, zstandard] = [await ask('/a', withIt), await ask('/a', withDcz)];
  expect(read(brotli)).toBe(read(zstandard));
  expect(brotli.headers.etag).not.toBe(zstandard.headers.etag);
  expect(zstandard.headers.etag).toMatch(/^"[\w-]{22}-dcz"$/);
});

it('a response compressed with the dictionary is private, and varies by Available-Dictionary', async () => {
  const small = await ask('/a', withIt);
  const br = await ask('/a', { 'accept-encoding': chromium });
  expect(small.headers).toMatchObject({ 'cache-control': 'private', vary: 'Available-Dictionary, Accept-Encoding' });
  expect(br.headers).toMatchObject({ 'cache-control': 'public', vary: 'Available-Dictionary, Accept-Encoding' });
  expect(br.headers['content-encoding']).toBe('br');
});

it('the press responds to HEAD like to GET with the dictionary, without a body', async () => {
  const get = await ask('/a', withIt);
  const head = await ask('/a', withIt, 'HEAD');
  const { date: _d, age: _a, ...of } = get.headers;
  expect(head.headers).toMatchObject(of);
  expect(head.body.byteLength).toBe(0);
});

it('the press responds with 304 to the ETags with and without the dictionary', async () => {
  const small = await ask('/a', withIt);
  const br = await ask('/a', { 'accept-encoding': chromium });
  expect(small.headers.etag).toMatch(/^"[\w-]{22}-dcb"$/);
  const again = await ask('/a', { ...withIt, 'if-none-match': String(small.headers.etag) });
  expect([again.status, again.headers.etag, again.body.byteLength]).toEqual([304, small.headers.etag, 0]);
  const earlier = await ask('/a', { ...withIt, 'if-none-match': String(br.headers.etag) });
  expect([earlier.status, earlier.headers.etag]).toEqual([304, br.headers.etag]);
  const without = await ask('/a', { 'accept-encoding': chromium, 'if-none-match': String(small.headers.etag) });
  expect(without.headers['content-encoding']).toBe('br');
});

it('a new rendering is compressed with the dictionary again', async () => {
  const before = await ask('/b', withIt);
  await fixture.press.invalidate(['t']);
  const after = await ask('/b', withIt);
  expect(read(after)).not.toBe(read(before));
  expect(after.headers.etag).not.toBe(before.headers.etag);
});

it('the public and full variants are compressed with the dictionary separately', async () => {
  const open = await ask('/restricted', withIt);
  expect(read(open)).toContain('/restricted');
  const full = await fixture.press.get('/restricted', 'full');
  const started = fixture.press.withDictionary(full, available, 'dcb');
  expect(started).toBeInstanceOf(Promise);
  await started;
  expect(fixture.press.withDictionary(full, available, 'dcb')).toMatchObject({ etag: expect.stringMatching(/-dcb"$/) });
  expect(fixture.press.withDictionary(full, available, 'dcb')).not.toMatchObject({ etag: open.headers.etag });
});

it.each(['/gone', '/data', '/tiny', '/other'])(
  '%s is sent without the dictionary, because it is an error, no document, or gets no smaller',
  async (path) => {
    for (let turn = 0; turn < 2; turn++) {
      const plain = await ask(path, { 'accept-encoding': chromium });
      const given = await ask(path, withIt);
      expect(given.headers['content-encoding']).toBe(plain.headers['content-encoding']);
      expect(given.body.equals(plain.body)).toBe(true);
    }
  },
);

describe('the shared dictionary is not used if the browser', () => {
  const another = createPageDictionary(Buffer.from('another build'), silent).available;
  it.each<[string, Record<string, string | string[]>, string | undefined]>([
    ['has no dictionary', { 'accept-encoding': chromium }, 'br'],
    ['has the dictionary of another build', { ...withIt, 'available-dictionary': another }, 'br'],
    ['accepts neither dictionary encoding', { ...withIt, 'accept-encoding': 'gzip, br, zstd' }, 'br'],
    ['refuses both dictionary encodings', { ...withIt, 'accept-encoding': 'br, dcz;q=0, dcb;q=0' }, 'br'],
    ['accepts any encoding by *', { ...withIt, 'accept-encoding': '*' }, 'br'],
    ['sends no Accept-Encoding', { 'available-dictionary': available }, undefined],
    ['sends an empty Available-Dictionary', { ...withIt, 'available-dictionary': '' }, 'br'],
    ['sends two colons without a hash', { ...withIt, 'available-dictionary': '::' }, 'br'],
    ['sends the hash without colons', { ...withIt, 'available-dictionary': available.replaceAll(':', '') }, 'br'],
    ['sends invalid base64', { ...withIt, 'available-dictionary': ':%%%%:' }, 'br'],
    ['sends the hash in lower case', { ...withIt, 'available-dictionary': available.toLowerCase() }, 'br'],
    ['sends only the start of the hash', { ...withIt, 'available-dictionary': `${available.slice(0, 20)}:` }, 'br'],
    ['sends the hash with a parameter', { ...withIt, 'available-dictionary': `${available};a=1` }, 'br'],
    ['sends a hash that is far too long', { ...withIt, 'available-dictionary': `:${'A'.repeat(6000)}:` }, 'br'],
    ['sends the hash twice in one header', { ...withIt, 'available-dictionary': `${available}, ${available}` }, 'br'],
    ['sends the header twice', { ...withIt, 'available-dictionary': [available, available] }, 'br'],
    ['sends another build’s hash as well', { ...withIt, 'available-dictionary': [another, available] }, 'br'],
  ])('%s', async (_what, headers, expected) => {
    await ask('/a', withIt);
    const plain = await ask('/a', { 'accept-encoding': expected ?? 'identity' });
    const answer = await ask('/a', headers);
    expect(answer.status).toBe(200);
    expect(answer.headers['content-encoding']).toBe(expected);
    expect(answer.body.equals(plain.body)).toBe(true);
    expect(answer.headers['cache-control']).toBe('public');
  });
});

describe('while a page is being compressed with the dictionary, the press', () => {
  /** A dictionary whose compressions wait until the test ends them. */
  function held(mostWaitMs: number) {
    const compressions: PromiseWithResolvers<Buffer>[] = [];
    const slow: PageDictionary = {
      ...dictionary,
      mostWaitMs,
      compress() {
        const compression = Promise.withResolvers<Buffer>();
        compressions.push(compression);
        return compression.promise;
      },
    };
    return { slow, compressions };
  }

  async function site(slow: PageDictionary): Promise<{ fixture: TestPress; server: Server; close(): Promise<void> }> {
    const dir = tempDir();
    let renders = 0;
    const made = press(dir.dir, {
      dictionary: slow,
      render: async () => ({ ...html(story(`rendering ${++renders}`)), tags: ['t'] }),
    });
    const listening = createPressServer(made.press);
    await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
    return {
      fixture: made,
      server: listening,
      async close() {
        listening.closeAllConnections();
        await new Promise((resolve) => listening.close(resolve));
        await made.close();
        dir.remove();
      },
    };
  }

  it('compresses once for all waiting readers and sends them the same bytes', async () => {
    const { slow, compressions } = held(60_000);
    const { server: own, close } = await site(slow);
    await askServer(own, '/a', { 'accept-encoding': 'br' });
    const answers = Promise.all(Array.from({ length: 5 }, () => askServer(own, '/a', withIt)));
    await expect.poll(() => compressions.length).toBe(1);
    compressions[0]?.resolve(Buffer.from('small'));
    for (const { headers, body } of await answers) {
      expect(headers['content-encoding']).toBe('dcb');
      expect(body.toString()).toBe('small');
    }
    expect(compressions).toHaveLength(1);
    await close();
  });

  it('sends plain Brotli if compressing takes too long, and the dictionary version later', async () => {
    const { slow, compressions } = held(1);
    const { fixture: made, server: own, close } = await site(slow);
    const first = await askServer(own, '/a', withIt);
    expect(first.headers['content-encoding']).toBe('br');
    const page = made.press.peek('/a', 'public');
    const before = made.press.stats().memory.bytes;
    compressions[0]?.resolve(Buffer.from('small'));
    await expect.poll(() => page && made.press.withDictionary(page, available, 'dcb')).not.toBeInstanceOf(Promise);
    expect((await askServer(own, '/a', withIt)).headers['content-encoding']).toBe('dcb');
    expect(made.press.stats().memory.bytes).toBeGreaterThan(before);
    expect(compressions).toHaveLength(1);
    await close();
  });

  it('never sends an old version of a page that was rendered again', async () => {
    const { slow, compressions } = held(60_000);
    const { fixture: made, server: own, close } = await site(slow);
    await askServer(own, '/a', { 'accept-encoding': 'br' });
    const answer = askServer(own, '/a', withIt);
    await expect.poll(() => compressions.length).toBe(1);
    await made.press.invalidate(['t']);
    compressions[0]?.resolve(Buffer.from('old'));
    const late = await answer;
    // The page has waited once; its new rendering is compressed for the next reader.
    expect(late.headers['content-encoding']).toBe('br');
    expect(brotliDecompressSync(late.body).toString()).toContain('rendering 2');
    await expect.poll(() => compressions.length).toBe(2);
    compressions[1]?.resolve(Buffer.from('new'));
    await expect.poll(async () => (await askServer(own, '/a', withIt)).body.toString()).toBe('new');
    await close();
  });

  it('sends plain Brotli if compressing fails', async () => {
    const { slow, compressions } = held(60_000);
    const { server: own, close } = await site(slow);
    await askServer(own, '/a', { 'accept-encoding': 'br' });
    const answer = askServer(own, '/a', withIt);
    await expect.poll(() => compressions.length).toBe(1);
    compressions[0]?.reject(new Error('lost'));
    expect((await answer).headers['content-encoding']).toBe('br');
    expect((await askServer(own, '/a', withIt)).headers['content-encoding']).toBe('br');
    expect(compressions).toHaveLength(1);
    await close();
  });
});
