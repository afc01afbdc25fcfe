/** When a stored date is shown as "N ago", and when that next changes. Pure. */
import { ago } from './dates.ts';

/** Age in milliseconds from which a moment is shown as a date. */
export const relativeUntil = 7 * 86_400_000;

/** "N ago", or `null` when the moment is old enough (or far enough ahead) to be shown as a date. */
export function relativeText(instant: string, now: number): string | null {
  const age = now - Date.parse(instant);
  if (Number.isNaN(age) || age >= relativeUntil || age < -60_000) return null;
  return ago(instant, now);
}
