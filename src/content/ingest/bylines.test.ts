import { describe, expect, it } from 'vitest';
import { type Json, wirePost } from '../../../tests/fixtures/wordpress.ts';
import { xssPayloads } from '../../../tests/fixtures/xss.ts';
import { plainContext, sanitizer } from '../../../tests/world/ingest.ts';
import type { DocumentType } from '../../lib/content/model.ts';
import type { IngestedDocument } from './document.ts';
import { ingestDocument } from './ingest.server.ts';

async function take(part: Json, type: DocumentType = 'articles'): Promise<IngestedDocument> {
  const result = await ingestDocument(sanitizer, type, wirePost({ id: 1, ...part }), plainContext);
  if (result.kind !== 'document') throw new Error(JSON.stringify(result));
  return result.document;
}
const person = (id: number, name = `Writer ${id}`): Json => ({
  id,
  name,
  slug: `writer-${id}`,
  excerpt: '',
  image: null,
});
const byline = (authors: unknown, contributors: unknown = [], agency: unknown = null): Json => ({
  byline: { authors, contributors, agency },
});

describe('the byline of a story', () => {
  it('keeps the editors’ order of authors and contributors, and the agency', async () => {
    const agency = { name: 'Associated  <b>Press</b> &amp; Co.', url: 'https://ap.example/x' };
    const taken = await take({ acf: { author: person(7) }, ...byline([person(9), person(7)], [person(8)], agency) });
    expect(taken).toMatchObject({
      authorId: 9,
      author: { id: 9, name: 'Writer 9' },
      others: [{ id: 7 }, { id: 8 }],
      facts: {
        byline: {
          authors: [9, 7],
          contributors: [8],
          agency: { name: 'Associated Press & Co.', url: 'https://ap.example/x' },
        },
      },
    });
  });

  it('of a single author is stored like that of the old author field', async () => {
    const old = await take({ acf: { author: person(7) } });
    expect(await take({ acf: { author: person(7) }, ...byline([person(7)]) })).toEqual(old);
    expect(old.facts).not.toHaveProperty('byline');
    expect(await take({ ...byline([]), acf: { author: person(7) } })).toEqual(old);
    expect(await take(byline([]))).toEqual(await take({}));
  });

  it('is read from a list in the ACF author field, of which a video keeps the first author', async () => {
    const posts = [7, 8].map((id) => ({ ID: String(id), post_title: `Writer ${id}`, post_name: `writer-${id}` }));
    expect((await take({ acf: { author: posts } })).facts.byline).toEqual({
      authors: [7, 8],
      contributors: [],
      agency: null,
    });
    expect(await take({ acf: { author: ['7', 8] } })).toMatchObject({
      authorId: 7,
      author: null,
      facts: { byline: { authors: [7, 8] } },
    });
    const film = await take({ acf: { author: posts, video_url: '' } }, 'video');
    expect([film.authorId, film.facts.byline]).toEqual([7, undefined]);
  });

  it.each([
    ['a string', 'x'],
    ['a list', [1, 2]],
    ['an object without lists', { authors: 'x', contributors: 7.5, agency: ['x'] }],
    [
      'an object with invalid entries',
      { authors: [null, {}, { id: 'x' }, { id: -4 }], contributors: { a: 1 }, agency: { name: 7 } },
    ],
  ])('is ignored when it is %s, and the story is accepted', async (_what, odd) => {
    const taken = await take({ byline: odd });
    expect([taken.authorId, taken.facts.byline]).toEqual([null, undefined]);
  });

  it('names each person once, and no author among the contributors', async () => {
    const taken = await take(byline([person(7), person(7, 'Twice'), person(8)], [person(8), person(9), person(9)]));
    expect(taken.facts.byline).toMatchObject({ authors: [7, 8], contributors: [9] });
    expect([taken.author?.name, taken.others?.map(({ id }) => id)]).toEqual(['Writer 7', [8, 9]]);
  });

  it('of 1,000 authors is cut to 50', async () => {
    const taken = await take(byline(Array.from({ length: 1000 }, (_, at) => person(at + 10))));
    expect(taken.facts.byline?.authors).toHaveLength(50);
    expect(taken.facts.byline?.authors.slice(0, 2)).toEqual([10, 11]);
  });

  it('may have only contributors or only an agency', async () => {
    expect(await take(byline([], [person(8)]))).toMatchObject({
      authorId: null,
      author: null,
      others: [{ id: 8 }],
      facts: { byline: { authors: [], contributors: [8] } },
    });
    expect(await take(byline([], [], { name: 'Associated Press' }))).toMatchObject({
      facts: { byline: { agency: { name: 'Associated Press', url: '' } } },
    });
  });

  it('keeps an agency’s name as plain text, and its address only if it is http(s)', async () => {
    const agencyOf = async (name: string, url: string) =>
      (await take(byline([person(7)], [], { name, url }))).facts.byline?.agency ?? null;
    expect(await agencyOf('<script>alert(1)</script><img src=x onerror=alert(1)>Wire', 'javascript:alert(1)')).toEqual({
      name: 'Wire',
      url: '',
    });
    for (const payload of xssPayloads) {
      const { name = '', url = '' } = (await agencyOf(`A ${payload}`, payload)) ?? {};
      expect([...name].length, payload).toBeLessThanOrEqual(101);
      expect(url, payload).toMatch(/^(?:https?:\/\/|$)/u);
    }
  });
});

it('an author’s role is reduced to one line of plain text', async () => {
  const roleOf = async (role: unknown) => (await take({ role }, 'authors')).facts.role;
  expect(await roleOf(' Economics <b>editor</b>\n&amp; critic ')).toBe('Economics editor & critic');
  expect(await Promise.all([undefined, null, '', '<i></i>'].map(roleOf))).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  expect([...((await roleOf('word '.repeat(100))) ?? '')].length).toBeLessThanOrEqual(101);
});
