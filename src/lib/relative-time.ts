/** Dates as "N ago". */

/** Age in milliseconds from which a moment is shown as a date. */
const relativeUntil = 7 * 86_400_000;

/** "N ago", or `null` when the moment is old enough (or far enough ahead) to be shown as a date. */
export function relativeText(instant: string, now: number): string | null {
  const age = now - Date.parse(instant);
  if (Number.isNaN(age) || age >= relativeUntil || age < -60_000) return null;
  return ago(instant, now);
}

const steps: readonly [limit: number, unit: number, name: string][] = [
  [60, 1, 'second'],
  [3600, 60, 'minute'],
  [86_400, 3600, 'hour'],
  [2_592_000, 86_400, 'day'],
  [31_536_000, 2_592_000, 'month'],
  [Number.POSITIVE_INFINITY, 31_536_000, 'year'],
];

/**
 * "N ago" (spec section 9): "5 minutes ago", "1 day ago". Less than a minute, or a time in the future because of clock drift,
 * is "just now".
 *
 * @param now epoch milliseconds
 */
export function ago(instant: string | number, now: number): string {
  const seconds = Math.floor((now - new Date(instant).getTime()) / 1000);
  if (!(seconds >= 60)) return 'just now';
  for (const [limit, unit, name] of steps) {
    if (seconds < limit) {
      const count = Math.floor(seconds / unit);
      return `${count} ${name}${count === 1 ? '' : 's'} ago`;
    }
  }
  return 'just now';
}
