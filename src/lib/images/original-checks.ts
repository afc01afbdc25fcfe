/**
 * Whether the originals of cached pictures are unchanged. A picture that was deleted or replaced in WordPress must not stay available at
 * its old address. Resized pictures are therefore served until WordPress reports a change, at most for an hour, and afterward only after
 * the host has confirmed the original.
 */
import { createBoundedMap } from '../bounded-map.ts';
import { digest } from './picture-files.server.ts';

/** Milliseconds for which an original counts as unchanged after its host has said so. */
const confirmedMs = 3_600_000;
/** Milliseconds for which a host that didn't answer isn't asked again; its pictures are served in the meantime. */
const unavailableMs = 60_000;
const mostRemembered = 20_000;
/**
 * Milliseconds by which a changed file may be older than the pictures made from it: file dates are whole seconds of another clock, which
 * may differ by the five minutes for which a webhook is valid.
 */
const inexactMs = 360_000;

export interface OriginalChecksOptions {
  /** Epoch milliseconds at which an original was changed, 0 where its host doesn't say; `null` when the host doesn't answer. */
  readonly changedAt: (url: URL) => Promise<number | 'gone' | null>;
  readonly now: () => number;
}

export type OriginalState = 'same' | 'changed' | 'gone';

/** What is cached of a picture. Epoch milliseconds; 0: not cached. */
export interface CachedPicture {
  /** When the original was fetched. */
  readonly fetched: number;
  /** When the requested size was made from it. */
  readonly made: number;
}

export interface OriginalChecks {
  /** The state of an original, as far as is known. */
  check(url: URL, cached: CachedPicture): OriginalState | Promise<OriginalState>;
  /** Makes the next check ask the host again. @param digests of addresses @param all whether for every address */
  forget(digests: readonly string[], all: boolean): void;
}

export function createOriginalChecks({ changedAt, now }: OriginalChecksOptions): OriginalChecks {
  /** When originals were confirmed, by the digests of their addresses. */
  const confirmed = createBoundedMap<number>(mostRemembered);
  const asking = new Map<string, Promise<OriginalState>>();
  /** Until when a host that didn't respond isn't asked. */
  const unavailableUntil = new Map<string, number>();
  /** When all originals were last marked for a new check. */
  let allForgotten = Number.NEGATIVE_INFINITY;
  /** Counts calls of `forget`: an answer to a question that was sent before such a call is ignored. */
  let forgetCalls = 0;

  async function ask(url: URL, { fetched, made }: CachedPicture): Promise<OriginalState> {
    const before = forgetCalls;
    const answer = await changedAt(url);
    if (answer === 'gone') return 'gone';
    if (answer === null) {
      unavailableUntil.set(url.host, now() + unavailableMs);
      return 'same';
    }
    if (before === forgetCalls) confirmed.set(digest(url.href), now());
    const isExact = fetched > allForgotten && fetched > 0;
    return answer > (isExact ? fetched : (fetched || made) - inexactMs) ? 'changed' : 'same';
  }

  return {
    check(url, cached) {
      const known = Math.max(cached.fetched, confirmed.get(digest(url.href)) ?? 0);
      const isKnown = known > allForgotten && now() - known < confirmedMs;
      if (isKnown || (unavailableUntil.get(url.host) ?? 0) > now()) return 'same';
      const running = asking.get(url.href) ?? ask(url, cached).finally(() => asking.delete(url.href));
      asking.set(url.href, running);
      return running;
    },
    forget(digests, all) {
      forgetCalls++;
      for (const each of digests) confirmed.delete(each);
      if (all) allForgotten = now();
      asking.clear();
    },
  };
}
