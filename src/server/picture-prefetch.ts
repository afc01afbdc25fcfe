/**
 * Fetches the originals of the pictures on the newest pages before a reader requests them, so that they are available while
 * WordPress is down. Older pictures are fetched on demand, because all of them would be the whole media library.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createBoundedMap } from '../lib/bounded-map.ts';
import type { Picture } from '../lib/content/model.ts';
import type { ContentReader } from '../lib/content/reader.ts';
import { imagePath } from '../lib/images/url.ts';
import { oneAtATime } from '../lib/jobs/tasks.ts';
import type { Logger } from '../lib/logging.ts';

export interface PicturePrefetchOptions {
  readonly reader: () => ContentReader;
  /** Fetches an original into the cache; `null` when it can't (src/lib/images). */
  readonly measure: (url: string) => Promise<object | null>;
  readonly log: Logger;
  /** Milliseconds without a change before a run (default 2000); while changes don't pause, a run starts after a minute. */
  readonly quietMs?: number;
}

export interface PicturePrefetch {
  /** Starts a run once changes have paused; several calls start one run. */
  soon(): void;
  stop(): void;
}

/** Articles, and authors, whose pictures are fetched. */
const newestArticles = 150;
const longestWaitMs = 60_000;
const atOnce = 2;
/** Most addresses known as fetched; one that is dropped costs a look-up on disk, but no fetch. */
const mostRemembered = 20_000;

const inBody = new RegExp(`"${imagePath}\\?url=([^&"]+)&`, 'g');

/**
 * Addresses of the originals on the newest pages, the front page's first. Requests are handled in between: reading all texts at once
 * would block the event loop for tens of milliseconds.
 */
export async function newestPictures(content: ContentReader): Promise<string[]> {
  const top = content.topStories();
  const articles = content.articles({ limit: newestArticles }).items;
  const cards = [...(top.featured ? [top.featured] : []), ...top.others, ...articles];
  const pictures: (Picture | null)[] = [
    ...cards.map((card) => card.image),
    ...content.videos({ limit: 24 }).items.map((video) => video.image),
    ...content
      .authors()
      .slice(0, newestArticles)
      .map((author) => author.image),
  ];
  const bodies: string[] = [];
  for (const { slug } of articles) {
    await nextTurn();
    const body = content.article(slug)?.bodyHtml ?? '';
    for (const match of body.matchAll(inBody)) bodies.push(decodeURIComponent(match[1] as string));
  }
  return [...new Set([...pictures.flatMap((picture) => (picture ? [picture.url] : [])), ...bodies])];
}

/** Creates the prefetch; it does nothing before the first call of `soon`. */
export function createPicturePrefetch(options: PicturePrefetchOptions): PicturePrefetch {
  const fetched = createBoundedMap<true>(mostRemembered / 2);
  let timer: NodeJS.Timeout | undefined;
  /** When the planned run was first requested. */
  let since = 0;
  let stopped = false;

  async function fetchAll(): Promise<void> {
    if (stopped) return;
    const wanted = (await newestPictures(options.reader())).filter((url) => !fetched.get(url));
    const work = async () => {
      for (let url = wanted.shift(); url && !stopped; url = wanted.shift()) {
        if (await options.measure(url)) fetched.set(url, true);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
  }
  const run = oneAtATime(() =>
    fetchAll().catch((error: unknown) => options.log.error({ err: error }, "Pictures couldn't be prefetched")),
  );
  return {
    soon() {
      if (stopped) return;
      const clock = performance.now();
      if (!timer) since = clock;
      else if (clock - since >= longestWaitMs) return;
      clearTimeout(timer);
      timer = setTimeout(() => {
        timer = undefined;
        void run();
      }, options.quietMs ?? 2000);
      timer.unref();
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
