/** How a failure of the comments is said to a reader. */

import { unconfirmed } from '../accounts/forms.ts';
import { type Answer, refuse } from '../http/answer.ts';
import { tooManyTries } from '../http/rate-limit.ts';
import type { CommentFailure, CommentOutcome } from './service.ts';

/** Comments are off, or their store is away. */
export const awayWords =
  'Your comment could not be handed to our editors just now. Your words are kept here: please try again in a few minutes.';

const words: Readonly<Record<Exclude<CommentFailure['kind'], 'invalid' | 'limited'>, readonly [number, string]>> = {
  closed: [403, 'Comments on this article are closed.'],
  gone: [404, 'What you wanted to answer is not there any more.'],
  duplicate: [409, 'You have already said that here.'],
  'subscribers-only': [403, 'Subscribers can write comments.'],
  unconfirmed: [
    403,
    'Please confirm your email address first: open the link that we mailed you, or sign in with your email once more.',
  ],
  'too-late': [403, 'The time in which you can change this comment is over.'],
  busy: [409, 'Your comment is being sent. Please wait a moment.'],
  own: [409, 'This comment is your own.'],
  away: [503, awayWords],
};

/** The sentence for the reader. */
export function wordsOf(failure: CommentFailure): string {
  if (failure.kind === 'invalid') return failure.message;
  if (failure.kind === 'limited') return tooManyTries(failure.retryAfter);
  return words[failure.kind][1];
}

export function refusalOf(failure: CommentFailure): Answer {
  const message = wordsOf(failure);
  if (failure.kind === 'invalid') return personal({ ...refuse(400, message), body: { message, field: failure.field } });
  if (failure.kind === 'limited') return personal(refuse(429, message, { retryAfter: failure.retryAfter }));
  if (failure.kind === unconfirmed) return personal(refuse(words[unconfirmed][0], message, { code: unconfirmed }));
  const retry = failure.kind === 'away' ? { retryAfter: 60 } : failure.kind === 'busy' ? { retryAfter: 5 } : {};
  return personal(refuse(words[failure.kind][0], message, retry));
}

/** An answer that is one reader's. */
export const personal = (answer: Answer): Answer => ({
  ...answer,
  headers: { ...answer.headers, 'Cache-Control': 'no-store, private' },
});

export function answerOf<T>(outcome: CommentOutcome<T>, status: number, body: (value: T) => unknown): Answer {
  return outcome.ok ? personal({ status, body: body(outcome.value) }) : refusalOf(outcome.failure);
}
