import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { ContentReader } from '../lib/content/reader.ts';
import { imageUrl } from '../lib/images/url.ts';
import { silent } from '../lib/logging.ts';
import { createPicturePrefetch, newestPictures } from './picture-prefetch.ts';

const picture = (name: string) => ({
  url: `https://wp.example/${name}.jpg`,
  alt: '',
  width: 1,
  height: 1,
  caption: '',
  credit: '',
});
const body = `<p><img src="${imageUrl('https://wp.example/in body.jpg', 640)}"></p>`;
const reader = () =>
  ({
    topStories: () => ({ featured: { image: picture('lead') }, others: [{ image: null }] }),
    articles: () => ({
      items: [
        { slug: 'a', image: picture('lead') },
        { slug: 'b', image: picture('b') },
      ],
    }),
    article: (slug: string) => (slug === 'a' ? { bodyHtml: body } : null),
    videos: () => ({ items: [{ image: picture('film') }] }),
    authors: () => [{ image: picture('face') }],
  }) as unknown as ContentReader;
const all = ['lead', 'b', 'film', 'face', 'in body'].map((name) => `https://wp.example/${name}.jpg`);

/** A prefetch whose fetches last until `answer` is called. */
function held() {
  const asked: string[] = [];
  const { promise, resolve: answer } = Promise.withResolvers<object>();
  let looks = 0;
  const prefetch = createPicturePrefetch({
    reader: () => {
      looks++;
      return reader();
    },
    measure: (url) => {
      asked.push(url);
      return promise;
    },
    log: silent,
    quietMs: 0,
  });
  return { prefetch, asked, looks: () => looks, answer: () => answer({}) };
}

describe('pictures of the newest pages', () => {
  afterEach(() => void vi.useRealTimers());

  test('are found once each, starting with those of the front page', async () =>
    expect(await newestPictures(reader())).toEqual(all));

  test('are fetched once, and failed ones are fetched again in the next run', async () => {
    const asked: string[] = [];
    let down = true;
    const prefetch = createPicturePrefetch({
      reader,
      measure: async (url) => {
        asked.push(url);
        return down && url.includes('film') ? null : {};
      },
      log: silent,
      quietMs: 0,
    });
    prefetch.soon();
    prefetch.soon();
    await vi.waitFor(() => expect([...asked].sort()).toEqual([...all].sort()));
    await wait(20);
    expect(asked).toHaveLength(all.length);
    asked.length = 0;
    down = false;
    prefetch.soon();
    await vi.waitFor(() => expect(asked).toEqual(['https://wp.example/film.jpg']));
    prefetch.stop();
    prefetch.soon();
    await wait(20);
    expect(asked).toHaveLength(1);
  });

  test('are looked up once more after a run during which they changed', async () => {
    const { prefetch, asked, looks, answer } = held();
    prefetch.soon();
    await vi.waitFor(() => expect(asked).toHaveLength(2));
    prefetch.soon();
    await wait(20);
    expect(looks()).toBe(1);
    answer();
    await vi.waitFor(() => expect(looks()).toBe(2));
    await wait(20);
    expect([looks(), asked.length]).toEqual([2, all.length]);
    prefetch.stop();
  });

  test('aren’t fetched any more after a stop during a run', async () => {
    const { prefetch, asked, looks, answer } = held();
    prefetch.soon();
    await vi.waitFor(() => expect(asked).toHaveLength(2));
    prefetch.soon();
    await wait(20);
    prefetch.stop();
    answer();
    await wait(20);
    expect([looks(), asked.length]).toEqual([1, 2]);
  });

  test('are looked up once changes have stopped, or after a minute of changes', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    let looks = 0;
    const looking = () => {
      looks++;
      return reader();
    };
    const prefetch = createPicturePrefetch({ reader: looking, measure: async () => ({}), log: silent });
    for (let second = 0; second < 59; second++) {
      prefetch.soon();
      vi.advanceTimersByTime(1000);
    }
    expect(looks).toBe(0);
    for (let second = 0; second < 5; second++) {
      prefetch.soon();
      vi.advanceTimersByTime(1000);
    }
    expect(looks).toBe(1);
    vi.advanceTimersByTime(2000);
    vi.useRealTimers();
    await vi.waitFor(() => expect(looks).toBe(2));
    prefetch.stop();
  });
});
