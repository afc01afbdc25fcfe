import { expect, it } from 'vitest';
import type { LiveEntry, LiveStory } from '../../lib/content/model.ts';
import { silent } from '../../lib/logging.ts';
import { createLiveFeed } from './live-feed.ts';

/** A feed over entries by number, each with its story and its text; what it sends is recorded. */
function feed(access: LiveStory['access'] = 'free') {
  const entries = new Map<number, { story: number; words: string }>();
  const live = new Set([1]);
  const sent: unknown[] = [];
  const rendered: string[] = [];
  const state = () => [...entries].map(([id, { words }]) => `${id}${words}`).join('-') || '0';
  const made = createLiveFeed({
    reader: () => ({
      liveStories: () => [...live].map((id) => ({ id, path: `/article/${id}`, access, state: state() })),
      liveEntry: (id: number) => (entries.has(id) ? ({ id, story: entries.get(id)?.story } as LiveEntry) : null),
    }),
    async render(id, variant) {
      rendered.push(`${id} ${variant}`);
      if (entries.get(id)?.words === 'broken') throw new Error('broken');
      return `<article>\n${entries.get(id)?.words ?? ''}</article>`;
    },
    sink: {
      stories: (stories) => sent.push(stories.map((story) => `${story.id} ${story.state}`)),
      send: (story, events) => sent.push(`${story.id} ${story.state} ${events}`),
    },
    log: silent,
  });
  const change = async (...tags: string[]) => {
    made.changed({ tags: new Set(tags) });
    await made.settled();
    return sent.splice(0);
  };
  return { made, entries, live, rendered, change, sent };
}

it('a live entry is rendered once, and sent before the story’s new state', async () => {
  const { entries, change, rendered } = feed();
  entries.set(11, { story: 1, words: 'a' });
  expect(await change('entry:11', 'live:1')).toEqual([
    '1 11a event: entry\ndata: <article>\ndata: a</article>\n\n',
    ['1 11a'],
  ]);
  expect(rendered).toEqual(['11 public']);
});

it('a live entry of a restricted story is rendered as the full variant', async () => {
  const { entries, change, rendered } = feed('subscriber');
  entries.set(11, { story: 1, words: 'a' });
  await change('entry:11', 'live:1');
  expect(rendered).toEqual(['11 full']);
});

it('a live entry that is withdrawn, or moved to another story, is sent as gone', async () => {
  const { entries, change } = feed();
  expect(await change('entry:11', 'live:1')).toEqual(['1 0 event: gone\ndata: 11\n\n', ['1 0']]);
  entries.set(11, { story: 2, words: 'a' });
  expect((await change('entry:11', 'live:1', 'live:2'))[0]).toContain('event: gone\ndata: 11');
});

it('a change of other pages sends nothing to live pages', async () => {
  const { change, made } = feed();
  made.changed({ tags: new Set(['prices', 'card:1', 'latest']) });
  await made.settled();
  expect(await change()).toEqual([]);
});

it('the beginning and the end of live coverage are sent', async () => {
  const { live, change, made } = feed();
  made.start();
  live.add(2);
  expect((await change('article:2')).at(-1)).toEqual(['1 0', '2 0']);
  live.delete(1);
  expect((await change('article:1')).at(-1)).toEqual(['2 0']);
  expect(made.stories()).toMatchObject([{ id: 2 }]);
});

it('live changes are sent in order, and one that fails is replaced by a sync event', async () => {
  const { entries, made, sent } = feed();
  entries.set(11, { story: 1, words: 'broken' });
  entries.set(12, { story: 1, words: 'b' });
  made.changed({ tags: new Set(['entry:11', 'live:1']) });
  made.changed({ tags: new Set(['entry:12', 'live:1']) });
  await made.settled();
  const events = sent.filter((one) => typeof one === 'string').map((one) => /event: (\w+)/.exec(one)?.[1]);
  expect(events).toEqual(['sync', 'entry']);
});
