/**
 * A process of the site that a step of the model can end: its connections to the sandbox's Stripe and to its database count calls
 * and commits, one of which fails as the step says. An ended process reaches neither; what it did before remains.
 */
import type { KyselyPlugin } from 'kysely';
import Stripe from 'stripe';
import type { Route } from '../../../sandbox/stripe/resources/route.ts';
import { answer, routes, type StripeState } from '../../../sandbox/stripe/state.ts';
import { apiVersion } from '../../../src/lib/billing/engine/stripe.server.ts';
import type { Database } from '../../../src/lib/database.ts';

/** What goes wrong with one call or commit of a step. */
export const troubles = [
  /** The process ends before the call reaches Stripe, or before the commit. */
  'dies before',
  /** It ends after Stripe has executed the call, or after the commit. */
  'dies after',
  /** Stripe fails without executing the call, and repeats the failure for the same key. */
  'fails before',
  /** Stripe executes the call and fails anyway, each time. */
  'fails after',
  /** The call doesn't reach Stripe, nor does its retry. */
  'cut before',
  /** Stripe executes the call, and the response is lost, twice. */
  'cut after',
] as const;
export type Trouble = (typeof troubles)[number];

export interface Fault {
  /** Number of the call or commit within a step, from 0. */
  readonly at: number;
  readonly trouble: Trouble;
}

export class ProcessEnded extends Error {
  constructor() {
    super('This process has ended.');
    this.name = 'ProcessEnded';
  }
}

/** Stripe's own failures, by idempotency key; they remain when a process ends. */
export type Failures = Map<string, string>;

export class ProcessLife {
  #fault: Fault | null = null;
  #count = 0;
  #repeated: Trouble | null = null;
  ended = false;

  /** Restarts the count of calls and commits. */
  startStep(fault: Fault | null): void {
    this.#fault = fault;
    this.#count = 0;
    this.#repeated = null;
  }

  /** @returns what goes wrong with this call or commit @throws {ProcessEnded} */
  next(what: 'call' | 'commit'): Trouble | null {
    if (this.ended) throw new ProcessEnded();
    if (what === 'call' && this.#repeated) {
      const again = this.#repeated;
      this.#repeated = null;
      return again;
    }
    const fault = this.#fault;
    if (!fault || this.#count++ < fault.at) return null;
    // A database doesn't fail halfway, so a fault of Stripe waits for the next call.
    if (what === 'commit' && !fault.trouble.startsWith('dies')) return null;
    this.#fault = null;
    // A broken connection is still broken when the library retries.
    if (fault.trouble.startsWith('cut')) this.#repeated = fault.trouble;
    return fault.trouble;
  }

  end(): never {
    this.ended = true;
    throw new ProcessEnded();
  }
}

interface MatchedRoute {
  readonly route: Route;
  readonly id: string;
  readonly nestedId: string;
}

const patterns = routes.map((route) => ({
  route,
  pattern: new RegExp(`^${route.path.replace(':id', '(?<id>[^/]+)').replace(':nestedId', '(?<nestedId>[^/]+)')}$`),
}));

function find(method: string, path: string): MatchedRoute {
  for (const { route, pattern } of patterns) {
    const match = route.method === method ? pattern.exec(path) : null;
    if (match) return { route, id: match.groups?.id ?? '', nestedId: match.groups?.nestedId ?? '' };
  }
  throw new Error(`The sandbox's Stripe has no call ${method} ${path}`);
}

const failure = JSON.stringify({ error: { type: 'api_error', message: 'Something went wrong on our end.' } });

/** The real SDK, whose requests the sandbox's Stripe answers within this process. */
export function stripeClient(state: StripeState, life: ProcessLife, failures: Failures): Stripe {
  const respond = (url: URL, method: string, headers: Headers, body: string): Response => {
    const { route, id, nestedId } = find(method, url.pathname);
    const {
      status,
      headers: responseHeaders,
      body: text,
    } = answer(state, {
      route,
      id,
      nestedId,
      path: url.pathname,
      query: url.search.slice(1),
      body,
      authorization: headers.get('authorization'),
      idempotencyKey: headers.get('idempotency-key'),
      version: headers.get('stripe-version'),
    });
    return new Response(text, { status, headers: responseHeaders });
  };
  const fetchWithFaults = async (input: unknown, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(String(input));
    const method = (init.method ?? 'GET').toLowerCase();
    const headers = new Headers(init.headers);
    const body = typeof init.body === 'string' ? init.body : '';
    const key = method === 'get' ? null : headers.get('idempotency-key');
    const trouble = life.next('call');
    const failed = key === null ? undefined : failures.get(key);
    if (failed !== undefined) return new Response(failed, { status: 500 });
    if (trouble === 'dies before') life.end();
    if (trouble === 'cut before') throw new TypeError('The connection was cut.');
    if (trouble !== 'fails before') {
      const response = respond(url, method, headers, body);
      if (trouble === 'dies after') life.end();
      if (trouble === 'cut after') throw new TypeError('The connection was cut.');
      if (trouble === null) return response;
    }
    if (key !== null) failures.set(key, failure);
    return new Response(failure, { status: 500 });
  };
  const client = new Stripe(state.keys.secret, {
    apiVersion,
    host: 'stripe.test',
    protocol: 'http',
    maxNetworkRetries: 1,
    telemetry: false,
    timeout: 5000,
    httpClient: Stripe.createFetchHttpClient(fetchWithFaults as typeof fetch),
  });
  // The retry follows without delay.
  Object.assign(client, { getInitialNetworkRetryDelay: () => 0, getMaxNetworkRetryDelay: () => 0 });
  return client;
}

const writes = ['InsertQueryNode', 'UpdateQueryNode', 'DeleteQueryNode'];

/** The same database for a process that may end at any commit. */
export function databaseOfProcess(database: Database, life: ProcessLife): Database {
  const after = new WeakSet<object>();
  const plugin: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      const trouble = writes.includes(node.kind) ? life.next('commit') : null;
      if (life.ended) throw new ProcessEnded();
      if (trouble === 'dies before') life.end();
      if (trouble === 'dies after') after.add(queryId);
      return node;
    },
    async transformResult({ result, queryId }) {
      if (after.has(queryId)) life.end();
      if (life.ended) throw new ProcessEnded();
      return result;
    },
  };
  return {
    ...database,
    db: database.db.withPlugin(plugin),
    async transaction(work) {
      if (life.ended) throw new ProcessEnded();
      let trouble: Trouble | null = null;
      const result = await database.transaction(async (tx) => {
        const made = await work(tx);
        trouble = life.next('commit');
        if (trouble === 'dies before') life.end();
        return made;
      });
      if (trouble === 'dies after') life.end();
      return result;
    },
  };
}
