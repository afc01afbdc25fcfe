/**
 * Access to Stripe: one client, one API version, bounded waits, and idempotency keys; and Stripe's errors as answers (spec section 8).
 * For a day Stripe replays its first response under a key, even its own failures (5xx) (docs.stripe.com/api/idempotent_requests), so a
 * call that failed this way is retried under another key.
 */
import Stripe from 'stripe';
import { createBoundedMap } from '../../bounded-map.ts';
import { DatabaseUnavailable } from '../../database.ts';
import { tooManyTries } from '../../http/answer.ts';
import type { ExceededLimit } from '../../http/limiter.server.ts';
import { couponMessages, messages } from '../messages.ts';
import type { CheckoutError } from '../schema.ts';
import type { Billed } from '../service.ts';

/**
 * Pinned: the types of the installed package are of this version. api-version.test.ts holds each breaking change up to it, and how it was
 * handled.
 */
export const apiVersion = '2026-10-28.endive';

/** Timeout of one request in milliseconds; one retry under the same key follows. */
const timeoutMs = 10_000;

/** @param apiUrl without a trailing slash @param before awaited before each request, which fails if it throws */
export function openStripe(
  { secretKey, apiUrl }: { readonly secretKey: string; readonly apiUrl: string },
  throughFetch?: typeof globalThis.fetch,
  before?: () => Promise<void>,
): Stripe {
  const client = throughFetch ? Stripe.createFetchHttpClient(throughFetch) : Stripe.createNodeHttpClient();
  const { hostname, port, protocol } = new URL(apiUrl);
  return new Stripe(secretKey, {
    apiVersion,
    host: hostname,
    port: port || undefined,
    protocol: protocol === 'http:' ? 'http' : 'https',
    timeout: timeoutMs,
    maxNetworkRetries: 1,
    telemetry: false,
    appInfo: { name: 'Broadsheet' },
    httpClient: before ? requestingAfter(before, client) : client,
  });
}

type HttpClient = NonNullable<NonNullable<ConstructorParameters<typeof Stripe>[1]>['httpClient']>;

const requestingAfter = (before: () => Promise<void>, client: HttpClient): HttpClient => ({
  getClientName: () => client.getClientName(),
  async makeRequest(...request) {
    await before();
    return client.makeRequest(...request);
  },
});

/** Number of Stripe's failures by key. After a restart one failure may be replayed. */
const failures = createBoundedMap<number>(5000);

/**
 * Calls Stripe under a key that is the same in every process until Stripe itself fails. Only for calls that may run twice, or whose
 * caller checks Stripe's state before it calls again: after a 5xx it is unknown whether the call had an effect.
 *
 * @param key of what is decided, for instance `switch:` and the purchase
 * @throws StripeError as the call does
 */
export async function withIdempotencyKey<T>(
  key: string,
  call: (options: { idempotencyKey: string }) => Promise<T>,
): Promise<T> {
  const failed = failures.get(key) ?? 0;
  try {
    return await call({ idempotencyKey: failed === 0 ? key : `${key}:${failed}` });
  } catch (error) {
    if (error instanceof Stripe.errors.StripeError && (error.statusCode ?? 0) >= 500) {
      failures.set(key, failed + 1);
    }
    throw error;
  }
}

export const ok = <T>(value: T): Billed<T> => ({ ok: true, value });
type No = Extract<Billed<never>, { ok: false }>;
export const refusal = (status: No['status'], message: string, more: Omit<CheckoutError, 'message'> = {}): No => ({
  ok: false,
  status,
  error: { message, ...more },
});

/** The answer to a caller over a rate limit. */
export const overLimit = ({ retryAfter }: ExceededLimit): No => refusal(429, tooManyTries(retryAfter), { retryAfter });

/** A refusal, thrown through several call levels. */
export class Refused extends Error {
  readonly answer: No;
  constructor(answer: No) {
    super(answer.error.message);
    this.name = 'Refused';
    this.answer = answer;
  }
}
export const throwRefused = (...reason: Parameters<typeof refusal>): never => {
  throw new Refused(refusal(...reason));
};

const { StripeCardError, StripeInvalidRequestError, StripeIdempotencyError, StripeError, StripeRateLimitError } =
  Stripe.errors;

/** Whether Stripe does not know the object. */
export const isMissing = (error: unknown): boolean =>
  error instanceof StripeInvalidRequestError && (error.code === 'resource_missing' || error.statusCode === 404);

const orThrow =
  (isExpected: (error: unknown) => boolean) =>
  <T>(value: T) =>
  (error: unknown): T => {
    if (isExpected(error)) return value;
    throw error;
  };

/** For `.catch`: the value where Stripe does not know the object; other errors are thrown. */
export const ifMissing = orThrow(isMissing);

/** For `.catch`: the value where the object's state doesn't allow the request; other errors are thrown. */
export const ifInvalid = orThrow((error) => error instanceof StripeInvalidRequestError);

/** Whether it is unknown if Stripe has carried out a call: no response came, or a failure of its own. */
export const isUncertain = (error: unknown): boolean =>
  error instanceof StripeError &&
  (error.statusCode === undefined ||
    error.statusCode >= 500 ||
    error.statusCode === 409 ||
    // The key was used for another request, or is in use now.
    error instanceof StripeIdempotencyError);

/** The answer after a refused card. */
export const cardRefusal = (error: {
  readonly message?: string | null | undefined;
  readonly code?: string | null | undefined;
  readonly decline_code?: string | null | undefined;
}): No =>
  refusal(402, error.message || messages.failed, {
    code: error.code || undefined,
    declineCode: error.decline_code || undefined,
  });

/** Runs a call of the service: refusals become values, an unavailable Stripe or database becomes 503. Everything else is thrown. */
export async function asResult<T>(work: () => Promise<Billed<T>>): Promise<Billed<T>> {
  try {
    return await work();
  } catch (error) {
    return refusalOf(error);
  }
}

/**
 * Whether the payment method belongs to another customer, was used before, or doesn't exist. Some of these errors have only a message. A
 * payment method that is turned off in the dashboard (`payment_method_types`) is an error for operators.
 */
const isRefusedMethod = ({ param, code, message }: Stripe.errors.StripeInvalidRequestError): boolean =>
  /payment_?method(?!_types)/i.test(param ?? code ?? message);

function refusalOf(error: unknown): No {
  if (error instanceof Refused) return error.answer;
  if (error instanceof StripeCardError) return cardRefusal(error);
  if (error instanceof StripeRateLimitError) return refusal(503, messages.wrong, { retryAfter: 5 });
  if (error instanceof StripeInvalidRequestError && error.code === 'customer_tax_location_invalid') {
    return refusal(400, messages.taxPlace, { code: 'tax_address' });
  }
  if (error instanceof StripeInvalidRequestError && isRefusedMethod(error)) {
    return refusal(402, messages.failed, { code: error.code ?? 'payment_method_invalid' });
  }
  if (error instanceof StripeInvalidRequestError && /promotion_code|coupon|discounts/.test(error.param ?? '')) {
    return refusal(400, couponMessages.invalid, { code: 'coupon_expired' });
  }
  if (error instanceof StripeError && isUncertain(error)) return refusal(503, messages.wrong, { retryAfter: 5 });
  if (error instanceof DatabaseUnavailable) return refusal(503, messages.wrong, { retryAfter: 10 });
  throw error;
}
