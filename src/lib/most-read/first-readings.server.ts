/**
 * Tells the first reading of an article from an address in a day from the next ones. What it remembers is bounded, is in the memory
 * of this process only, and is kept under a key that is made anew every day and never written down: it cannot be told afterwards
 * who has read what. A restart forgets it, and of several processes each counts a reader once.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { blockOf, networkOf } from '../http/network.ts';

export type Passage = 'passed' | 'again' | 'limited';

export interface FirstReadings {
  /** Whether this reading counts. */
  pass(article: number, address: string): Passage;
}

export interface FirstReadingsRules {
  /** Readings of one article from one IPv6 /48, which is 65,536 networks of one connection, in a day. */
  readonly perBlock: number;
  /** Readings remembered, 200,000 unless given; the older half is forgotten when there are more. */
  readonly remembered?: number;
}

const day = 24 * 3_600_000;
const mostBlocks = 50_000;

/** @param now epoch milliseconds */
export function createFirstReadings(rules: FirstReadingsRules, now: () => number = Date.now): FirstReadings {
  const { perBlock, remembered = 200_000 } = rules;
  let today = Number.NaN;
  let key = Buffer.alloc(0);
  let young = new Set<string>();
  let old = new Set<string>();
  let blocks = new Map<string, number>();

  const marked = (text: string): string => createHmac('sha256', key).update(text).digest('base64url').slice(0, 16);

  function turn(): void {
    const dayNow = Math.floor(now() / day);
    if (dayNow === today) return;
    today = dayNow;
    key = randomBytes(32);
    young = new Set();
    old = new Set();
    blocks = new Map();
  }

  /** Whether one more of a block is within the bound. */
  function within(name: string): boolean {
    const before = blocks.get(name) ?? 0;
    if (before >= perBlock) return false;
    // A caller with so many addresses has all there is; then what is known is worth nothing any more.
    if (before === 0 && blocks.size >= mostBlocks) blocks.clear();
    blocks.set(name, before + 1);
    return true;
  }

  return {
    pass(article, address) {
      turn();
      const reading = marked(`${article} ${networkOf(address)}`);
      if (young.has(reading) || old.has(reading)) return 'again';
      const block = blockOf(address);
      if (block !== null && !within(marked(`${article} ${block}`))) return 'limited';
      if (young.size >= remembered / 2) {
        old = young;
        young = new Set();
      }
      young.add(reading);
      return 'passed';
    },
  };
}
