/** When to try again: back-off, and what `Retry-After` says. */

/**
 * Exponential back-off with jitter: anything between half a step and a whole one, so that many don't return at once.
 *
 * @param attempt 1 for the first wait
 * @param base milliseconds of the first step
 * @param cap longest wait in milliseconds
 */
export function backOff(attempt: number, base: number, cap: number, random: () => number = Math.random): number {
  const step = Math.min(cap, base * 2 ** Math.min(attempt - 1, 30));
  return Math.round(step / 2 + (random() * step) / 2);
}

/**
 * `Retry-After` in milliseconds, in either of its forms (RFC 9110, section 10.2.3): seconds, or a date.
 *
 * @param now epoch milliseconds
 */
export function retryAfter(header: string | null, now: number): number | null {
  if (header === null) return null;
  const value = header.trim();
  if (/^\d{1,9}$/u.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
