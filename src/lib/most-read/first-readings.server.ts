/**
 * Distinguishes an address's first reading of an article in a day from later ones. The record has a limited size, exists only in this
 * process, and is hashed with a key that changes every day and is never stored, so that it can't show who has read what. A restart
 * clears it, and each of several processes counts a reader once.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { createBoundedMap } from '../bounded-map.ts';
import { blockOf, networkOf } from '../http/network.ts';

export type ReadingCheck = 'first' | 'again' | 'limited';

export interface FirstReadings {
  /** Whether this reading counts. */
  check(article: number, address: string): ReadingCheck;
}

export interface FirstReadingsRules {
  /** Readings of one article from one IPv6 /48, which is 65,536 networks of one connection, in a day. */
  readonly perBlock: number;
  /** Number of readings that are remembered, 200,000 by default: at least the last half of them, and some older ones. */
  readonly remembered?: number;
}

const day = 24 * 3_600_000;
/** A caller who controls more blocks than this can avoid the limit in any case. */
const mostBlocks = 50_000;

/** @param now epoch milliseconds */
export function createFirstReadings(rules: FirstReadingsRules, now: () => number = Date.now): FirstReadings {
  const { perBlock, remembered = 200_000 } = rules;
  let today = Number.NaN;
  let key = Buffer.alloc(0);
  const readings = createBoundedMap<true>(remembered / 2);
  const blocks = createBoundedMap<number>(mostBlocks / 2);

  const marked = (text: string): string => createHmac('sha256', key).update(text).digest('base64url').slice(0, 16);

  /** Forgets the readings of the day before. */
  function beginDay(): void {
    const dayNow = Math.floor(now() / day);
    if (dayNow === today) return;
    today = dayNow;
    key = randomBytes(32);
    readings.clear();
    blocks.clear();
  }

  /** Whether one more reading of a block is within the limit. */
  function within(name: string): boolean {
    const before = blocks.get(name) ?? 0;
    if (before >= perBlock) return false;
    blocks.set(name, before + 1);
    return true;
  }

  return {
    check(article, address) {
      beginDay();
      const reading = marked(`${article} ${networkOf(address)}`);
      if (readings.get(reading)) return 'again';
      const block = blockOf(address);
      if (block !== null && !within(marked(`${article} ${block}`))) return 'limited';
      readings.set(reading, true);
      return 'first';
    },
  };
}
