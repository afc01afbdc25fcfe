/**
 * Calls of tests and of the sandbox's dashboard, besides Stripe's API:
 *
 *     GET    /_sandbox/state                      all objects, by kind: {"customer": [...], "subscription": [...], ...}
 *     GET    /_sandbox/clock                      {"now": Unix seconds, "ahead": seconds, "nextRenewal": Unix seconds | null}
 *     POST   /_sandbox/clock                      {"seconds"} | {"days"} | {"to": Unix seconds} | {"to": "next-renewal"}
 *     POST   /_sandbox/reset                      deletes everything and fills the account again
 *     GET    /_sandbox/faults                     the faults of the next calls
 *     POST   /_sandbox/faults                     {"path"?, "method"?, "status"?, "error"?, "when"?, "delay"?, "hang"?, "times"?} (faults.ts)
 *     DELETE /_sandbox/faults
 *     POST   /_sandbox/challenge                  {"intent": "pi_…" | "seti_…", "passed": boolean}: answers the bank's 3-D Secure challenge
 *     POST   /_sandbox/card                       {"customer", "number"}: gives a customer another card for the next charge
 *     PUT    /_sandbox/settings                   {"afterLastRetry": "cancel" | "unpaid" | "past_due"}
 *     PUT    /_sandbox/wallets                    {"applePay"?, "googlePay"?, "link"?: boolean}: which of them browsers have
 *     POST   /_sandbox/domains                    {"name"}: registers it for wallets, as the dashboard does
 *     DELETE /_sandbox/domains                    {"name"}
 *
 * Webhooks are below `/_sandbox/webhooks`: see webhooks.ts.
 * Advancing a clock renews, charges and retries.
 */
import type { StripeAccount } from './core/account.ts';
import { ApiError } from './core/errors.ts';
import type { Kind } from './core/model.ts';
import { attach, makeMethod } from './payments/methods.ts';
import type { StripeState } from './state.ts';
import { registerDomain, setWallets, unregisterDomain } from './wallets.ts';
import type { Webhooks } from './webhooks.ts';

/** Answers a request outside of the API, or returns `null`. */
export type RequestHandler = (request: Request, url: URL) => Promise<Response | null>;

type Body = Record<string, unknown>;

const clockOf = (state: StripeState) => ({
  now: state.now(),
  ahead: state.account.clockOffset(),
  nextRenewal: state.lifecycle.nextRenewal(),
});

/**
 * Moves the sandbox's own clock.
 * @returns its new state, or an error message
 */
export function moveClock(state: StripeState, body: Body): ReturnType<typeof clockOf> | string {
  const now = state.now();
  const to =
    body.to === 'next-renewal'
      ? state.lifecycle.nextRenewal()
      : typeof body.to === 'number'
        ? body.to
        : now + Number(body.seconds ?? 0) + Number(body.days ?? 0) * 86_400;
  if (to === null) return 'No subscription renews.';
  if (!Number.isFinite(to) || to < now) return 'The clock only moves forward.';
  state.advanceTo(Math.ceil(to));
  return clockOf(state);
}

/** Replaces the card that is charged, for this customer and all of the customer's subscriptions. */
export function changeCard({ account, now }: StripeState, { customer: id, number }: Body): string {
  return account.transaction(() => {
    const customer = account.need('customer', String(id));
    const expYear = new Date(now() * 1000).getUTCFullYear() + 3;
    const method = makeMethod(account, { number: String(number), expMonth: 12, expYear, cvc: '314' });
    attach(account, method, customer, true);
    customer.invoice_settings = { ...customer.invoice_settings, default_payment_method: method.id };
    account.store.touch(customer);
    for (const subscription of account.store.all('subscription')) {
      if (subscription.customer !== customer.id || subscription.default_payment_method === null) continue;
      subscription.default_payment_method = method.id;
      account.store.touch(subscription);
    }
    return method.id;
  });
}

/** Kinds that `/_sandbox/state` lists. */
const listed: readonly Kind[] = [
  ...(['customer', 'payment_method', 'product', 'price', 'coupon', 'promotion_code', 'discount'] as const),
  ...(['subscription', 'subscription_schedule', 'invoice', 'invoiceitem', 'invoice_payment'] as const),
  ...(['payment_intent', 'setup_intent', 'charge', 'refund', 'dispute', 'test_helpers.test_clock', 'event'] as const),
];

