/**
 * The sandbox's Stripe without a network: account, clock, faults, and the calls that use them. `stripeHandlers` makes
 * msw handlers of it, `startStripe` serves the same over HTTP.
 */
import { type Lifecycle, makeLifecycle } from './billing/due-tasks.ts';
import { openAccount, type StripeAccount } from './core/account.ts';
import { ApiError, invalid, isMalformed, unauthorized } from './core/errors.ts';
import { token } from './core/ids.ts';
import type { Event, StripeObject } from './core/model.ts';
import { type Fields, Params, parseForm } from './core/params.ts';
import type { Wire } from './core/present.ts';
import { type Fault, type Faults, makeFaults } from './faults.ts';
import { hashRequest, type Idempotency, makeIdempotency } from './idempotency.ts';
import { keys } from './keys.ts';
import { coupons, prices, products, promotionCodes } from './resources/catalog.ts';
import { customers, paymentMethods } from './resources/customers.ts';
import { disputes } from './resources/disputes.ts';
import { invoiceItems, invoicePayments, invoices } from './resources/invoices.ts';
import {
  accounts,
  advanceTestClock,
  events,
  paymentMethodDomains,
  testClocks,
  webhookEndpoints,
} from './resources/others.ts';
import { charges, finishChallenge, paymentIntents, refunds, setupIntents } from './resources/payments.ts';
import type { Route } from './resources/route.ts';
import { schedules, subscriptions } from './resources/subscriptions.ts';
import { trialOffers } from './resources/trial-offers.ts';
import { AnswerFault, checkAnswer } from './schema/answers.ts';
import { api } from './schema/read.ts';
import { checkRequest } from './schema/requests.ts';
import { seed } from './seed.ts';

/** The one supported version: that of the pinned SDK. */
const { apiVersion } = api;

export const routes: readonly Route[] = [
  ...[...subscriptions, ...paymentIntents, ...customers, ...paymentMethods, ...invoices, ...setupIntents, ...prices],
  ...[...products, ...coupons, ...promotionCodes, ...schedules, ...charges, ...refunds, ...disputes, ...invoiceItems],
  ...[
    ...invoicePayments,
    ...events,
    ...webhookEndpoints,
    ...paymentMethodDomains,
    ...trialOffers,
    ...testClocks,
    advanceTestClock,
    ...accounts,
  ],
];

export interface StripeState {
  readonly account: StripeAccount;
  readonly lifecycle: Lifecycle;
  readonly faults: Faults;
  readonly keys: typeof keys;
  /** Unix seconds of the sandbox's own clock. */
  now(): number;
  /** Moves the sandbox's own clock forward to a moment, and runs everything that falls due until then. */
  advanceTo(moment: number): void;
  /** Moves the sandbox's own clock by this many seconds. */
  advance(seconds: number): void;
  /** Ends the bank's 3-D Secure challenge. */
  finishChallenge(intent: string, passed: boolean): void;
  onEvents(listener: (events: readonly Event[]) => void): void;
  /** Deletes all objects and seeds the account again. */
  reset(): void;
  /** @throws {AnswerFault} if the sandbox sent anything that Stripe would not have sent */
  close(): void;
  readonly idempotency: Idempotency;
  /** Records an invalid answer, so that closing fails. */
  noteFault(fault: AnswerFault): void;
}

export interface StateOptions {
  /** File in which everything is stored; without it, data is in memory. */
  readonly file?: string | undefined;
  /** Address of the site's webhook endpoint; without it the account has no endpoint. */
  readonly webhookUrl?: string | undefined;
  /** The machine's time, epoch milliseconds. */
  readonly systemTime?: () => number;
}

