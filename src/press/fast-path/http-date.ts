/** The time of day as answers tell it, read from the clock ten times a second at most. */

let second = 0;
let date = '';
let readAt = Number.NEGATIVE_INFINITY;

function look(): void {
  const clock = performance.now();
  if (clock - readAt <= 100) return;
  readAt = clock;
  const now = Math.floor(Date.now() / 1000);
  if (now === second) return;
  second = now;
  date = new Date(now * 1000).toUTCString();
}

/** The Unix second that it is. */
export function secondNow(): number {
  look();
  return second;
}

/** The same as the `Date` header has it (RFC 9110, section 5.6.7). */
export function dateNow(): string {
  look();
  return date;
}
