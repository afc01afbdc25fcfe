import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { fixtureDocument } from '../../../tests/fixtures/content.ts';
import type { Correction } from '../../lib/content/model.ts';
import { silent } from '../../lib/logging.ts';
import { type ContentStore, openContentStore } from './content-store.server.ts';
import { createReader } from './reader.server.ts';
import { storeDocument, withdrawDocument } from './write.server.ts';

let store: ContentStore;
let clock = 0;
beforeEach(() => {
  store = openContentStore({ file: ':memory:', origin: null, log: silent });
});
afterEach(() => {
  vi.useRealTimers();
  store.close();
});

const note = (day: number, html = `Of day ${day}.`): Correction => ({
  kind: 'correction',
  date: `2026-11-${day}T13:00:00Z`,
  html,
});
const put = (id: number, ...corrections: readonly Correction[]) =>
  storeDocument(
    store,
    fixtureDocument({
      type: 'articles',
      id,
      slug: `story-${id}`,
      facts: { access: 'subscriber', words: 9, minutes: 1, ...(corrections.length > 0 && { corrections }) },
    }),
    { at: ++clock, clock: 0 },
  );
const listed = (filter = {}) => createReader(store).corrections(filter);
const places = () => listed().items.map(({ date, card }) => `${card.slug} ${date.slice(8, 10)}`);

it('the corrections list covers all stories, newest first, page by page', () => {
  put(1, note(24), note(21));
  put(2, note(23));
  put(3);
  expect(places()).toEqual(['story-1 24', 'story-2 23', 'story-1 21']);
  expect(listed({ offset: 1, limit: 1 })).toMatchObject({ total: 3, items: [{ html: 'Of day 23.', card: { id: 2 } }] });
  const reader = createReader(store);
  reader.corrections({});
  expect([...reader.tags].filter((each) => /^(?:card|corrections)/.test(each)).sort()).toEqual([
    'card:1',
    'card:2',
    'corrections',
  ]);
  expect(createReader(store).article('story-1')?.corrections).toEqual([note(24), note(21)]);
});

it('a removed correction disappears from the corrections list and the story, and changes no other page', () => {
  put(1, note(24), note(21));
  const change = put(1, note(21));
  expect([...change.tags].sort()).toEqual(['article:1', 'corrections']);
  expect(places()).toEqual(['story-1 21']);
  expect(createReader(store).article('story-1')?.corrections).toEqual([note(21)]);
  expect([...put(1).tags].sort()).toEqual(['article:1', 'corrections']);
  expect(listed()).toEqual({ items: [], total: 0 });
});

it('an older answer does not bring a removed correction back, and an identical one changes nothing', () => {
  put(1, note(24));
  const late = clock;
  put(1);
  const older = fixtureDocument({ type: 'articles', id: 1, slug: 'story-1', facts: { corrections: [note(24)] } });
  expect(storeDocument(store, older, { at: late, clock: 0 }).status).toBe('stale');
  expect(places()).toEqual([]);
  put(1, note(25));
  expect(put(1, note(25)).tags.size).toBe(0);
  expect(places()).toEqual(['story-1 25']);
});

it('the corrections list omits a withdrawn story, and includes it again when it returns', () => {
  put(1, note(24));
  put(2, note(23));
  expect(withdrawDocument(store, 1, { at: ++clock, clock: 0 }).tags).toContain('corrections');
  expect(places()).toEqual(['story-2 23']);
  expect(put(1, note(24)).tags).toContain('corrections');
  expect(places()).toEqual(['story-1 24', 'story-2 23']);
});

it('correctedSince returns the stories that were corrected after a given time, with kind and date', () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-11-24T13:00:00Z') });
  put(1, { ...note(24), kind: 'clarification' }, note(23), note(21));
  put(2, note(22));
  expect([...createReader(store).correctedSince('2026-11-22T13:00:00Z')]).toEqual([
    [
      1,
      [
        { kind: 'clarification', date: '2026-11-24T13:00:00Z' },
        { kind: 'correction', date: '2026-11-23T13:00:00Z' },
      ],
    ],
  ]);
  expect(createReader(store).correctedSince('2026-11-20T00:00:00Z').size).toBe(2);
});

it('correctedSince omits a correction until its date, but no other correction of the story', () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-11-24T12:59:59Z') });
  put(1, note(24), note(21));
  put(2, note(25));
  const dates = () => [...createReader(store).correctedSince('2026-11-20T00:00:00Z').values()].flat();
  expect(dates()).toEqual([{ kind: 'correction', date: '2026-11-21T13:00:00Z' }]);
  vi.setSystemTime(Date.parse('2026-11-25T13:00:00Z'));
  expect(dates()).toHaveLength(3);
});
