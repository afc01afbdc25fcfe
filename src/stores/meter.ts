/**
 * The meter in the browser: counted here for anonymous readers, and by the server for those with an account. If storage is full or
 * blocked, nothing is counted.
 */
import { atom, type ReadableAtom } from 'nanostores';
import { type BrowserMeterRules, countReading, parseReadings } from '../lib/access/browser-meter.ts';
import { readVisitor } from '../lib/accounts/visitor.ts';

export interface MeterView {
  /** What the metered paywall asks for; `nothing`: it is hidden. */
  readonly ask: 'nothing' | 'registration' | 'subscription';
  /** Articles that are left; `null` until they are counted. */
  readonly remaining: number | null;
}

const $store = atom<MeterView>({ ask: 'nothing', remaining: null });

export const $meter: ReadableAtom<MeterView> = $store;

/** Shared by the tabs of a browser. */
const name = 'broadsheet-meter';

/**
 * Counts the reading of a metered article.
 *
 * @param rules of the publication; handed in, so that no page carries all of it
 */
export async function readMetered(article: number, path: string, rules: BrowserMeterRules): Promise<void> {
  const visitor = readVisitor(document.cookie);
  if (visitor === null) $store.set(countHere(article, rules));
  else if (visitor === 'registered') await askServer(path);
}

function countHere(article: number, rules: BrowserMeterRules): MeterView {
  try {
    // Read and written in one go: another tab comes before or after.
    const counted = countReading(parseReadings(localStorage.getItem(name)), article, Date.now(), rules);
    localStorage.setItem(name, JSON.stringify(counted.readings));
    return { ask: counted.over ? 'registration' : 'nothing', remaining: counted.remaining };
  } catch {
    return { ask: 'nothing', remaining: null };
  }
}

async function askServer(path: string): Promise<void> {
  const { decision } = await import('../lib/access/client.ts');
  // A tenant that does not know the name answers something else, and nothing is laid over anything.
  if ((await decision('paywall', path)) === 'SOFT_SUBSCRIBE') $store.set({ ask: 'subscription', remaining: 0 });
}
