import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CdnProvider, cdnHeaders, fileHeaders, purgeKeys, type TagLimits, tagHeader, wireTag } from './model.ts';

const providers: (CdnProvider | null)[] = ['cloudflare', 'fastly', null];
const keysOf = (value: string): string[] => value.split(/[ ,]/);
const hits = (header: string, purged: readonly string[]): boolean => {
  const carried = new Set(keysOf(header));
  return purgeKeys(purged).some((key) => carried.has(key));
};

describe('wireTag, which encodes a tag for the CDN', () => {
  test('leaves the site’s own tags as they are', () => {
    for (const tag of ['article:12', 'top-stories', 'section:arts-culture', 'slug:articles:%d8%b3%d9%84']) {
      expect(wireTag(tag)).toBe(tag);
    }
  });

  test('encodes characters that a header or a tag list cannot hold', () => {
    expect(wireTag('section:a b,c')).toBe('section:a%20b%2Cc');
    expect(wireTag('page:über\n')).toBe('page:%C3%BCber%0A');
  });

  test('replaces a tag that is too long with a hash that keeps the tag’s kind', () => {
    const long = `slug:articles:${'x'.repeat(2000)}`;
    expect(wireTag(long)).toMatch(/^slug:sha256-[0-9a-f]{64}$/);
    expect(wireTag(`${long}y`)).not.toBe(wireTag(long));
    expect(wireTag('z'.repeat(2000))).toMatch(/^long:sha256-/);
  });

  test('returns printable ASCII of at most 1,024 bytes, and leaves its own output unchanged', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }), (tag) => {
        const key = wireTag(tag);
        expect(key).toMatch(/^[!-+\--~]{1,1024}$/);
        expect(wireTag(key)).toBe(key);
      }),
    );
  });
});

describe('tagHeader, which lists a page’s tags for the CDN', () => {
  test('uses each vendor’s header and separator, and always includes the site tag', () => {
    const tags = ['article:12', 'byline:3'];
    expect(tagHeader('cloudflare', tags)).toEqual({
      name: 'Cache-Tag',
      value: 'site,article:12,byline:3',
      collapsed: [],
    });
    expect(tagHeader('fastly', tags)).toEqual({
      name: 'Surrogate-Key',
      value: 'site article:12 byline:3',
      collapsed: [],
    });
    expect(tagHeader(null, []).value).toBe('site');
  });

  test('lists each tag once', () => {
    expect(tagHeader('cloudflare', ['latest', 'latest', 'site', '']).value).toBe('site,latest');
  });

  test('collapses the kind of tag that takes the most room and keeps the others', () => {
    const cards = Array.from({ length: 1200 }, (_, index) => `card:${index}`);
    const header = tagHeader('cloudflare', ['section:politics', ...cards, 'byline:3']);
    expect(header.collapsed).toEqual(['card']);
    expect(header.value).toBe('site,section:politics,byline:3,any:card');
    expect(hits(header.value, ['card:7'])).toBe(true);
    expect(hits(header.value, ['byline:3'])).toBe(true);
    // A change of another author doesn't affect this page, collapsed or not.
    expect(hits(header.value, ['byline:4'])).toBe(false);
  });

  test('uses the single tag “any” when plain tags alone are too many', () => {
    const plain = Array.from({ length: 1200 }, (_, index) => `list-${index}`);
    const header = tagHeader('fastly', plain);
    expect(header).toEqual({ name: 'Surrogate-Key', value: 'site any', collapsed: ['any'] });
    expect(hits(header.value, ['list-1199'])).toBe(true);
  });

  const kinds = fc.constantFrom('card', 'article', 'byline', 'section', 'slug:articles', 'any', '');
  const anyTag = fc.tuple(kinds, fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 })).map(([kind, rest]) => {
    return kind === '' ? rest : `${kind}:${rest}`;
  });
  const pages = fc.array(anyTag, { minLength: 1, maxLength: 120 });
  const limits = fc.record<TagLimits>({
    maxBytes: fc.integer({ min: 8, max: 1500 }),
    maxTags: fc.integer({ min: 2, max: 60 }),
  });

  test('fits any limit, and a purge of any tag of the page still matches', () => {
    fc.assert(
      fc.property(fc.constantFrom(...providers), pages, limits, (provider, tags, limit) => {
        const { value } = tagHeader(provider, tags, limit);
        expect(value.length).toBeLessThanOrEqual(limit.maxBytes);
        expect(keysOf(value).length).toBeLessThanOrEqual(limit.maxTags);
        for (const tag of [...tags, 'site']) expect(hits(value, [tag])).toBe(true);
      }),
    );
  });

  test('matches only the page’s own tags when they fit', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(), { minLength: 2, maxLength: 50 }), ([other, ...ids]) => {
        const { value } = tagHeader(
          'cloudflare',
          ids.map((id) => `card:${id}`),
        );
        expect(hits(value, [`card:${other}`])).toBe(false);
      }),
    );
  });
});

describe('purgeKeys, which lists the tags to purge at the CDN', () => {
  test('adds each coarser key once', () => {
    expect(purgeKeys(['card:1', 'card:2', 'latest', 'card:1'])).toEqual([
      'card:1',
      'any:card',
      'card:2',
      'latest',
      'any',
    ]);
  });

  test('returns the site tag alone for a full purge, and nothing for no tags', () => {
    expect(purgeKeys(['card:1', 'site'])).toEqual(['site']);
    expect(purgeKeys([])).toEqual([]);
  });
});

test('a file’s headers carry only the file’s own tags', () => {
  const tags = ['picture:ab', 'pictures'];
  expect(fileHeaders('cloudflare', tags, false)).toEqual({ 'Cache-Tag': 'picture:ab,pictures' });
  expect(fileHeaders('fastly', tags, false)).toEqual({ 'Surrogate-Key': 'picture:ab pictures' });
});

test('a file in several formats is only for a CDN that honors Vary', () => {
  const noStore = { 'CDN-Cache-Control': 'no-store' };
  expect(fileHeaders('cloudflare', ['pictures'], true)).toMatchObject(noStore);
  expect(fileHeaders(null, ['pictures'], true)).toMatchObject(noStore);
  expect(fileHeaders('fastly', ['pictures'], true)).toEqual({ 'Surrogate-Key': 'pictures' });
});

test('Fastly also gets Surrogate-Control for the cache lifetime', () => {
  expect(cdnHeaders('fastly', ['article:1'], 'max-age=60')).toEqual({
    'CDN-Cache-Control': 'max-age=60',
    'Surrogate-Control': 'max-age=60',
    'Surrogate-Key': 'site article:1',
  });
  expect(cdnHeaders('cloudflare', ['article:1'], 'max-age=60')).toEqual({
    'CDN-Cache-Control': 'max-age=60',
    'Cache-Tag': 'site,article:1',
  });
});
