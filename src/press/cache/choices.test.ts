import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { silent } from '../../lib/logging.ts';
import type { Rendering } from '../scheduler/render.server.ts';
import { html, press, type TestPress, tempDir, textOf } from '../testing.ts';
import type { CachedPage } from './cached-page.ts';
import { createPageDictionary } from './dictionary.server.ts';
import type { Choices, Insertion } from './insertions.server.ts';

const filler = Array.from({ length: 60 }, (_, at) => `<p>Some words of paragraph ${at * at * at}.</p>`).join('');
const page = (words: string): string => `<body><a>Skip</a><h1>${words}</h1>${filler}</body>`;

/** Twelve groups; even ones see this form. */
const choices: Choices = {
  takes: ({ tags }) => tags.includes('several-forms'),
  groups: 12,
  groupOf: (cookie) => (cookie === undefined ? null : Number(cookie)),
  choose(body, group) {
    chosen++;
    const text = body.toString();
    if (!text.includes('{own|other}')) return null;
    const other = group !== null && group % 2 === 1;
    return { body: Buffer.from(text.replaceAll('{own|other}', other ? 'OTHER' : 'OWN')), forms: other ? 'x:1' : '' };
  },
};
const banner = (words: string): Insertion => ({
  takes: ({ key }) => key !== '/offline',
  into: (body) => Buffer.from(body.toString().replace('</a>', `</a>${words}`)),
  policy: (rendered) => rendered,
});

let folder: ReturnType<typeof tempDir>;
let fixture: TestPress;
let chosen: number;
let renders: number;
let words: string;
let tags: string[];

beforeEach(() => {
  folder = tempDir();
  [chosen, renders, words, tags] = [0, 0, '{own|other}', ['several-forms', 'card:1']];
  fixture = press(folder.dir, {
    choices,
    render: async (key): Promise<Rendering> => {
      renders++;
      return key === '/plain' ? { ...html(page('plain')), tags: [] } : { ...html(page(words)), tags };
    },
  });
});
afterEach(async () => {
  await fixture.close();
  folder.remove();
});

async function shown(key: string, group: number | null): Promise<CachedPage> {
  for (;;) {
    const found = fixture.press.shown(
      await fixture.press.get(key, 'public'),
      group === null ? undefined : String(group),
    );
    if (!(found instanceof Promise)) return found;
    await found;
  }
}
const read = async (group: number | null, key = '/a') => textOf(fixture.press, await shown(key, group));
const bodyIn = (found: CachedPage, encoding: 'br' | 'gzip'): Buffer => {
  const body = fixture.press.encoded(found, [encoding])?.body;
  if (!body) throw new Error(`There is no ${encoding}.`);
  return body;
};
const header = (found: CachedPage, name: string): string | undefined => {
  const { headers = [] } = fixture.press.encoded(found, ['gzip']) ?? {};
  return headers[headers.indexOf(name) + 1];
};

it('a page that is the same for all groups is served as stored, without looking for choices', async () => {
  const stored = await fixture.press.get('/plain', 'public');
  for (const group of [null, 0, 11]) expect(fixture.press.shown(stored, String(group))).toBe(stored);
  expect([chosen, stored.bytes]).toEqual([0, stored.bytes]);
});

it('each group of readers gets its form of a page in every encoding, from one render', async () => {
  for (let group = 0; group < 12; group++) {
    const found = await shown('/a', group);
    const expected = page(group % 2 === 1 ? 'OTHER' : 'OWN');
    expect(textOf(fixture.press, found)).toBe(expected);
    expect(gunzipSync(bodyIn(found, 'gzip')).toString()).toBe(expected);
    expect(brotliDecompressSync(bodyIn(found, 'br')).toString()).toBe(expected);
  }
  expect(await read(null)).toBe(page('OWN'));
  expect(renders).toBe(1);
});

it('groups with the same form share a copy and ETag, and only the default form may be cached publicly', async () => {
  const [own, other] = [await shown('/a', null), await shown('/a', 1)];
  for (const group of [0, 2, 10]) expect(await shown('/a', group)).toBe(own);
  for (const group of [3, 11]) expect(await shown('/a', group)).toBe(other);
  expect(own.page.etags.br).not.toBe(other.page.etags.br);
  expect(header(own, 'etag')).not.toBe(header(other, 'etag'));
  // A shared cache may store only what readers without a group see.
  expect(header(own, 'cache-control')).not.toBe('private, max-age=0, must-revalidate');
  expect(header(other, 'cache-control')).toBe('private, max-age=0, must-revalidate');
});