/** Calls below `/_sandbox`, by method and path. */
const calls: Record<string, (state: StripeState, body: Body) => Response> = {
  'GET /_sandbox/state': ({ account }) =>
    Response.json(
      Object.fromEntries(
        listed.map((kind) => [kind, [...account.store.all(kind)].map((thing) => account.present(thing))]),
      ),
    ),
  'GET /_sandbox/clock': (state) => Response.json(clockOf(state)),
  'POST /_sandbox/clock': (state, body) => {
    const moved = moveClock(state, body);
    return typeof moved === 'string' ? Response.json({ error: moved }, { status: 400 }) : Response.json(moved);
  },
  'POST /_sandbox/reset': (state) => {
    state.reset();
    return Response.json(clockOf(state));
  },
  'GET /_sandbox/faults': ({ faults }) => Response.json(faults.list()),
  'POST /_sandbox/faults': ({ faults }, body) => {
    faults.add(body);
    return Response.json(faults.list());
  },
  'DELETE /_sandbox/faults': ({ faults }) => {
    faults.clear();
    return Response.json([]);
  },
  'POST /_sandbox/challenge': (state, body) => {
    state.finishChallenge(String(body.intent), body.passed !== false);
    return Response.json({ done: true });
  },
  'POST /_sandbox/card': (state, body) => Response.json({ payment_method: changeCard(state, body) }),
  'PUT /_sandbox/settings': ({ account }, body) => {
    changeSettings(account, body);
    return Response.json(body);
  },
  'PUT /_sandbox/wallets': ({ account }, body) => {
    setWallets(account, body);
    return Response.json(body);
  },
  'POST /_sandbox/domains': ({ account }, body) => {
    registerDomain(account, String(body.name));
    return Response.json(body);
  },
  'DELETE /_sandbox/domains': ({ account }, body) => {
    unregisterDomain(account, String(body.name));
    return Response.json(body);
  },
};

/** How the account treats unpaid subscriptions: the dashboard's billing settings. */
function changeSettings({ store, transaction }: StripeAccount, settings: Body): void {
  transaction(() => {
    const present = store.find('setting', 'billing');
    if (!present) {
      store.add('setting', { id: 'billing', object: 'setting', ...settings });
      return;
    }
    store.touch(present);
    Object.assign(present, settings);
  });
}

/** Calls below `/_sandbox/webhooks`. */
async function answerWebhooks(webhooks: Webhooks | null, call: string, body: Body): Promise<Response | null> {
  if (!webhooks) return Response.json({ error: 'No webhook endpoint is configured.' }, { status: 409 });
  const list = () =>
    Response.json({ settings: webhooks.settings, waiting: webhooks.waiting(), deliveries: webhooks.list(200) });
  switch (call) {
    case 'GET /_sandbox/webhooks':
      return list();
    case 'PUT /_sandbox/webhooks':
      return Response.json(webhooks.set(body));
    case 'POST /_sandbox/webhooks/flush':
      await webhooks.flush();
      return list();
    case 'POST /_sandbox/webhooks/resend':
      webhooks.resend(body.event as string | undefined);
      return list();
    case 'POST /_sandbox/webhooks/settled': {
      const settled = await webhooks.settled(Number(body.timeout ?? 10_000));
      return Response.json({ settled }, { status: settled ? 200 : 504 });
    }
    default:
      return null;
  }
}

export const controls =
  (state: StripeState, webhooks: Webhooks | null): RequestHandler =>
  async (request, url) => {
    const call = `${request.method} ${url.pathname}`;
    if (!url.pathname.startsWith('/_sandbox/')) return null;
    const text = await request.text();
    const body = (text ? JSON.parse(text) : {}) as Body;
    try {
      state.lifecycle.runDueTasks();
      if (url.pathname.startsWith('/_sandbox/webhooks')) return await answerWebhooks(webhooks, call, body);
      return calls[call]?.(state, body) ?? null;
    } catch (error) {
      if (error instanceof ApiError) return Response.json({ error: error.message }, { status: error.status });
      throw error;
    }
  };
