/**
 * Whether the originals of kept pictures are still what they were. A picture that was deleted in WordPress must not stay reachable at its old
 * address, nor one that was replaced there, so what was made of it is served for an hour, and then again once its host has confirmed it.
 */
import { createBoundedMap } from '../bounded-map.ts';

/** Milliseconds for which an original counts as unchanged after its host has said so. */
const confirmedMs = 3_600_000;
/** Milliseconds without questions to a host that didn't answer; its pictures are served meanwhile. */
const awayMs = 60_000;
const mostRemembered = 20_000;

export interface OriginalChecksOptions {
  /** Epoch milliseconds at which an original was changed, 0 where its host doesn't say; `null` when the host doesn't answer. */
  readonly changedAt: (url: URL) => Promise<number | 'gone' | null>;
  readonly now: () => number;
}

export type OriginalState = 'same' | 'changed' | 'gone';

/** What is kept of a picture. Epoch milliseconds; 0: it isn't kept. */
export interface KeptPicture {
  /** When the original was fetched. */
  readonly fetched: number;
  /** When the requested size was made of it. */
  readonly made: number;
}

/** @returns the state of an original, as far as is known */
export function createOriginalChecks({
  changedAt,
  now,
}: OriginalChecksOptions): (url: URL, kept: KeptPicture) => OriginalState | Promise<OriginalState> {
  const confirmed = createBoundedMap<number>(mostRemembered);
  const asking = new Map<string, Promise<OriginalState>>();
  /** When a host may be asked again. */
  const away = new Map<string, number>();

  async function ask(url: URL, { fetched, made }: KeptPicture): Promise<OriginalState> {
    const answer = await changedAt(url);
    if (answer === 'gone') return 'gone';
    if (answer === null) {
      away.set(url.host, now() + awayMs);
      return 'same';
    }
    confirmed.set(url.href, now());
    return answer > (fetched || made) ? 'changed' : 'same';
  }

  return (url, kept) => {
    const known = Math.max(kept.fetched, confirmed.get(url.href) ?? 0);
    if (now() - known < confirmedMs || (away.get(url.host) ?? 0) > now()) return 'same';
    const running = asking.get(url.href) ?? ask(url, kept).finally(() => asking.delete(url.href));
    asking.set(url.href, running);
    return running;
  };
}
