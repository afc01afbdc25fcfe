/**
 * Fetches the originals of the pictures on the newest pages before a reader asks for them, so that a WordPress that is
 * down costs readers no picture either. Older pictures are fetched when somebody asks; all of them would be the whole
 * media library.
 */
import { setImmediate as breathe } from 'node:timers/promises';
import type { ContentReader, Picture } from '../lib/content/model.ts';
import { imagePath } from '../lib/images/url.ts';
import type { Logger } from '../lib/logging.ts';

export interface KeepPicturesOptions {
  readonly reader: () => ContentReader;
  /** Fetches and keeps an original; `null` when it cannot be had (src/lib/images). */
  readonly measure: (url: string) => Promise<object | null>;
  readonly log: Logger;
  /** Milliseconds of quiet after a change before looking (default 2000); while changes never end, a minute. */
  readonly quietMs?: number;
}

export interface KeepPictures {
  /** Looks once things are quiet; several wishes make one look. */
  soon(): void;
  /** Resolves when no look is planned or under way. */
  idle(): Promise<void>;
  stop(): void;
}

const newest = 150;
const longestMs = 60_000;
const atOnce = 2;
/** Addresses remembered as kept; beyond that it begins anew, which costs look-ups on disk and no fetches. */
const mostRemembered = 20_000;

const inBody = new RegExp(`"${imagePath}\\?url=([^&"]+)&`, 'g');

/**
 * Addresses of the originals that the newest pages show, the front page's first. Readers are answered in between: all the
 * texts in one go would keep them waiting for tens of milliseconds.
 */
export async function newestPictures(content: ContentReader): Promise<string[]> {
  const top = content.topStories();
  const articles = content.articles({ limit: newest }).items;
  const cards = [...(top.featured ? [top.featured] : []), ...top.others, ...articles];
  const pictures: (Picture | null)[] = [
    ...cards.map((card) => card.image),
    ...content.videos({ limit: 24 }).items.map((video) => video.image),
    ...content
      .authors()
      .slice(0, newest)
      .map((author) => author.image),
  ];
  const bodies: string[] = [];
  for (const { slug } of articles) {
    await breathe();
    const body = content.article(slug)?.bodyHtml ?? '';
    for (const match of body.matchAll(inBody)) bodies.push(decodeURIComponent(match[1] as string));
  }
  return [...new Set([...pictures.flatMap((picture) => (picture ? [picture.url] : [])), ...bodies])];
}

/** Makes the keeper; it does nothing until it is told to look. */
export function keepPictures(options: KeepPicturesOptions): KeepPictures {
  const kept = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  /** When the look that is planned was first wished for. */
  let since = 0;
  let looking: Promise<void> | undefined;
  let again = false;
  let stopped = false;
  let wake: (() => void)[] = [];

  async function look(): Promise<void> {
    if (kept.size > mostRemembered) kept.clear();
    const wanted = (await newestPictures(options.reader())).filter((url) => !kept.has(url));
    const work = async () => {
      for (let url = wanted.shift(); url && !stopped; url = wanted.shift()) {
        if (await options.measure(url)) kept.add(url);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
  }
  function begin(): void {
    timer = undefined;
    if (looking) {
      again = true;
      return;
    }
    looking = look()
      .catch((error: unknown) => options.log.error({ err: error }, 'Pictures could not be fetched ahead'))
      .finally(() => {
        looking = undefined;
        if (again && !stopped) {
          again = false;
          begin();
        } else if (!timer) {
          for (const resolve of wake) resolve();
          wake = [];
        }
      });
  }
  return {
    soon() {
      if (stopped) return;
      const clock = performance.now();
      if (!timer) since = clock;
      else if (clock - since >= longestMs) return;
      clearTimeout(timer);
      timer = setTimeout(begin, options.quietMs ?? 2000);
      timer.unref();
    },
    idle: () => (timer || looking ? new Promise((resolve) => wake.push(resolve)) : Promise.resolve()),
    stop() {
      stopped = true;
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
