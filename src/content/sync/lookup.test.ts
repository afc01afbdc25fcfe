/** Documents that readers request before the first copy has reached them. */
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { contentOf } from '../../../tests/fixtures/open-content.ts';
import {
  type FakeWordPress,
  fakeWordPress,
  restError,
  wirePost,
  wireSection,
} from '../../../tests/fixtures/wordpress.ts';
import type { Content, ContentOptions } from '../service.ts';

let wordpress: FakeWordPress;
let content: Content;
let clock: number;
/** While set, delays every lookup by slug. */
let gate: PromiseWithResolvers<void> | null;
let atOnce: number;
let mostAtOnce: number;

beforeEach(() => {
  wordpress = fakeWordPress();
  wordpress.put('categories', { ...wireSection(1, 'national', 1), id: 1 });
  for (let id = 1; id <= 30; id++) {
    const date = new Date(Date.UTC(2026, 10, 20) - id * 3_600_000).toISOString().slice(0, 19);
    wordpress.put('articles', { ...wirePost({ id, slug: `story-${id}`, date_gmt: date }), id });
  }
  wordpress.put('authors', { ...wirePost({ id: 80, slug: 'ada', title: { rendered: 'Ada' } }), id: 80 });
  gate = null;
  atOnce = 0;
  mostAtOnce = 0;
  clock = Date.UTC(2026, 10, 20, 12);
  wordpress.intercept = async (request) => {
    if (!new URL(request.url).searchParams.has('slug')) return null;
    mostAtOnce = Math.max(mostAtOnce, ++atOnce);
    await gate?.promise;
    atOnce--;
    return null;
  };
  content = open();
});
const open = (options: Partial<ContentOptions> = {}) =>
  contentOf(wordpress, {
    now: () => clock,
    ...options,
  });
afterEach(async () => {
  gate?.resolve();
  await content.stop();
});

const lookUps = () => wordpress.requests.filter((request) => request.includes('slug='));

describe('looking up a slug before the first copy is complete', () => {
  it('fetches a story once for 20 simultaneous requests', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) => content.lookUp('articles', 'story-29', `192.0.2.${at % 2}`)),
    );
    expect(new Set(answers)).toEqual(new Set(['found']));
    expect(lookUps()).toHaveLength(1);
    expect(content.reader().article('story-29')?.id).toBe(29);
    expect(content.isComplete('articles')).toBe(false);
  });

  it.each(['articles', 'video', 'crosswords', 'authors', 'pages'] as const)(
    'finds a document of type %s',
    async (type) => {
      const more = type === 'video' ? { video: { url: 'https://www.youtube.com/watch?v=abcdefghijk' } } : {};
      wordpress.put(type, { ...wirePost({ id: 200, slug: 'late', ...more }), id: 200 });
      const answer = await content.lookUp(type, 'late', 'a');
      expect(answer).toBe('found');
    },
  );

  it('accepts WordPress’s answer that there is no such document, and remembers it for a minute', async () => {
    expect(await content.lookUp('articles', 'no-such', 'a')).toBe('missing');
    expect(await content.lookUp('articles', 'no-such', 'b')).toBe('missing');
    expect(lookUps()).toHaveLength(1);
    clock += 61_000;
    wordpress.put('articles', { ...wirePost({ id: 99, slug: 'no-such' }), id: 99 });
    expect(await content.lookUp('articles', 'no-such', 'a')).toBe('found');
  });

  it('reports an error of WordPress as unavailable, not missing, and asks nothing more for a moment', async () => {
    wordpress.intercept = () => restError(500, 'internal_error');
    expect(await content.lookUp('articles', 'story-29', 'a')).toBe('unavailable');
    expect(await content.lookUp('articles', 'story-28', 'a')).toBe('unavailable');
    expect(lookUps()).toHaveLength(1);
    wordpress.intercept = null;
    clock += 3000;
    expect(await content.lookUp('articles', 'story-29', 'a')).toBe('found');
  });

  it('asks WordPress again in time after the clock was set back by a day', async () => {
    const ahead = Date.now() + 86_400_000;
    vi.useFakeTimers({ toFake: ['Date', 'performance'], now: ahead });
    onTestFinished(() => void vi.useRealTimers());
    await content.stop();
    content = open({ now: undefined });
    expect(await content.lookUp('articles', 'no-such', 'a')).toBe('missing');
    wordpress.intercept = () => restError(500, 'internal_error');
    expect(await content.lookUp('articles', 'story-29', 'a')).toBe('unavailable');
    wordpress.intercept = null;
    wordpress.put('articles', { ...wirePost({ id: 99, slug: 'no-such' }), id: 99 });
    vi.setSystemTime(ahead - 86_400_000);
    vi.advanceTimersByTime(3000);
    expect(await content.lookUp('articles', 'story-29', 'a')).toBe('found');
    vi.advanceTimersByTime(60_000);
    expect(await content.lookUp('articles', 'no-such', 'a')).toBe('found');
  });

  it('asks WordPress for two slugs at a time, and refuses more than eight waiting requests from one address', async () => {
    gate = Promise.withResolvers();
    const crowd = Array.from({ length: 12 }, (_, at) => content.lookUp('articles', `made-up-${at}`, 'crowd'));
    const reader = content.lookUp('articles', 'story-29', 'reader');
    await expect.poll(() => atOnce).toBe(2);
    gate.resolve();
    expect(await reader).toBe('found');
    const answers = await Promise.all(crowd);
    expect(answers.filter((answer) => answer === 'unavailable')).toHaveLength(3);
    expect(answers.filter((answer) => answer === 'missing')).toHaveLength(9);
    expect(mostAtOnce).toBe(2);
  });

  it('makes no request for a slug that holds a list or 700 characters', async () => {
    expect(await content.lookUp('articles', 'story-1,story-2', 'a')).toBe('missing');
    expect(await content.lookUp('articles', 'x'.repeat(700), 'a')).toBe('missing');
    expect(lookUps()).toEqual([]);
  });
});

it('once the first copy is complete, a lookup makes no request and the status says complete', async () => {
  expect(content.status()).toMatchObject({ ready: false, complete: false });
  await content.syncNow();
  expect(content.status()).toMatchObject({ ready: true, complete: true });
  expect(content.isComplete('articles')).toBe(true);
  expect(await content.lookUp('articles', 'no-such', 'a')).toBe('missing');
  expect(lookUps()).toEqual([]);
});
