import { describe, expect, it } from 'vitest';
import { type Json, wirePost } from '../../../tests/fixtures/wordpress.ts';
import { xssPayloads } from '../../../tests/fixtures/xss.ts';
import { plainContext, sanitizer } from '../../../tests/world/ingest.ts';
import { ingestDocument } from './ingest.server.ts';

const context = {
  ...plainContext,
  measure: async () => ({ width: 800, height: 600 }),
};
const ingest = (front: unknown, part: Json = {}) =>
  ingestDocument(sanitizer, 'fronts', wirePost({ id: 9, slug: 'home', front, ...part }), context);
async function planOf(front: unknown) {
  const result = await ingest(front);
  if (result.kind !== 'document') throw new Error(JSON.stringify(result));
  return result.document.facts.front ?? { slots: [], next: null };
}
const slot = (part: Json = {}): Json => ({
  kind: 'lead',
  story: 5,
  headline: '',
  picture: null,
  from: null,
  until: null,
  related: [],
  ...part,
});

describe('a front (the stories that editors place on a page)', () => {
  it('is converted to plain-text headlines, UTC times and pictures with dimensions', async () => {
    const picture = {
      id: 3,
      url: 'https://cms.example/a.jpg',
      alt: 'A',
      width: null,
      height: null,
      caption: '',
      credit: '',
    };
    const front = {
      slots: [slot({ story: '5', headline: 'Fish &amp; <b>chips</b>', picture, from: '2026-11-25T10:00:00' })],
      next: { at: '2026-11-26T06:00:00Z', slots: [slot({ kind: 'second' })] },
    };
    expect(await planOf(front)).toEqual({
      slots: [
        {
          kind: 'lead',
          story: 5,
          headline: 'Fish & chips',
          picture: { url: 'https://cms.example/a.jpg', alt: 'A', width: 800, height: 600, caption: '', credit: '' },
          from: '2026-11-25T10:00:00Z',
          until: null,
          related: [],
        },
      ],
      next: { at: '2026-11-26T06:00:00Z', slots: [expect.objectContaining({ kind: 'second', story: 5 })] },
    });
    expect(await planOf({ slots: [] })).toEqual({ slots: [], next: null });
  });

  it.each([
    ['an unknown kind', { kind: 'banner' }],
    ['a story id of 0', { story: 0 }],
    ['a story id that is not a number', { story: 'five' }],
    ['a start that is not a time', { from: 'tomorrow' }],
    ['an end that is not a time', { until: '2026-13-45T99:00:00Z' }],
    ['a headline that is not text', { headline: { a: 1 } }],
  ])('drops a slot with %s, and keeps the others', async (_why, part) => {
    const { slots } = await planOf({ slots: [slot(part), slot({ story: 6 })] });
    expect(slots.map(({ story }) => story)).toEqual([6]);
  });

  it('keeps 60 of 1,000 slots', async () => {
    const { slots } = await planOf({ slots: Array.from({ length: 1000 }, (_, at) => slot({ story: at + 1 })) });
    expect(slots).toHaveLength(60);
  });

  it.each([
    ['javascript:alert(1)', null],
    ['data:text/html,<script>', null],
    ['mailto:ada@example.com', null],
    ['#top', null],
    ['https://cms.example/wp-admin/', null],
    ['https://cms.example/?p=12', null],
    ['//evil.example/x', 'https://evil.example/x'],
    ['/corrections', '/corrections'],
    ['https://sun.example/article/a', '/article/a'],
    ['https://cms.example/article/a/', '/article/a'],
    ['https://elsewhere.example/x', 'https://elsewhere.example/x'],
  ])('turns the related link %s into %s', async (url, href) => {
    const { slots } = await planOf({
      slots: [slot({ kind: 'package', related: [{ story: 0, url, title: 'Words' }] })],
    });
    expect(slots[0]?.related).toEqual(href === null ? [] : [{ href, title: 'Words' }]);
  });

  it('has related headlines only in packages, each with a story or a title', async () => {
    const related = [
      { story: 7, url: '', title: '' },
      { story: 0, url: 'https://a.example/', title: ' ' },
      'x',
      null,
      { story: -1 },
    ];
    const { slots } = await planOf({ slots: [slot({ kind: 'package', related }), slot({ story: 6, related })] });
    expect(slots.map((each) => each.related)).toEqual([[{ story: 7, title: '' }], []]);
  });

  it.each([
    ['start', 'start'],
    ['lead', 'lead'],
    ['row-3', 'row-3'],
    ['seconds', undefined],
    [null, undefined],
    [undefined, undefined],
    ['row-21', undefined],
    ['"><script>', undefined],
    [{ toString: 'lead' }, undefined],
    [7, undefined],
  ])('reads a package’s place %j as %j', async (after, expected) => {
    const { slots } = await planOf({ slots: [slot({ kind: 'package', after }), slot({ story: 6, after })] });
    expect(slots.map((each) => each.after)).toEqual([expected, undefined]);
    expect(slots.every((each) => expected !== undefined || !('after' in each))).toBe(true);
  });

  it('keeps no markup of hostile headlines, and one line of at most 200 characters', async () => {
    const headlines = async (words: string): Promise<string[]> => {
      const front = { slots: [slot({ kind: 'package', headline: words, related: [{ story: 7, title: words }] })] };
      const [made] = (await planOf(front)).slots;
      return [made?.headline ?? '', made?.related[0]?.title ?? ''];
    };
    for (const payload of xssPayloads) {
      for (const text of await headlines(`A ${payload} B`)) {
        expect(text, payload).toMatch(/^A/u);
        expect(text, payload).not.toMatch(/[\p{Cc}\u2028\u202a-\u202e\u2066-\u2069]/u);
        // An entity, or a character that HTML forbids, may stand for a "<" of the text.
        if (!/[&\0]/u.test(payload)) expect(text, payload).not.toMatch(/<[a-z/!?]/iu);
      }
    }
    const long = `${'x'.repeat(199)}…`;
    expect(await headlines('x'.repeat(300))).toEqual([long, long]);
  });

  it.each(['about', 'section-x', 'home-2'])('with the slug %s is rejected', async (slug) => {
    expect(await ingest({ slots: [] }, { slug })).toMatchObject({ kind: 'rejected', rejection: { field: 'slug' } });
  });

  it.each([
    ['no plan', undefined],
    ['a string instead of a plan', 'x'],
    ['slots that are not a list', { slots: 'x' }],
  ])('with %s is rejected', async (_what, front) => {
    expect((await ingest(front)).kind).toBe('rejected');
  });

  it('that is a draft is withheld', async () => {
    expect(await ingest({ slots: [] }, { status: 'draft' })).toEqual({ kind: 'withheld', id: 9 });
  });
});
