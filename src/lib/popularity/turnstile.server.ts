/**
 * Lets a reading through once: one of an article from an address in a day, and so many from an address in an hour. What it
 * remembers is bounded, is in memory only, and is kept under a key that is made anew every day and never written down: it cannot
 * be told afterwards who has read what. A restart forgets it.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { blockOf, networkOf } from '../accounts/engine/keyed.server.ts';

export type Passage = 'passed' | 'again' | 'limited';

export interface Turnstile {
  /** Whether an address is within its limit; counts the call. */
  within(address: string): boolean;
  /** Whether this reading counts. */
  pass(article: number, address: string): Passage;
}

export interface TurnstileRules {
  /** Calls from one address within an hour. */
  readonly perHour: number;
  /** Readings of one article from one IPv6 /48, which is 65,536 networks of one connection, in a day. */
  readonly perBlock: number;
  /** Readings remembered, 200,000 unless given; the older half is forgotten when there are more. */
  readonly remembered?: number;
}

const hour = 3_600_000;
const day = 24 * hour;
const mostAddresses = 50_000;

/** @param now epoch milliseconds */
export function createTurnstile(rules: TurnstileRules, now: () => number = Date.now): Turnstile {
  const { perHour, perBlock, remembered = 200_000 } = rules;
  let today = Number.NaN;
  let key = Buffer.alloc(0);
  let young = new Set<string>();
  let old = new Set<string>();
  let blocks = new Map<string, number>();
  let thisHour = Number.NaN;
  let calls = new Map<string, number>();

  const marked = (text: string): string => createHmac('sha256', key).update(text).digest('base64url').slice(0, 16);

  function turn(): void {
    const dayNow = Math.floor(now() / day);
    if (dayNow !== today) {
      today = dayNow;
      key = randomBytes(32);
      young = new Set();
      old = new Set();
      blocks = new Map();
      calls = new Map();
    }
    const hourNow = Math.floor(now() / hour);
    if (hourNow !== thisHour) {
      thisHour = hourNow;
      calls = new Map();
    }
  }

  function count(counts: Map<string, number>, name: string, most: number): boolean {
    const before = counts.get(name) ?? 0;
    if (before >= most) return false;
    // Whoever has so many addresses has all there is; then what is known is worth nothing any more.
    if (before === 0 && counts.size >= mostAddresses) counts.clear();
    counts.set(name, before + 1);
    return true;
  }

  return {
    within(address) {
      turn();
      return count(calls, marked(networkOf(address)), perHour);
    },
    pass(article, address) {
      turn();
      const reading = marked(`${article} ${networkOf(address)}`);
      if (young.has(reading) || old.has(reading)) return 'again';
      const block = blockOf(address);
      if (block !== null && !count(blocks, marked(`${article} ${block}`), perBlock)) return 'limited';
      if (young.size >= remembered / 2) {
        old = young;
        young = new Set();
      }
      young.add(reading);
      return 'passed';
    },
  };
}
