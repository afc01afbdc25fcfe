/**
 * Whether the originals of kept pictures are still what they were. A picture that was deleted in WordPress must not stay reachable at its old
 * address, nor one that was replaced there, so what was made of it is served until WordPress says that it changed, for an hour at most, and then
 * again once its host has confirmed it.
 */
import { createBoundedMap } from '../bounded-map.ts';
import { digest } from './picture-files.server.ts';

/** Milliseconds for which an original counts as unchanged after its host has said so. */
const confirmedMs = 3_600_000;
/** Milliseconds without questions to a host that didn't answer; its pictures are served meanwhile. */
const awayMs = 60_000;
const mostRemembered = 20_000;
/**
 * Milliseconds by which a file may be older than what was made of it, and yet be another one, where it is known to have changed: dates of
 * files are whole seconds of another clock, which may differ by the five minutes for which a webhook is valid.
 */
const inexactMs = 360_000;

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

export interface OriginalChecks {
  /** The state of an original, as far as is known. */
  check(url: URL, kept: KeptPicture): OriginalState | Promise<OriginalState>;
  /** Has the host asked again. @param digests of addresses @param all of every address */
  forget(digests: readonly string[], all: boolean): void;
}

export function createOriginalChecks({ changedAt, now }: OriginalChecksOptions): OriginalChecks {
  /** When originals were confirmed, by the digests of their addresses. */
  const confirmed = createBoundedMap<number>(mostRemembered);
  const asking = new Map<string, Promise<OriginalState>>();
  /** Until when a host that didn't respond isn't asked. */
  const unavailableUntil = new Map<string, number>();
  /** When all originals were forgotten. */
  let allForgotten = Number.NEGATIVE_INFINITY;
  /** Counts what was forgotten: an answer that was asked for before says nothing. */
  let forgets = 0;

  async function ask(url: URL, { fetched, made }: KeptPicture): Promise<OriginalState> {
    const before = forgets;
    const answer = await changedAt(url);
    if (answer === 'gone') return 'gone';
    if (answer === null) {
      unavailableUntil.set(url.host, now() + awayMs);
      return 'same';
    }
    if (before === forgets) confirmed.set(digest(url.href), now());
    const isExact = fetched > allForgotten && fetched > 0;
    return answer > (isExact ? fetched : (fetched || made) - inexactMs) ? 'changed' : 'same';
  }

  return {
    check(url, kept) {
      const known = Math.max(kept.fetched, confirmed.get(digest(url.href)) ?? 0);
      const isKnown = known > allForgotten && now() - known < confirmedMs;
      if (isKnown || (unavailableUntil.get(url.host) ?? 0) > now()) return 'same';
      const running = asking.get(url.href) ?? ask(url, kept).finally(() => asking.delete(url.href));
      asking.set(url.href, running);
      return running;
    },
    forget(digests, all) {
      forgets++;
      for (const each of digests) confirmed.delete(each);
      if (all) allForgotten = now();
      asking.clear();
    },
  };
}
