import { afterEach, beforeEach, expect, it } from 'vitest';
import { fixtureDocument, fixturePicture } from '../../../tests/fixtures/content.ts';
import { type FrontPlan, type FrontSlot, homeFront } from '../../lib/fronts/model.ts';
import { silent } from '../../lib/logging.ts';
import { type ContentStore, openContentStore } from './content-store.server.ts';
import { applyEntries } from './entries.server.ts';
import { dueFronts } from './front.server.ts';
import { createReader } from './reader.server.ts';
import { storeDocument, withdrawDocument } from './write.server.ts';

let store: ContentStore;
let clock = 0;
beforeEach(() => {
  store = openContentStore({ file: ':memory:', origin: null, log: silent });
  for (let id = 1; id <= 5; id++) story(id);
});
afterEach(() => store.close());

const at = () => ({ at: ++clock, clock: 0 });
const story = (id: number, part = {}) =>
  storeDocument(
    store,
    fixtureDocument({ type: 'articles', id, slug: `story-${id}`, title: `Story ${id}`, ...part }),
    at(),
  );
const slot = (id: number, part: Partial<FrontSlot> = {}): FrontSlot => ({
  kind: 'second',
  story: id,
  headline: '',
  picture: null,
  from: null,
  until: null,
  related: [],
  ...part,
});
const put = (
  slots: readonly FrontSlot[],
  part: { next?: FrontPlan['next']; slug?: string; modified?: string } = {},
) => {
  const { next = null, slug = homeFront, modified = '2026-11-25T10:00:00Z' } = part;
  const id = slug === homeFront ? 900 : 901;
  return storeDocument(
    store,
    fixtureDocument({ type: 'fronts', id, slug, modified, facts: { front: { slots, next } } }),
    at(),
  );
};
const stories = (key = homeFront) =>
  createReader(store)
    .front(key)
    .map(({ card }) => card.id);
/** Lets time pass, as in the process that syncs. @returns the tags that change */
function pass(now: string): readonly string[] {
  const { entry } = dueFronts(store, now);
  return entry ? [...applyEntries(store, [entry]).tags].sort() : [];
}

it('a front shows stories in the editors’ order, with headlines and pictures for this page only', () => {
  put([slot(3, { kind: 'lead', headline: 'For this place', picture: fixturePicture('other') }), slot(1)]);
  const reader = createReader(store);
  const [lead, second] = reader.front(homeFront);
  expect(lead).toMatchObject({
    kind: 'lead',
    card: { id: 3, title: 'For this place', image: { alt: 'Alternative text of other' } },
  });
  expect(second?.card.title).toBe('Story 1');
  expect([...reader.tags]).toEqual(expect.arrayContaining(['front:home', 'card:3', 'card:1']));
  expect(reader.article('story-3')).toMatchObject({ title: 'Story 3' });
  expect([stories('section-3'), stories('constructor')]).toEqual([[], []]);
});

it('a headline or picture that editors chose for a front replaces the story’s headline test there', () => {
  const test = {
    id: '0123456789abcdef',
    state: 'running' as const,
    started: '2026-11-25T12:00:00Z',
    others: [{ title: 'Another', image: null }],
  };
  for (const id of [1, 2, 3]) story(id, { facts: { access: 'default', words: 9, minutes: 1, test } });
  put([slot(1, { headline: 'For this place' }), slot(2, { picture: fixturePicture('other') }), slot(3)]);
  expect(
    createReader(store)
      .front(homeFront)
      .map(({ card }) => card.test?.id),
  ).toEqual([undefined, undefined, test.id]);
});

it('a front omits an unpublished story, and changes when it is published', () => {
  put([slot(1), slot(77), slot(2)]);
  expect(stories()).toEqual([1, 2]);
  withdrawDocument(store, 2, at());
  expect(stories()).toEqual([1]);
  const reader = createReader(store);
  reader.front(homeFront);
  expect(reader.tags.has('card:77')).toBe(true);
  expect(story(77).tags.has('card:77')).toBe(true);
  expect(stories()).toEqual([1, 77]);
});

it('a front keeps a story’s access level, and drops related headlines without a published story', () => {
  story(4, { facts: { access: 'subscriber', words: 9, minutes: 1 } });
  const related = [
    { story: 4, title: '' },
    { story: 5, title: 'Other words' },
    { story: 66, title: 'Gone' },
    { href: 'https://example.com/x', title: 'Elsewhere' },
  ];
  put([slot(4, { kind: 'package', related })]);
  const reader = createReader(store);
  expect(reader.front(homeFront)).toMatchObject([
    {
      card: { id: 4, access: 'subscriber' },
      related: [
        { href: '/article/story-4', title: 'Story 4', story: 4 },
        { href: '/article/story-5', title: 'Other words', story: 5 },
        { href: 'https://example.com/x', title: 'Elsewhere', story: null },
      ],
    },
  ]);
  expect(reader.tags.has('card:66')).toBe(true);
});

it('a changed front changes only its own page, and an identical one changes nothing', () => {
  expect([...put([slot(1)]).tags].sort()).toEqual(['front:home', 'slug:fronts:home']);
  expect([...put([slot(2)]).tags]).toEqual(['front:home']);
  expect(put([slot(2)])).toMatchObject({ status: 'unchanged', tags: new Set() });
  expect([...put([slot(2)], { slug: 'section-3' }).tags].sort()).toEqual(['front:section-3', 'slug:fronts:section-3']);
  expect([...withdrawDocument(store, 900, at()).tags].sort()).toEqual(['front:home', 'slug:fronts:home']);
  expect(stories()).toEqual([]);
});

