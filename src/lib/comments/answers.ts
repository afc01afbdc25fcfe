/** Answers of the comment routes: failures as status and message, never cached. */
import { unconfirmed } from '../accounts/forms.ts';
import { type Answer, refuse } from '../http/answer.ts';
import { tooManyTries } from '../http/rate-limit.ts';
import { commentRefused } from './messages.ts';
import type { CommentFailure, CommentOutcome } from './service.ts';

const answers: Readonly<Record<Exclude<CommentFailure['kind'], 'invalid' | 'limited'>, readonly [number, string]>> = {
  closed: [403, commentRefused.closed],
  gone: [404, commentRefused.gone],
  duplicate: [409, commentRefused.duplicate],
  'subscribers-only': [403, commentRefused.subscribersOnly],
  unconfirmed: [403, commentRefused.unconfirmed],
  'too-late': [403, commentRefused.tooLate],
  busy: [409, commentRefused.busy],
  own: [409, commentRefused.own],
  unavailable: [503, commentRefused.unavailable],
};

/** The sentence for the reader. */
export function messageOf(failure: CommentFailure): string {
  if (failure.kind === 'invalid') return failure.message;
  if (failure.kind === 'limited') return tooManyTries(failure.retryAfter);
  return answers[failure.kind][1];
}

export function refusalOf(failure: CommentFailure): Answer {
  const message = messageOf(failure);
  if (failure.kind === 'invalid')
    return privateAnswer({ ...refuse(400, message), body: { message, field: failure.field } });
  if (failure.kind === 'limited') return privateAnswer(refuse(429, message, { retryAfter: failure.retryAfter }));
  if (failure.kind === unconfirmed)
    return privateAnswer(refuse(answers[unconfirmed][0], message, { code: unconfirmed }));
  const retry = failure.kind === 'unavailable' ? { retryAfter: 60 } : failure.kind === 'busy' ? { retryAfter: 5 } : {};
  return privateAnswer(refuse(answers[failure.kind][0], message, retry));
}

/** An answer for one reader alone. */
export const privateAnswer = (answer: Answer): Answer => ({
  ...answer,
  headers: { ...answer.headers, 'Cache-Control': 'no-store, private' },
});

export function answerOf<T>(outcome: CommentOutcome<T>, status: number, body: (value: T) => unknown): Answer {
  return outcome.ok ? privateAnswer({ status, body: body(outcome.value) }) : refusalOf(outcome.failure);
}
