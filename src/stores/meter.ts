/**
 * The meter in the browser: counted here for anonymous readers, and by the server for those with an account. If storage is full or
 * blocked, nothing is counted.
 */
import { atom, type ReadableAtom } from 'nanostores';

import { readVisitor } from '../lib/accounts/visitor.ts';
import { readStored, writeStored } from '../lib/browser-storage.ts';
import { parseJson } from '../lib/json.ts';

/** What the metered paywall asks for; `nothing` hides it. */
export type MeterAsk = 'nothing' | 'registration' | 'subscription';

const $store = atom<MeterAsk>('nothing');

export const $meter: ReadableAtom<MeterAsk> = $store;

/** Shared by the tabs of a browser. */
const storageKey = 'broadsheet-meter';

/**
 * Counts the reading of a metered article.
 *
 * @param rules the publication's rules; passed in, so that pages don't include all of the publication
 */
export async function readMetered(article: number, path: string, rules: BrowserMeterRules): Promise<void> {
  const visitor = readVisitor(document.cookie);
  if (visitor === null) $store.set(countHere(article, rules));
  else if (visitor === 'registered') await askServer(path);
}

function countHere(article: number, rules: BrowserMeterRules): MeterAsk {
  // Two tabs that count at the same moment may lose one reading, in the reader's favor.
  const counted = countReading(parseReadings(readStored(storageKey)), article, Date.now(), rules);
  return writeStored(storageKey, JSON.stringify(counted.readings)) && counted.over ? 'registration' : 'nothing';
}

async function askServer(path: string): Promise<void> {
  const { fetchDecision } = await import('../lib/access/client.ts');
  // A Zephr tenant without this feature responds with another value: no paywall is shown.
  if ((await fetchDecision('paywall', path)) === 'SOFT_SUBSCRIBE') $store.set('subscription');
}

// The meter of readers who haven't signed in, without the browser's storage.

/** An article and when it was counted, epoch milliseconds. */
export type Reading = readonly [article: number, at: number];

export interface BrowserMeterRules {
  readonly days: number;
  readonly anonymous: number;
}

export interface Counted {
  /** The readings to store: those that still count, and this one if an article was left. */
  readonly readings: readonly Reading[];
  readonly over: boolean;
}

const day = 24 * 60 * 60 * 1000;

/** Counts one reading; reading an article again within the days doesn't count again. */
export function countReading(
  kept: readonly Reading[],
  article: number,
  now: number,
  { days, anonymous: total }: BrowserMeterRules,
): Counted {
  // A time in the future was written by a wrong clock.
  const readings = kept.filter(([, at]) => at <= now && at > now - days * day);
  const known = readings.some(([id]) => id === article);
  const over = !known && readings.length >= total;
  const all: readonly Reading[] = known || over ? readings : [...readings, [article, now]];
  return { readings: all, over };
}

/** Reads the stored readings, without invalid entries. */
export function parseReadings(text: string | null): readonly Reading[] {
  const read = parseJson(text ?? '[]');
  if (!Array.isArray(read)) return [];
  return read.filter(
    (each): each is Reading => Array.isArray(each) && each.length === 2 && each.every((part) => Number.isFinite(part)),
  );
}
