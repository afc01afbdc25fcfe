import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fixtureDocument } from '../../../tests/fixtures/content.ts';
import { runs } from '../../../tests/world/runs.ts';
import { silent } from '../../lib/logging.ts';
import { type ContentStore, openContentStore } from './content-store.server.ts';
import { createReader } from './reader.server.ts';
import { storeDocument, withdrawDocument } from './write.server.ts';

let store: ContentStore;
let clock = 0;
beforeEach(() => {
  store = openContentStore({ file: ':memory:', origin: null, log: silent });
});
afterEach(() => store.close());

/** Writes a film, and says which tags that touched. */
const write = (id: number, day: number, title = 'Film'): ReadonlySet<string> =>
  storeDocument(
    store,
    fixtureDocument({
      type: 'video',
      id,
      slug: `v${id}`,
      title,
      facts: {},
      date: `2026-10-${String(day).padStart(2, '0')}T12:00:00Z`,
    }),
    { at: ++clock, clock: 0 },
  ).tags;

/** The films that a film's page shows, and the tags that the page then carries. */
function page(id: number): { shown: string; tags: ReadonlySet<string> } | null {
  const reader = createReader(store);
  const video = reader.video(`v${id}`);
  return video && { shown: JSON.stringify(reader.neighborsOfVideo(video, 6)), tags: reader.tags };
}
const neighbors = (id: number, limit = 6): number[] => {
  const reader = createReader(store);
  const video = reader.video(`v${id}`);
  return video ? reader.neighborsOfVideo(video, limit).map((each) => each.id) : [];
};
const ids = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);
const neighborTags = (tags: ReadonlySet<string>): string[] =>
  [...tags].filter((tag) => tag.startsWith('neighbors:')).sort();

describe('the videos listed next to a video', () => {
  it('are the previous ones, and near the end of the list also later ones', () => {
    for (const id of ids(20)) write(id, id);
    expect(neighbors(20)).toEqual([19, 18, 17, 16, 15, 14]);
    expect(neighbors(3)).toEqual([7, 6, 5, 4, 2, 1]);
    expect(neighbors(1)).toEqual([7, 6, 5, 4, 3, 2]);
  });

  it('are fewer when there are not enough', () => {
    for (const id of ids(3)) write(id, id);
    expect(neighbors(2)).toEqual([3, 1]);
  });

  it('cannot be more than six, because an edit invalidates no more pages', () => {
    write(1, 1);
    expect(() => neighbors(1, 7)).toThrow(RangeError);
  });

  it('stay the same when a video is added to a long list, and change for six when one is inserted', () => {
    for (const id of ids(25)) write(id, id);
    expect(neighborTags(write(26, 26))).toEqual([]);
    expect(neighborTags(write(27, 12))).toEqual([13, 14, 15, 16, 17, 18].map((id) => `neighbors:${id}`));
  });

  it('are invalidated by every edit that changes them', () => {
    const edit = fc.record({
      id: fc.integer({ min: 1, max: 16 }),
      day: fc.integer({ min: 1, max: 28 }),
      title: fc.constantFrom('One', 'Other'),
      withdraw: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(edit, { minLength: 20, maxLength: 60 }), (edits) => {
        store.close();
        store = openContentStore({ file: ':memory:', origin: null, log: silent });
        for (const [at, { id, day, title, withdraw }] of edits.entries()) {
          const before = new Map(ids(16).map((each) => [each, page(each)]));
          // The first ones only fill the list.
          const tags =
            withdraw && at > 12 ? withdrawDocument(store, id, { at: ++clock, clock: 0 }).tags : write(id, day, title);
          for (const [each, old] of before) {
            const now = page(each);
            if (!old || !now || old.shown === now.shown) continue;
            const heard = [...old.tags].some((tag) => tags.has(tag));
            expect(heard, `film ${each} after edit ${at}`).toBe(true);
          }
        }
      }),
      { numRuns: runs(10, 100) },
    );
  });
});
