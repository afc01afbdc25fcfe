/** The calls as msw handlers: `setupServer(...stripeHandlers(state))` in tests, served over HTTP by stripe.ts. */
import { getResponse, type HttpHandler, HttpResponse, http } from 'msw';
import { token } from './core/ids.ts';
import type { Fault } from './faults.ts';
import { hashRequest } from './idempotency.ts';
import type { Route } from './resources/route.ts';
import { answer, routes, type StripeState } from './state.ts';

/** One handler per call. Their paths begin with `*`, so that they answer for any host that the SDK uses. */
export function stripeHandlers(state: StripeState): HttpHandler[] {
  return routes.map((route) => handlerOf(state, route));
}

/** The first segment of a path after the version. */
const resourceOf = (path: string): string => path.split('/')[2] ?? '';

const routesByResource = Map.groupBy(routes, ({ path }) => resourceOf(path));

/**
 * The handlers by the first part of the path, so that a server doesn't search all of them. They are made at the first request for
 * them: msw reads a stack trace for each, and most tests call few resources.
 */
export function handlersByResource(state: StripeState): (pathname: string) => readonly HttpHandler[] {
  const groups = new Map<string, readonly HttpHandler[]>();
  return (pathname) => {
    const name = resourceOf(pathname);
    let group = groups.get(name);
    if (!group) {
      group = (routesByResource.get(name) ?? []).map((route) => handlerOf(state, route));
      groups.set(name, group);
    }
    return group;
  };
}

/**
 * A `fetch` that calls this Stripe without a network, at any host. A test needs no msw sockets with it.
 *
 * @param onRequest called before each answer
 */
export function stripeFetch(
  state: StripeState,
  onRequest: (method: string, path: string, body: string) => void = () => {},
): typeof fetch {
  const handlers = handlersByResource(state);
  return async (input, init) => {
    const request = new Request(input, init);
    const { pathname } = new URL(request.url);
    onRequest(request.method, pathname, await request.clone().text());
    // The caller's own signal: a request's signal is garbage-collected with the request when nothing else refers to it, and
    // then never aborts.
    const signal = init?.signal ?? request.signal;
    const aborted = new Promise<never>((_, reject) => {
      const abort = () => reject(signal.reason);
      if (signal.aborted) abort();
      else signal.addEventListener('abort', abort, { once: true });
    });
    const answer = await Promise.race([getResponse([...handlers(pathname)], request), aborted]);
    // A fault closes the connection, or Stripe has no such path.
    if (!answer || answer.type === 'error') throw new TypeError('fetch failed');
    return answer;
  };
}

const handlerOf = (state: StripeState, route: Route): HttpHandler =>
  http[route.method](`*${route.path}`, async ({ request, params }) => {
    const url = new URL(request.url);
    const fault = state.faults.take(request.method, url.pathname);
    const key = request.headers.get('idempotency-key');
    const body = await request.text();
    /** Stripe replays its own 500 responses for the same key (docs.stripe.com/api/idempotent_requests). */
    const keepFailure = async (failure: Response): Promise<Response> => {
      if (key === null || route.method !== 'post' || failure.status !== 500) return failure;
      const answered = { status: 500, body: await failure.clone().text() };
      const requestHash = hashRequest(route.method, url.pathname, body);
      state.account.transaction(() => state.idempotency.store(key, requestHash, answered));
      return failure;
    };
    if (fault && fault.when !== 'after') {
      const reserved = key !== null && state.idempotency.reserve(key);
      const failure = await applyFault(fault).finally(() => reserved && state.idempotency.finish(key));
      if (failure) return keepFailure(failure);
    }
    const {
      status,
      headers,
      body: text,
    } = answer(state, {
      route,
      path: url.pathname,
      query: url.search.slice(1),
      id: String(params.id ?? ''),
      nestedId: String(params.nestedId ?? ''),
      authorization: request.headers.get('authorization'),
      version: request.headers.get('stripe-version'),
      idempotencyKey: key,
      body,
    });
    if (fault?.when === 'after') {
      const failure = await applyFault(fault);
      if (failure) return keepFailure(failure);
    }
    return new HttpResponse(text, { status, headers });
  });

const unknownFailure = { type: 'api_error', message: 'An unknown error occurred (requested at /_sandbox/faults).' };

/** docs.stripe.com/rate-limits */
const rateLimited = {
  type: 'invalid_request_error',
  code: 'rate_limit',
  message:
    'Request rate limit exceeded. You can learn more about rate limits here https://stripe.com/docs/rate-limits.',
  doc_url: 'https://stripe.com/docs/error-codes/rate-limit',
};

/** Applies a fault: a delay, then a failure if it has one. */
async function applyFault({ delay = 0, hang, status, error }: Fault): Promise<Response | null> {
  if (hang) return new Promise(() => {});
  if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
  if (status === undefined) return null;
  if (status === 0) return HttpResponse.error();
  return HttpResponse.json(
    { error: error ?? (status === 429 ? rateLimited : unknownFailure) },
    {
      status,
      headers: {
        'request-id': `req_${token(14)}`,
        ...(status === 429 && { 'stripe-rate-limited-reason': 'global-rate', 'stripe-should-retry': 'true' }),
      },
    },
  );
}