export function openState({ file, webhookUrl, systemTime = Date.now }: StateOptions = {}): StripeState {
  const answerFaults: AnswerFault[] = [];
  const account = openAccount({ file, systemTime, apiVersion, noteFault: (fault) => answerFaults.push(fault) });
  clearOutdatedData(account);
  const lifecycle = makeLifecycle(account);
  const faults = makeFaults();
  const fill = () => {
    seed(account);
    if (webhookUrl) addWebhookEndpoint(account, webhookUrl);
  };
  fill();
  const advanceTo = (moment: number) => lifecycle.advance(moment);
  return {
    account,
    lifecycle,
    faults,
    keys,
    now: () => account.now(),
    advanceTo,
    advance: (seconds) => advanceTo(account.now() + seconds),
    finishChallenge: (intent, passed) => void account.transaction(() => finishChallenge(account, intent, passed)),
    onEvents: account.onEvents,
    reset() {
      account.clear();
      clearOutdatedData(account);
      faults.clear();
      fill();
      lifecycle.rescheduleAll();
    },
    close() {
      account.close();
      const [first] = answerFaults;
      if (first) throw first;
    },
    idempotency: makeIdempotency(account, systemTime),
    noteFault: (fault) => answerFaults.push(fault),
  };
}

/** Deletes the data of an older sandbox, which lacks fields that are required today. */
function clearOutdatedData(account: StripeAccount): void {
  const shapes = `${api.sdk} 3`;
  if (account.store.find('setting', 'shapes')?.spoken === shapes) return;
  if (account.store.count('product') > 0) account.clear();
  account.transaction(() => account.store.add('setting', { id: 'shapes', object: 'setting', spoken: shapes }));
}

/** The account's webhook endpoint, as the dashboard would list it. */
function addWebhookEndpoint(account: StripeAccount, url: string): void {
  account.transaction(() => {
    account.store.remove('webhook_endpoint', 'we_site');
    account.add('webhook_endpoint', {
      id: 'we_site',
      object: 'webhook_endpoint',
      api_version: apiVersion,
      application: null,
      description: null,
      enabled_events: ['*'],
      livemode: false,
      metadata: {},
      status: 'enabled',
      url,
    });
  });
}

export interface ApiCall {
  readonly route: Route;
  readonly path: string;
  readonly query: string;
  readonly id: string;
  readonly nestedId: string;
  readonly authorization: string | null;
  readonly idempotencyKey: string | null;
  readonly version: string | null;
  readonly body: string;
}

export interface ApiAnswer {
  readonly status: number;
  readonly body: string;
  readonly headers: Record<string, string>;
}

/** Answers one call, synchronously. */
export function answer(state: StripeState, call: ApiCall): ApiAnswer {
  const requestId = `req_${token(14)}`;
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'cache-control': 'no-cache, no-store',
    'request-id': requestId,
    'stripe-version': apiVersion,
  };
  const { account, idempotency } = state;
  const error = (problem: ApiError): ApiAnswer => ({
    status: problem.status,
    body: JSON.stringify({ error: { ...problem.body, request_log_url: `/logs/${requestId}` } }, null, 2),
    headers: { ...headers, ...(problem.status === 409 && { 'stripe-should-retry': 'true' }) },
  });
  // "It has no effect" with GET and DELETE (docs.stripe.com/api/idempotent_requests).
  const key = call.route.method === 'post' ? call.idempotencyKey : null;
  if (key) headers['idempotency-key'] = key;
  let begun = false;
  const requestHash = hashRequest(call.route.method, call.path, call.body);
  try {
    const fields = parseForm(call.route.method === 'post' ? call.body : call.query || call.body);
    const browser = authorize(state, call, fields);
    state.lifecycle.runDueTasks();
    checkRequest(nameOf(call), fields, { browser });
    if (key) {
      const stored = idempotency.begin(key, requestHash);
      if (stored) return { ...stored, headers: { ...headers, 'idempotent-replayed': 'true' } };
      begun = true;
    }
    const wire = account.transaction(() => {
      try {
        const body = JSON.stringify(execute(state, call, fields, browser), null, 2);
        if (key) idempotency.store(key, requestHash, { status: 200, body });
        return body;
      } catch (problem) {
        if (problem instanceof ApiError && problem.commits && key) {
          idempotency.store(key, requestHash, { status: problem.status, body: error(problem).body });
        }
        throw problem;
      }
    });
    return { status: 200, body: wire, headers };
  } catch (problem) {
    if (!(problem instanceof ApiError)) {
      if (problem instanceof AnswerFault) state.noteFault(problem);
      process.stderr.write(`Stripe: ${call.route.method} ${call.path}: ${(problem as Error).stack}\n`);
      return error(new ApiError(500, { type: 'api_error', message: 'The sandbox failed to answer this call.' }));
    }
    const answered = error(problem);
    // The call's changes are rolled back, but its response is stored for the idempotency key.
    if (key && begun && !problem.commits && !isMalformed(problem)) {
      account.transaction(() => idempotency.store(key, requestHash, { status: problem.status, body: answered.body }));
    }
    return answered;
  } finally {
    if (key && begun) idempotency.finish(key);
  }
}

