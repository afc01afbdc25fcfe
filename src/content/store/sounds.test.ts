import { afterEach, beforeEach, expect, it } from 'vitest';
import { fixtureDocument } from '../../../tests/fixtures/content.ts';
import type { AccessLevel, Sound } from '../../lib/content/model.ts';
import { silent } from '../../lib/logging.ts';
import { soundFacts } from '../ingest/sound.server.ts';
import { type ContentStore, openContentStore } from './content-store.server.ts';
import { createReader } from './reader.server.ts';
import { storeDocument, withdrawDocument } from './write.server.ts';

let store: ContentStore;
let clock = 0;
beforeEach(() => {
  store = openContentStore({ file: ':memory:', origin: null, log: silent });
});
afterEach(() => store.close());

const fetched = () => ({ at: ++clock, clock: 0 });
const sound = (part: Partial<Sound> = {}): Sound => ({
  title: '',
  url: 'https://cms.example/a.mp3',
  type: 'audio/mpeg',
  bytes: 9,
  seconds: 60,
  chapters: [],
  transcript: '',
  podcastId: 9,
  ...part,
});
const put = (id: number, own: Sound | null, hour = id, access: AccessLevel = 'free', bodyHtml = '<p>Words.</p>') =>
  storeDocument(
    store,
    fixtureDocument({
      type: 'articles',
      id,
      slug: `story-${id}`,
      date: `2026-11-20T${String(hour).padStart(2, '0')}:00:00Z`,
      bodyHtml,
      facts: { access, words: 9, minutes: 1, ...soundFacts(own) },
      ...(own && { sound: own }),
    }),
    fetched(),
  );
const series = (slug = 'how-it-works', id = 9) =>
  storeDocument(
    store,
    fixtureDocument({
      type: 'podcasts',
      id,
      slug,
      facts: {
        podcast: { guid: '', language: '', author: '', email: '', category: ['News'], explicit: false, paid: false },
      },
    }),
    fetched(),
  );
const listed = (filter = {}) => {
  const { items, total } = createReader(store).episodes(9, filter);
  return [items.map(({ card }) => card.id), total];
};

it('a podcast series lists its episodes newest first, page by page', () => {
  series();
  put(1, sound());
  put(2, null);
  put(3, sound(), 7);
  put(4, sound({ podcastId: 8 }));
  put(5, sound({ podcastId: null }));
  expect(listed()).toEqual([[3, 1], 2]);
  expect(listed({ offset: 1, limit: 1 })).toEqual([[1], 2]);
  const reader = createReader(store);
  reader.episodes(9, {});
  expect([...reader.tags].filter((each) => /^(?:card|episodes)/.test(each)).sort()).toEqual([
    'card:1',
    'card:3',
    'episodes:9',
  ]);
});

it('an episode that changes series, loses its recording or is withdrawn leaves its series', () => {
  series();
  put(1, sound());
  expect([...put(1, sound({ podcastId: 8 })).tags]).toEqual(expect.arrayContaining(['episodes:8', 'episodes:9']));
  expect(listed()).toEqual([[], 0]);
  put(1, sound());
  put(1, null);
  expect([listed(), createReader(store).article('story-1')?.sound]).toEqual([[[], 0], null]);
  put(1, sound());
  withdrawDocument(store, 1, fetched());
  expect([listed(), createReader(store).episode(1), createReader(store).audio(1, 0)]).toEqual([[[], 0], null, null]);
});

it('a story shows its podcast series, even one that arrives later, but not a withdrawn one', () => {
  put(1, sound());
  const before = createReader(store);
  expect(before.article('story-1')?.podcast).toBeNull();
  expect(before.tags).toContain('podcast:9');
  expect([...series().tags]).toContain('podcast:9');
  expect(createReader(store).article('story-1')?.podcast?.title).toBe('Headline of how-it-works');
  withdrawDocument(store, 9, fetched());
  expect(createReader(store).article('story-1')).toMatchObject({ podcast: null, sound: { seconds: 60 } });
  expect(createReader(store).resolveSlug('podcasts', 'how-it-works')).toEqual({ kind: 'gone' });
});

it('a renamed podcast series redirects from its old address', () => {
  series('how-it-works');
  series('how-it-is-done');
  expect(createReader(store).podcast('how-it-is-done')?.id).toBe(9);
  expect(createReader(store).resolveSlug('podcasts', 'how-it-works')).toEqual({
    kind: 'moved',
    slug: 'how-it-is-done',
  });
  expect(
    createReader(store)
      .podcasts()
      .map(({ slug }) => slug),
  ).toEqual(['how-it-is-done']);
});

it('a story’s audio files are numbered, and have the story’s access level', () => {
  const player = (name: string) =>
    `<figure class="wp-block-audio"><audio controls="" src="https://cms.example/${name}.mp3"></audio></figure>`;
  put(1, sound(), 1, 'subscriber', `<p>Words.</p>${player('b')}${player('c&amp;d')}`);
  const audio = (number: number) => createReader(store).audio(1, number);
  expect(audio(0)).toEqual({
    slug: 'story-1',
    access: 'subscriber',
    url: 'https://cms.example/a.mp3',
    type: 'audio/mpeg',
  });
  expect([audio(1)?.url, audio(2)?.url, audio(3)]).toEqual([
    'https://cms.example/b.mp3',
    'https://cms.example/c&d.mp3',
    null,
  ]);
  put(2, sound({ url: '' }));
  expect([createReader(store).audio(2, 0), createReader(store).audio(77, 0)]).toEqual([null, null]);
});
