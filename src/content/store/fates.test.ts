import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fixtureDocument } from '../../../tests/fixtures/content.ts';
import { runs } from '../../../tests/world/runs.ts';
import type { DocumentType } from '../../lib/content/model.ts';
import { silent } from '../../lib/logging.ts';
import { openContentStore } from './content-store.server.ts';
import { createReader } from './reader.server.ts';
import { storeDocument, withdrawDocument } from './write.server.ts';

const slugs = ['a', 'b', 'c', 'd'];
const types: readonly DocumentType[] = ['articles', 'video', 'authors'];
const step = fc.record({
  type: fc.constantFrom(...types),
  id: fc.constantFrom(0, 1),
  /** `null` withdraws it. */
  slug: fc.constantFrom(...slugs, null),
  oldSlugs: fc.subarray(slugs, { maxLength: 2 }),
});

it('an address’s cached answer is invalidated when a rename, withdrawal or publication changes it, in any order', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const store = openContentStore({ file: ':memory:', origin: null, log: silent });
      const answer = (type: DocumentType, slug: string) => {
        const reader = createReader(store);
        const there =
          type === 'articles' ? reader.article(slug) : type === 'video' ? reader.video(slug) : reader.author(slug);
        return { says: there ? { kind: 'there', id: there.id } : reader.resolveSlug(type, slug), tags: reader.tags };
      };
      const addresses = types.flatMap((type) => slugs.map((slug) => [type, slug] as const));
      const stored = new Map(addresses.map((address) => [address, answer(...address)]));
      const held = new Map<number, string | null>();
      let at = 0;
      for (const { type, id, slug, oldSlugs } of steps) {
        const own = id + 2 * (1 + types.indexOf(type));
        // WordPress gives a slug to one document of a type.
        if (slug !== null && [...held].some(([other, taken]) => other === (own ^ 1) && taken === slug)) continue;
        held.set(own, slug);
        const fetched = { at: ++at, clock: 0 };
        const change =
          slug === null
            ? withdrawDocument(store, own, fetched, type)
            : storeDocument(store, fixtureDocument({ type, id: own, slug, oldSlugs }), fetched);
        for (const address of addresses) {
          if ([...(stored.get(address)?.tags ?? [])].some((each) => change.tags.has(each)))
            stored.set(address, answer(...address));
          expect(stored.get(address)?.says, `${address} after ${JSON.stringify(steps)}`).toEqual(
            answer(...address).says,
          );
        }
      }
      store.close();
    }),
    { numRuns: runs(60, 1000) },
  );
});

it('the former address of a withdrawn story redirects again, in place of its stored “gone”, once it is republished', () => {
  const store = openContentStore({ file: ':memory:', origin: null, log: silent });
  const story = (slug: string) => fixtureDocument({ type: 'articles', id: 1, slug });
  storeDocument(store, story('old'), { at: 1, clock: 0 });
  storeDocument(store, story('new'), { at: 2, clock: 0 });
  withdrawDocument(store, 1, { at: 3, clock: 0 });
  const reader = createReader(store);
  expect(reader.resolveSlug('articles', 'old')).toEqual({ kind: 'gone' });
  const { tags } = storeDocument(store, story('new'), { at: 4, clock: 0 });
  expect([...reader.tags].some((each) => tags.has(each))).toBe(true);
  expect(createReader(store).resolveSlug('articles', 'old')).toEqual({ kind: 'moved', slug: 'new' });
  store.close();
});

it('a former address leads to the story that had it last', () => {
  const store = openContentStore({ file: ':memory:', origin: null, log: silent });
  let at = 0;
  const put = (id: number, slug: string, ...oldSlugs: string[]) =>
    storeDocument(store, fixtureDocument({ type: 'articles', id, slug, oldSlugs }), { at: ++at, clock: 0 });
  const leads = () => createReader(store).resolveSlug('articles', 'briefing');
  // Each day's briefing takes over the address of the one before.
  put(1, 'briefing');
  put(1, 'briefing-monday', 'briefing');
  put(2, 'briefing');
  put(2, 'briefing-tuesday', 'briefing');
  expect(leads()).toEqual({ kind: 'moved', slug: 'briefing-tuesday' });
  // A correction of Monday's briefing.
  put(1, 'briefing-monday', 'briefing');
  expect(leads()).toEqual({ kind: 'moved', slug: 'briefing-tuesday' });
  withdrawDocument(store, 2, { at: ++at, clock: 0 });
  expect(leads()).toEqual({ kind: 'gone' });
  store.close();
});