/**
 * Without the header Stripe uses the account's default version (docs.stripe.com/api-versions), which differs by account. The product has to
 * pin its version, so the sandbox refuses.
 */
function checkVersion(version: string | null): void {
  if (version === null) throw invalid(`Stripe-Version: the header is missing; send ${apiVersion}.`);
  if (version !== apiVersion) throw invalid(`Invalid Stripe API version: ${version}`);
}

/** @returns whether the caller is a browser */
function authorize(
  { keys: { secret, publishable } }: StripeState,
  { route, authorization, version }: ApiCall,
  fields: Fields,
): boolean {
  const [scheme, value = ''] = (authorization ?? '').split(' ');
  const basic =
    scheme?.toLowerCase() === 'basic' ? Buffer.from(value, 'base64').toString('utf8').split(':')[0] : undefined;
  const given = basic ?? (value || (typeof fields.key === 'string' ? fields.key : ''));
  if (given === secret) {
    checkVersion(version);
    return false;
  }
  if (given === publishable) {
    if (route.browser) return true;
    throw new ApiError(403, {
      type: 'invalid_request_error',
      code: 'secret_key_required',
      message: 'This API call cannot be made with a publishable API key. Please use a secret API key.',
    });
  }
  if (!given) {
    throw unauthorized(
      "You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth (e.g. 'Authorization: Bearer YOUR_SECRET_KEY').",
    );
  }
  throw unauthorized(
    `Invalid API Key provided: ${given.slice(0, 8)}${'*'.repeat(Math.max(0, given.length - 12))}${given.slice(-4)}`,
  );
}

const nameOf = ({ route }: ApiCall): string => `${route.method.toUpperCase()} ${route.path}`;

function execute(state: StripeState, call: ApiCall, fields: Fields, browser: boolean): unknown {
  const { account, lifecycle } = state;
  const params = new Params(fields);
  const expand = params.texts('expand') ?? [];
  params.allow('key');
  const result = call.route.run({ account, lifecycle, params, browser, id: call.id, nestedId: call.nestedId });
  params.finish();
  const wire = 'wire' in result ? result.wire : account.present(result as StripeObject, expand);
  const answered = browser ? forBrowser(wire as Wire) : wire;
  checkAnswer(nameOf(call), answered, { browser });
  return answered;
}

/** The fields of an intent that its browser may read. */
function forBrowser({ metadata: _metadata, customer: _customer, latest_charge: _charge, ...rest }: Wire): Wire {
  return rest;
}

export const unknownPath = (method: string, path: string): ApiError =>
  new ApiError(404, {
    type: 'invalid_request_error',
    message: `Unrecognized request URL (${method}: ${path}). If you are trying to list objects, remove the trailing slash. If you are trying to retrieve an object, make sure you passed a valid (non-empty) identifier in your code. The sandbox implements only what the newspaper uses.`,
  });

export type { Fault };
