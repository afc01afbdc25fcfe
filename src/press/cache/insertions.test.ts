import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { silent } from '../../lib/logging.ts';
import type { Press } from '../press.server.ts';
import type { Rendering } from '../scheduler/render.server.ts';
import { html, press, type TestPress, tempDir, textOf } from '../testing.ts';
import type { CachedPage } from './cached-page.ts';
import { createPageDictionary } from './dictionary.server.ts';
import type { Insertion } from './insertions.server.ts';

const filler = Array.from({ length: 60 }, (_, at) => `<p>Some words of paragraph ${at * at * at}.</p>`).join('');
const page = (words: string): string => `<body><a>Skip</a><h1>${words}</h1>${filler}</body>`;

const banner = (words: string): Insertion => ({
  takes: ({ key }) => key !== '/offline',
  into(body) {
    const at = body.indexOf('</a>');
    if (at < 0) return null;
    return Buffer.concat([body.subarray(0, at + 4), Buffer.from(words), body.subarray(at + 4)]);
  },
  policy: (rendered) => rendered && `${rendered} 'sha256-x'`,
});

let folder: ReturnType<typeof tempDir>;
let fixture: TestPress;
let words: Record<string, string>;
let renders: number;
let render: (key: string) => Rendering;

beforeEach(() => {
  folder = tempDir();
  words = {};
  renders = 0;
  render = (key) => ({
    ...html(page(words[key] ?? key)),
    headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': "script-src 'self'" },
    tags: [`at:${key}`],
  });
  fixture = press(folder.dir, {
    render: async (key) => {
      renders++;
      return render(key);
    },
  });
});
afterEach(async () => {
  await fixture.close();
  folder.remove();
});

/** The page as a reader gets it. */
async function shown(key: string, from: Press = fixture.press): Promise<CachedPage> {
  for (;;) {
    const found = from.shown(await from.get(key, 'public'));
    if (!(found instanceof Promise)) return found;
    await found;
  }
}
const bodyIn = (found: CachedPage, encoding: 'br' | 'gzip' | 'identity'): Buffer => {
  const body = fixture.press.encoded(found, [encoding])?.body;
  if (!body) throw new Error(`There is no ${encoding}.`);
  return body;
};

it('an inserted banner is in every page and encoding without a render, with a new ETag and security policy', async () => {
  const before = await shown('/a');
  await shown('/b');
  const plain = textOf(fixture.press, before);
  fixture.press.insert(banner('NEWS'));
  for (const key of ['/a', '/b']) {
    const found = await shown(key);
    const expected = page(key).replace('</a>', '</a>NEWS');
    expect(bodyIn(found, 'identity').toString()).toBe(expected);
    expect(gunzipSync(bodyIn(found, 'gzip')).toString()).toBe(expected);
    expect(brotliDecompressSync(bodyIn(found, 'br')).toString()).toBe(expected);
  }
  const found = await shown('/a');
  for (const encoding of ['br', 'gzip'] as const) {
    const { headers = [], etag } = fixture.press.encoded(found, [encoding]) ?? {};
    expect(etag).not.toBe(fixture.press.encoded(before, [encoding])?.etag);
    expect(headers[headers.indexOf('content-security-policy') + 1]).toBe("script-src 'self' 'sha256-x'");
    expect(headers[headers.indexOf('content-length') + 1]).toBe(String(bodyIn(found, encoding).byteLength));
  }
  expect(renders).toBe(2);
  // Without the insertion, pages are exactly as before.
  fixture.press.insert(null);
  expect(await shown('/a')).toBe(before);
  expect(textOf(fixture.press, before)).toBe(plain);
});

it('a page with an inserted banner is compressed once, however many readers request it', async () => {
  const stored = await shown('/a');
  fixture.press.insert(banner('NEWS'));
  const [first, second] = [fixture.press.shown(stored), fixture.press.shown(stored)];
  expect(first).toBeInstanceOf(Promise);
  expect(second).toBe(first);
  await first;
  expect(fixture.press.shown(stored)).toBe(fixture.press.shown(stored));
});

