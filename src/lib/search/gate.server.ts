/**
 * Bounds how often one network searches: each search costs more than a stored page, and a hosted engine bills each. What it
 * remembers is bounded, is in memory only, and is forgotten with the minute.
 */
import { blockOf, networkOf } from '../accounts/engine/keyed.server.ts';

export interface GateRules {
  /** Questions from one network address within a minute. */
  readonly perMinute: number;
  /** The same from one IPv6 /48, which is 65,536 networks of one connection. */
  readonly perBlock: number;
}

export interface Gate {
  /**
   * Counts a question.
   *
   * @returns `null` when it may be asked, else the whole seconds until the next one may
   */
  admit(address: string): number | null;
}

const minute = 60_000;
const mostCounted = 50_000;

/** @param now epoch milliseconds */
export function createGate({ perMinute, perBlock }: GateRules, now: () => number): Gate {
  let thisMinute = Number.NaN;
  let counts = new Map<string, number>();

  /** Whether one more is within the bound. */
  function count(name: string, most: number): boolean {
    const before = counts.get(name) ?? 0;
    if (before >= most) return false;
    // Whoever has so many addresses has all there is; then what is known is worth nothing any more.
    if (before === 0 && counts.size >= mostCounted) counts.clear();
    counts.set(name, before + 1);
    return true;
  }

  return {
    admit(address) {
      const at = now();
      const minuteNow = Math.floor(at / minute);
      if (minuteNow !== thisMinute) {
        thisMinute = minuteNow;
        counts = new Map();
      }
      const block = blockOf(address);
      const within = count(networkOf(address), perMinute) && (block === null || count(block, perBlock));
      return within ? null : Math.max(1, Math.ceil(((minuteNow + 1) * minute - at) / 1000));
    },
  };
}
