/** The meter of readers who have not signed in: their browser keeps it, and it is as honest as they are. Pure. */

/** An article and when it was counted, epoch milliseconds. */
export type Reading = readonly [article: number, at: number];

export interface BrowserMeterRules {
  readonly days: number;
  readonly anonymous: number;
}

export interface Counted {
  /** What to keep: what still counts, this article included unless there was none left for it. */
  readonly readings: readonly Reading[];
  readonly over: boolean;
  /** Articles that are left. */
  readonly remaining: number;
}

const day = 24 * 60 * 60 * 1000;

/** Counts one reading; the same article again within the days counts once. */
export function countReading(
  kept: readonly Reading[],
  article: number,
  now: number,
  { days, anonymous: total }: BrowserMeterRules,
): Counted {
  // A time that lies ahead is that of a clock which was put back.
  const readings = kept.filter(([, at]) => at <= now && at > now - days * day);
  const known = readings.some(([id]) => id === article);
  const over = !known && readings.length >= total;
  const all: readonly Reading[] = known || over ? readings : [...readings, [article, now]];
  return { readings: all, over, remaining: Math.max(0, total - all.length) };
}

/** What a browser has kept; whatever is no reading is left out. */
export function parseReadings(text: string | null): readonly Reading[] {
  try {
    const read: unknown = JSON.parse(text ?? '[]');
    if (!Array.isArray(read)) return [];
    return read.filter(
      (each): each is Reading =>
        Array.isArray(each) && each.length === 2 && each.every((part) => Number.isFinite(part)),
    );
  } catch {
    return [];
  }
}
