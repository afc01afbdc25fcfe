/**
 * Whether the originals of kept pictures still exist. A picture that was deleted in WordPress must not stay reachable at its old address,
 * so what was made of it is served for an hour, and then again once its host has confirmed it.
 */
import { createBoundedMap } from '../bounded-map.ts';

/** Milliseconds for which an original counts as existing after its host has said so. */
const confirmedMs = 3_600_000;
/** Milliseconds without questions to a host that didn't answer; its pictures are served meanwhile. */
const awayMs = 60_000;
const mostRemembered = 20_000;

export interface StillThereOptions {
  /** Asks the host of an original; `null` when it doesn't answer. */
  readonly exists: (url: URL) => Promise<boolean | null>;
  readonly now: () => number;
}

/** @returns whether an original exists, as far as is known. `fetched`: epoch milliseconds at which it certainly did */
export function createStillThere({
  exists,
  now,
}: StillThereOptions): (url: URL, fetched: number) => boolean | Promise<boolean> {
  const confirmed = createBoundedMap<number>(mostRemembered);
  const asking = new Map<string, Promise<boolean>>();
  /** When a host may be asked again. */
  const away = new Map<string, number>();

  async function ask(url: URL): Promise<boolean> {
    const answer = await exists(url);
    if (answer === null) away.set(url.host, now() + awayMs);
    if (answer) confirmed.set(url.href, now());
    return answer ?? true;
  }

  return (url, fetched) => {
    const known = Math.max(fetched, confirmed.get(url.href) ?? 0);
    if (now() - known < confirmedMs || (away.get(url.host) ?? 0) > now()) return true;
    const running = asking.get(url.href) ?? ask(url).finally(() => asking.delete(url.href));
    asking.set(url.href, running);
    return running;
  };
}
