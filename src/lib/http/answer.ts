/** A route's response before it is sent, and the one format of every error. */
import { signInUnavailable } from './feature-messages.ts';

/** A response that hasn't been sent yet. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
  /** Whole `Set-Cookie` values. */
  readonly cookies?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** Body of every error. */
export interface ErrorAnswer {
  /** A sentence for the reader. */
  readonly message: string;
  /** Seconds to wait, with 429 and 503; the header `Retry-After` says the same. */
  readonly retryAfter?: number;
  /** The address that the reader probably meant, with 400. */
  readonly suggestedEmail?: string;
  /** The step that the reader must take first, if the page offers one. */
  readonly code?: 'unconfirmed';
}

/** An error with a sentence for the reader. */
export function refuse(status: number, message: string, more: Omit<ErrorAnswer, 'message'> = {}): Answer {
  const body: ErrorAnswer = { message, ...more };
  return more.retryAfter === undefined
    ? { status, body }
    : { status, body, headers: { 'Retry-After': String(more.retryAfter) } };
}

/** The sentence of a 405. */
export const wrongMethod = (allowed: string): string => `This address allows ${allowed}.`;

/** 401 for a visitor who is not signed in. */
export const signInFirst = (): Answer => refuse(401, 'Please sign in first.');

/** 503: accounts are off, and with them what needs an account. */
export const featureOff = (): Answer => refuse(503, signInUnavailable, { retryAfter: 600 });

const count = (number: number, unit: string): string => (number === 1 ? `a ${unit}` : `${number} ${unit}s`);

/** @param seconds at least 1; rounded up to a natural phrase */
function waitingTime(seconds: number): string {
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