it('a page is compressed once for each form, however many readers request it', async () => {
  const stored = await fixture.press.get('/a', 'public');
  const first = fixture.press.shown(stored, '1');
  expect(first).toBeInstanceOf(Promise);
  expect(fixture.press.shown(stored, '1')).toBe(first);
  expect(fixture.press.shown(stored, '3')).toBe(first);
  await first;
  expect(fixture.press.shown(stored, '5')).toBe(fixture.press.shown(stored, '1'));
});

it('an inserted banner appears in each form of a page, and removing it restores the earlier pages', async () => {
  const before = await read(1);
  fixture.press.insert(banner('NEWS'));
  expect(await read(1)).toBe(before.replace('</a>', '</a>NEWS'));
  expect(await read(0)).toBe(page('OWN').replace('</a>', '</a>NEWS'));
  fixture.press.insert(banner('MORE'));
  expect(await read(1)).toContain('MORE');
  fixture.press.insert(null);
  expect([await read(1), await read(null)]).toEqual([before, page('OWN')]);
});

it('the forms of a page follow its changes, and end when the page no longer has any', async () => {
  expect(await read(1)).toContain('OTHER');
  words = 'both {own|other}';
  await fixture.press.invalidate(['card:1']);
  expect(await read(1)).toContain('both OTHER');
  [words, tags] = ['over', ['card:1']];
  await fixture.press.invalidate(['card:1']);
  const stored = await fixture.press.get('/a', 'public');
  expect(fixture.press.shown(stored, '1')).toBe(stored);
  expect(await read(1)).toContain('over');
});

it('a page tagged as having several forms, but with no place for them, is served as stored', async () => {
  words = 'nothing to choose';
  const stored = await fixture.press.get('/a', 'public');
  for (const group of [null, 1, 2]) expect(await shown('/a', group)).toBe(stored);
});

it('the copies of a page’s forms count toward the memory budget until they are released', async () => {
  const stored = await fixture.press.get('/a', 'public');
  await read(null);
  fixture.press.encoded(stored, ['gzip']);
  const { bytes } = stored;
  const memory = () => fixture.press.stats().memory.bytes;
  const before = memory();
  for (let group = 0; group < 12; group++) await read(group);
  const grown = stored.bytes - bytes;
  expect(grown).toBeGreaterThan(0);
  expect(memory() - before).toBe(grown);
  fixture.press.insert(banner('NEWS'));
  fixture.press.insert(null);
  expect(stored.bytes).toBeLessThan(bytes);
});

it('a group’s form of a page can be compressed with the shared dictionary', async () => {
  await fixture.close();
  const dictionaryWords = Buffer.from(filler);
  const dictionary = createPageDictionary(dictionaryWords, silent, 60_000);
  fixture = press(folder.dir, { choices, dictionary, render: async () => ({ ...html(page(words)), tags }) });
  try {
    const found = await shown('/a', 1);
    for (;;) {
      const small = fixture.press.withDictionary(found, dictionary.available, 'dcz');
      if (small === null) throw new Error('It is not sent with the dictionary.');
      if (small instanceof Promise) {
        await small;
        continue;
      }
      const options = { dictionary: dictionaryWords };
      // The magic number and the dictionary's hash come before the compressed bytes.
      expect(zstdDecompressSync(small.body.subarray(40), options).toString()).toBe(page('OTHER'));
      return;
    }
  } finally {
    await dictionary.close();
  }
});

it('at most two of ten thousand requests from all groups wait for a form to be made', async () => {
  const stored = await fixture.press.get('/a', 'public');
  let waits = 0;
  for (let at = 0; at < 10_000; at++) {
    const group = at % 13;
    const found = fixture.press.shown(stored, group === 12 ? undefined : String(group));
    if (!(found instanceof Promise)) continue;
    waits++;
    await found;
  }
  expect(waits).toBeLessThanOrEqual(2);
});