it('an inserted banner is replaced or removed at once, even while a page is being compressed with it', async () => {
  const stored = await shown('/a');
  fixture.press.insert(banner('FIRST'));
  const pending = fixture.press.shown(stored);
  fixture.press.insert(banner('SECOND'));
  const other = fixture.press.shown(stored);
  await Promise.all([pending, other]);
  expect(textOf(fixture.press, await shown('/a'))).toContain('SECOND');
  fixture.press.insert(banner('THIRD'));
  const late = fixture.press.shown(stored);
  fixture.press.insert(null);
  expect(fixture.press.shown(stored)).toBe(stored);
  await late;
  expect(textOf(fixture.press, await shown('/a'))).not.toMatch(/FIRST|SECOND|THIRD/);
});

it('an inserted banner stays when its page changes', async () => {
  await shown('/a');
  fixture.press.insert(banner('NEWS'));
  await shown('/a');
  words['/a'] = 'changed';
  await fixture.press.invalidate(['at:/a']);
  expect(textOf(fixture.press, await shown('/a'))).toBe(page('changed').replace('</a>', '</a>NEWS'));
});

it('a banner is not inserted into fragments, feeds and the offline page', async () => {
  const usual = render;
  render = (key) => {
    if (key === '/feed') return { ...usual(key), headers: { 'content-type': 'application/rss+xml' } };
    return key === '/fragment' ? { ...usual(key), body: Buffer.from('<li>A story</li>') } : usual(key);
  };
  fixture.press.insert(banner('NEWS'));
  for (const key of ['/feed', '/fragment', '/offline']) {
    const stored = await fixture.press.get(key, 'public');
    expect(fixture.press.shown(stored)).toBe(stored);
  }
});

it('a banner is inserted into a 404 page, which is not stored', async () => {
  render = (key) => ({ ...html(page(key)), status: 404, tags: [], storable: false });
  fixture.press.insert(banner('NEWS'));
  const found = await shown('/missing');
  expect([found.status, textOf(fixture.press, found).includes('NEWS')]).toEqual([404, true]);
});

it('pages with an inserted banner count toward the memory budget until the banner is removed', async () => {
  await shown('/a');
  const stored = await fixture.press.get('/a', 'public');
  for (const encoding of ['br', 'gzip'] as const) fixture.press.encoded(stored, [encoding]);
  const { bytes } = fixture.press.stats().memory;
  for (let round = 0; round < 3; round++) {
    fixture.press.insert(banner(`NEWS ${round}`));
    const found = await shown('/a');
    const grown = fixture.press.stats().memory.bytes;
    expect(grown).toBeGreaterThan(bytes + bodyIn(found, 'br').byteLength);
    bodyIn(found, 'identity');
    expect(fixture.press.stats().memory.bytes).toBeGreaterThan(grown + page('/a').length);
  }
  fixture.press.insert(null);
  expect(fixture.press.stats().memory.bytes).toBe(bytes);
});

it('an inserted banner is in a page compressed with the shared dictionary', async () => {
  const words = Buffer.from(filler);
  const dictionary = createPageDictionary(words, silent, 60_000);
  await fixture.close();
  fixture = press(folder.dir, { dictionary, render: async (key) => render(key) });
  const sent = async () => {
    const found = await shown('/a');
    for (;;) {
      const small = fixture.press.withDictionary(found, dictionary.available, 'dcz');
      if (small === null) throw new Error('It is not sent with the dictionary.');
      if (!(small instanceof Promise)) return small;
      await small;
    }
  };
  try {
    const before = await sent();
    fixture.press.insert(banner('NEWS'));
    const after = await sent();
    // The magic number and the dictionary's hash come before the compressed bytes.
    expect(zstdDecompressSync(after.body.subarray(40), { dictionary: words }).toString()).toBe(
      page('/a').replace('</a>', '</a>NEWS'),
    );
    expect(after.etag).not.toBe(before.etag);
    fixture.press.insert(null);
    expect((await sent()).etag).toBe(before.etag);
  } finally {
    await dictionary.close();
  }
});
