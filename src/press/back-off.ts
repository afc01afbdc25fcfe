export interface BackOff {
  /** Milliseconds of the first wait. */
  readonly baseMs: number;
  /** Longest wait in milliseconds. */
  readonly capMs: number;
}

/**
 * Exponential back-off with jitter: anything between half a step and a whole one, so that many do not return at once.
 *
 * @param attempt 1 for the first wait
 */
export function waitBefore(attempt: number, { baseMs, capMs }: BackOff, random: () => number = Math.random): number {
  const step = Math.min(capMs, baseMs * 2 ** Math.min(attempt - 1, 30));
  return step / 2 + (random() * step) / 2;
}
