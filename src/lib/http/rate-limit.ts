/** The answer to a caller who is over a rate limit. Islands show the same sentence. */
import { type Answer, refuse } from './answer.ts';

const count = (number: number, unit: string): string => (number === 1 ? `a ${unit}` : `${number} ${unit}s`);

/** @param seconds at least 1; rounded up to what one would say */
export function waitingTime(seconds: number): string {
  if (seconds < 60) return count(seconds, 'second');
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 60) return count(minutes, 'minute');
  const hours = Math.ceil(minutes / 60);
  return hours === 1 ? 'an hour' : count(hours, 'hour');
}

/** Message for a caller who is over a limit. @param seconds until the limit allows another try */
export const tooManyTries = (seconds: number): string =>
  `Too many tries. Please wait ${waitingTime(seconds)}, then try again.`;

/** 429 with `Retry-After`. */
export const tooManyRequests = (seconds: number): Answer => refuse(429, tooManyTries(seconds), { retryAfter: seconds });
