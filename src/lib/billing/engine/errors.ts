/** How Stripe's errors reach a reader (spec section 8). */

import Stripe from 'stripe';
import { DatabaseUnavailable } from '../../database.ts';
import type { Over } from '../../http/limiter.server.ts';
import { tooManyTries } from '../../http/rate-limit.ts';
import { couponMessages, messages } from '../messages.ts';
import type { Billed } from '../service.ts';
import type { CheckoutError } from '../wire.ts';

export const ok = <T>(value: T): Billed<T> => ({ ok: true, value });
type No = Extract<Billed<never>, { ok: false }>;
export const no = (status: No['status'], message: string, more: Omit<CheckoutError, 'message'> = {}): No => ({
  ok: false,
  status,
  error: { message, ...more },
});

/** What a caller over a rate limit is told. */
export const overLimit = ({ retryAfter }: Over): No => no(429, tooManyTries(retryAfter), { retryAfter });

/** A refusal that is thrown through several functions. */
export class Refused extends Error {
  readonly answer: No;
  constructor(answer: No) {
    super(answer.error.message);
    this.name = 'Refused';
    this.answer = answer;
  }
}
export const refuse = (...reason: Parameters<typeof no>): never => {
  throw new Refused(no(...reason));
};

const { StripeCardError, StripeInvalidRequestError, StripeIdempotencyError, StripeError, StripeRateLimitError } =
  Stripe.errors;

/** Whether Stripe does not know the object. */
export const isMissing = (error: unknown): boolean =>
  error instanceof StripeInvalidRequestError && (error.code === 'resource_missing' || error.statusCode === 404);

/** Whether it is not known if Stripe has done what it was asked: no answer came, or one that Stripe itself regrets. */
export const isUncertain = (error: unknown): boolean =>
  error instanceof StripeError &&
  (error.statusCode === undefined || error.statusCode >= 500 || error.statusCode === 409 || isUsedKey(error));

/** The key was used for something else, or is in use now. */
const isUsedKey = (error: unknown): boolean => error instanceof StripeIdempotencyError;

/** A card's refusal as the reader is told. */
export const cardRefusal = (error: {
  readonly message?: string | null | undefined;
  readonly code?: string | null | undefined;
  readonly decline_code?: string | null | undefined;
}): No =>
  no(402, error.message || messages.failed, {
    ...(error.code && { code: error.code }),
    ...(error.decline_code && { declineCode: error.decline_code }),
  });

/**
 * Runs a call of the service: what a reader or a card causes becomes a value; Stripe's being away becomes 503. What throws
 * then is a fault of ours.
 */
export async function asResult<T>(work: () => Promise<Billed<T>>): Promise<Billed<T>> {
  try {
    return await work();
  } catch (error) {
    return refusalOf(error);
  }
}

export function refusalOf(error: unknown): No {
  if (error instanceof Refused) return error.answer;
  if (error instanceof StripeCardError) return cardRefusal(error);
  if (error instanceof StripeRateLimitError) return no(503, messages.wrong, { retryAfter: 5 });
  if (error instanceof StripeInvalidRequestError && error.code === 'customer_tax_location_invalid') {
    return no(400, messages.taxPlace, { code: 'tax_address' });
  }
  // The payment method is another customer's, is used up, or doesn't exist.
  if (error instanceof StripeInvalidRequestError && /payment_method/.test(error.param ?? error.code ?? error.message)) {
    return no(402, messages.failed, { code: error.code ?? 'payment_method_invalid' });
  }
  if (error instanceof StripeInvalidRequestError && /promotion_code|coupon|discounts/.test(error.param ?? '')) {
    return no(400, couponMessages.invalid, { code: 'coupon_expired' });
  }
  if (error instanceof StripeError && isUncertain(error)) return no(503, messages.wrong, { retryAfter: 5 });
  if (error instanceof DatabaseUnavailable) return no(503, messages.wrong, { retryAfter: 10 });
  throw error;
}