it('a front shows only slots whose time has come and not ended, and changes at these times', () => {
  put([
    slot(1, { until: '2026-11-25T11:00:00Z' }),
    slot(2, { from: '2026-11-25T09:00:00Z' }),
    slot(3, { from: '2026-11-25T12:00:00Z' }),
  ]);
  expect(stories()).toEqual([1, 2]);
  expect([pass('2026-11-25T10:59:59Z'), dueFronts(store, '2026-11-25T10:59:59Z').next]).toEqual([
    [],
    '2026-11-25T11:00:00Z',
  ]);
  expect(pass('2026-11-25T11:00:00Z')).toEqual(['front:home']);
  expect(stories()).toEqual([2]);
  expect(pass('2026-11-25T11:00:00Z')).toEqual([]);
  expect([pass('2026-11-26T00:00:00Z'), stories()]).toEqual([['front:home'], [2, 3]]);
  expect(dueFronts(store, '2026-11-26T00:00:00Z')).toEqual({ entry: null, next: null });
});

it('a scheduled front is shown from its scheduled time on', () => {
  put([slot(1)], {
    next: { at: '2026-11-25T12:00:00Z', slots: [slot(2), slot(3, { until: '2026-11-25T13:00:00Z' })] },
  });
  expect(stories()).toEqual([1]);
  expect([pass('2026-11-25T12:00:00Z'), stories()]).toEqual([['front:home'], [2, 3]]);
  // WordPress has published it in the meantime, which changes nothing on the page.
  const published = [slot(2), slot(3, { until: '2026-11-25T13:00:00Z' })];
  expect(put(published, { modified: '2026-11-25T12:04:00Z' })).toMatchObject({ status: 'unchanged', tags: new Set() });
  expect([stories(), pass('2026-11-25T13:30:00Z'), stories()]).toEqual([[2, 3], ['front:home'], [2]]);
});

it('a front that WordPress publishes early, or with other stories than scheduled, changes its page', () => {
  const next = { at: '2026-11-25T12:00:00Z', slots: [slot(2)] };
  put([slot(1)], { next });
  // WordPress's clock is ahead.
  expect([...put([slot(2)], { modified: '2026-11-25T12:00:00Z' }).tags]).toEqual(['front:home']);
  expect([pass('2026-11-25T12:00:00Z'), stories()]).toEqual([[], [2]]);
  put([slot(1)], { next: { at: '2026-11-25T14:00:00Z', slots: [slot(3)] }, modified: '2026-11-25T13:00:00Z' });
  expect(pass('2026-11-25T14:00:00Z')).toEqual(['front:home']);
  expect([...put([slot(3), slot(4)], { modified: '2026-11-25T14:00:30Z' }).tags]).toEqual(['front:home']);
  // An end that passes between the scheduled time and the publication takes effect with the publication.
  const ending = [slot(4), slot(5, { until: '2026-11-25T15:00:30Z' })];
  put([slot(1)], { next: { at: '2026-11-25T15:00:00Z', slots: ending }, modified: '2026-11-25T14:30:00Z' });
  expect([pass('2026-11-25T15:00:00Z'), stories()]).toEqual([['front:home'], [4, 5]]);
  expect([...put(ending, { modified: '2026-11-25T15:01:00Z' }).tags]).toEqual(['front:home']);
  expect(stories()).toEqual([4]);
});

it('adding, changing or dropping a schedule changes no page before its time', () => {
  put([slot(1)]);
  const next = { at: '2026-11-25T12:00:00Z', slots: [slot(2)] };
  expect(put([slot(1)], { next }).tags).toEqual(new Set());
  expect(put([slot(1)], { next: { ...next, slots: [slot(3)] } }).tags).toEqual(new Set());
  expect(put([slot(1), slot(2, { from: '2026-11-25T13:00:00Z' })]).tags).toEqual(new Set());
  expect([pass('2026-11-25T12:30:00Z'), pass('2026-11-25T13:00:00Z'), stories()]).toEqual([[], ['front:home'], [1, 2]]);
});

it('a scheduled time at which nothing changes renders no page, and is not processed again', () => {
  put([slot(1)], { next: { at: '2026-11-25T12:00:00Z', slots: [slot(1)] } });
  const { entry } = dueFronts(store, '2026-11-25T12:00:00Z');
  expect(entry).toMatchObject({ kind: 'meta', value: '2026-11-25T12:00:00Z', tags: [] });
  applyEntries(store, entry ? [entry] : []);
  expect(dueFronts(store, '2026-11-25T12:00:00Z')).toEqual({ entry: null, next: null });
});

it('a package keeps its place on a front, and one without a place has none', () => {
  put([slot(1, { kind: 'package', after: 'row-2' }), slot(2, { kind: 'package' })]);
  expect(
    createReader(store)
      .front(homeFront)
      .map(({ after }) => after),
  ).toEqual(['row-2', undefined]);
});

it('a scheduled time of one front changes no other front', () => {
  put([slot(1, { until: '2026-11-25T11:00:00Z' })]);
  put([slot(2, { until: '2026-11-25T12:00:00Z' }), slot(3)], { slug: 'section-3' });
  expect(dueFronts(store, '2026-11-25T10:30:00Z').next).toBe('2026-11-25T11:00:00Z');
  expect(pass('2026-11-25T11:30:00Z')).toEqual(['front:home']);
  expect([stories(), stories('section-3')]).toEqual([[], [2, 3]]);
  expect(pass('2026-11-25T12:00:00Z')).toEqual(['front:section-3']);
});

it('a preview of a front shows the slots that it is given', () => {
  put([slot(1)]);
  expect(
    createReader(store)
      .front(homeFront, [slot(2), slot(99)])
      .map(({ card }) => card.id),
  ).toEqual([2]);
});
