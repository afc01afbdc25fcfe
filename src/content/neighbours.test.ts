import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fixtureDocument } from '../../tests/fixtures/content.ts';
import { silent } from '../lib/logging.ts';
import { publication } from '../publication.ts';
import { type Mirror, openMirror } from './mirror.server.ts';
import { createReader } from './reader.server.ts';
import { storeDocument, withdrawDocument } from './store.server.ts';
import { storeSections } from './store-navigation.server.ts';

const { category, authorArticlesAside } = publication.pageSizes;
const section = (id: number) => ({
  ...{ id, slug: `s${id}`, name: `S${id}`, label: `S${id}`, homepageCount: 4 },
  ...{ showInMedia: true, position: id, color: 'default' as const },
});

let mirror: Mirror;
let clock = 0;
beforeEach(() => {
  mirror = openMirror({ file: ':memory:', origin: null, log: silent });
  storeSections(mirror, [section(1), section(2)]);
});
afterEach(() => mirror.close());

interface Edit {
  readonly id: number;
  readonly day: number;
  readonly terms: readonly number[];
  readonly author: number;
}
const write = ({ id, day, terms, author }: Edit): ReadonlySet<string> =>
  storeDocument(
    mirror,
    fixtureDocument({
      ...{ type: 'articles', id, slug: `a${id}`, terms: [...terms], authorId: author },
      date: `2026-10-${String(day).padStart(2, '0')}T12:00:00Z`,
    }),
    { at: ++clock, clock: 0 },
  ).tags;

/** What the page of a story shows beside it, as the layout asks for it, and the tags that it then carries. */
function page(id: number): { shown: string; tags: ReadonlySet<string> } | null {
  const reader = createReader(mirror);
  const article = reader.article(`a${id}`);
  if (!article) return null;
  const authorId = Number(mirror.prepare('SELECT author_id FROM documents WHERE id = ?').get(id)?.author_id);
  const byAuthor = reader.besideArticle(article, { authorId, limit: authorArticlesAside });
  const exclude = byAuthor.map((card) => card.id);
  const inSection = article.section
    ? reader.besideArticle(article, { section: article.section.slug, exclude, limit: category })
    : [];
  return { shown: JSON.stringify([byAuthor, inSection]), tags: reader.tags };
}
const ids = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);

describe('what stands beside a story', () => {
  const beside = (id: number, limit: number = category): number[] => {
    const reader = createReader(mirror);
    const article = reader.article(`a${id}`);
    return article ? reader.besideArticle(article, { section: 's1', limit }).map((card) => card.id) : [];
  };

  it('is what came before it, and at the old end of the list what came next', () => {
    for (const id of ids(20)) write({ id, day: id, terms: [1], author: id });
    expect(beside(20)).toEqual([19, 18, 17, 16, 15, 14]);
    expect(beside(3)).toEqual([7, 6, 5, 4, 2, 1]);
    expect(beside(1)).toEqual([7, 6, 5, 4, 3, 2]);
  });

  it('is not more than there is, and nothing where the section has no other story', () => {
    for (const id of ids(3)) write({ id, day: id, terms: [1], author: id });
    expect(beside(2)).toEqual([3, 1]);
    write({ id: 9, day: 9, terms: [2], author: 9 });
    const reader = createReader(mirror);
    const alone = reader.article('a9');
    expect(alone && reader.besideArticle(alone, { section: 's2', limit: 6 })).toEqual([]);
    expect(alone && reader.besideArticle(alone, { section: 'nowhere', limit: 6 })).toEqual([]);
  });

  it('refuses to look further than changes reach', () => {
    write({ id: 1, day: 1, terms: [1], author: 1 });
    expect(() => beside(1, 30)).toThrow(RangeError);
  });

  it('changes for no other story when a new one comes to a long list, and for a handful when one comes into its middle', () => {
    for (const id of ids(25)) write({ id, day: id, terms: [1], author: 1 });
    const atTop = [...write({ id: 26, day: 26, terms: [1], author: 1 })].filter((tag) => tag.startsWith('beside:'));
    expect(atTop).toEqual([]);
    const inside = [...write({ id: 27, day: 12, terms: [1], author: 2 })].filter((tag) => tag.startsWith('beside:'));
    expect(inside.sort()).toEqual([13, 14, 15, 16, 17, 18, 19, 20, 21].map((id) => `beside:${id}`));
  });

  it('is told of every change, whatever the editors do', () => {
    const edit = fc.record({
      id: fc.integer({ min: 1, max: 24 }),
      day: fc.integer({ min: 1, max: 28 }),
      terms: fc.constantFrom<readonly number[]>([1], [2], [1, 2], []),
      author: fc.integer({ min: 1, max: 2 }),
      withdraw: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(edit, { minLength: 20, maxLength: 60 }), (edits) => {
        mirror.close();
        mirror = openMirror({ file: ':memory:', origin: null, log: silent });
        storeSections(mirror, [section(1), section(2)]);
        for (const [at, { withdraw, ...one }] of edits.entries()) {
          const before = new Map(ids(24).map((id) => [id, page(id)]));
          // The first ones only fill the paper.
          const { tags } =
            withdraw && at > 15 ? withdrawDocument(mirror, one.id, { at: ++clock, clock: 0 }) : { tags: write(one) };
          for (const [id, old] of before) {
            const now = page(id);
            if (!old || !now || old.shown === now.shown) continue;
            const heard = [...old.tags].some((tag) => tags.has(tag));
            expect(heard, `story ${id} after edit ${at}`).toBe(true);
          }
        }
      }),
      { numRuns: 40 },
    );
  });
});
