/**
 * What tests, and the page, ask of the sandbox's Stripe:
 *
 *     GET    /_sandbox/state                      everything, by kind: {"customer": [...], "subscription": [...], ...}
 *     GET    /_sandbox/clock                      {"now": Unix seconds, "ahead": seconds, "nextRenewal": Unix seconds | null}
 *     POST   /_sandbox/clock                      {"seconds"} | {"days"} | {"to": Unix seconds} | {"to": "next-renewal"}
 *     POST   /_sandbox/reset                      forgets everything, sells the same again
 *     GET    /_sandbox/faults                     what goes wrong with the next calls
 *     POST   /_sandbox/faults                     {"path"?, "method"?, "status"?, "error"?, "when"?, "delay"?, "hang"?, "times"?} (faults.ts)
 *     DELETE /_sandbox/faults
 *     POST   /_sandbox/challenge                  {"intent": "pi_…" | "seti_…", "passed": boolean}: the bank's question answered
 *     POST   /_sandbox/card                       {"customer", "number"}: gives a customer another card for the next charge
 *     PUT    /_sandbox/settings                   {"afterLastRetry": "cancel" | "unpaid" | "past_due"}
 *     PUT    /_sandbox/wallets                    {"applePay"?, "googlePay"?, "link"?: boolean}: which of them readers' browsers have
 *     POST   /_sandbox/domains                    {"name"}: registers it for wallets, as the dashboard does
 *     DELETE /_sandbox/domains                    {"name"}
 *
 * Webhooks are below `/_sandbox/webhooks`: see webhooks.ts.
 * Advancing a clock renews, charges and retries.
 */
import { ApiError } from './core/errors.ts';
import { attach, makeMethod } from './payments/methods.ts';
import type { StripeState } from './state.ts';
import { registerDomain, setWallets, unregisterDomain } from './wallets.ts';
import type { Webhooks } from './webhooks.ts';

export type Inside = (request: Request, url: URL) => Promise<Response | null>;

type Body = Record<string, unknown>;

const clockOf = (state: StripeState) => ({
  now: state.now(),
  ahead: state.account.ahead(),
  nextRenewal: state.lifecycle.nextRenewal(),
});

/**
 * Moves the sandbox's own clock.
 * @returns where it stands, or what is wrong with the wish
 */
export function moveClock(state: StripeState, body: Body): ReturnType<typeof clockOf> | string {
  const now = state.now();
  const to =
    body.to === 'next-renewal'
      ? state.lifecycle.nextRenewal()
      : typeof body.to === 'number'
        ? body.to
        : now + Number(body.seconds ?? 0) + Number(body.days ?? 0) * 86_400;
  if (to === null) return 'Nothing is to be renewed.';
  if (!Number.isFinite(to) || to < now) return 'The clock goes forwards only.';
  state.advanceTo(Math.ceil(to));
  return clockOf(state);
}

/** Another card becomes the one that is charged, for this customer and all of the customer's subscriptions. */
export function changeCard({ account, now }: StripeState, { customer: id, number }: Body): string {
  return account.run(() => {
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

export function controls(state: StripeState, webhooks: Webhooks | null): Inside {
  const { account, faults } = state;

  function everything(): Response {
    const kinds = [
      ...(['customer', 'payment_method', 'product', 'price', 'coupon', 'promotion_code', 'discount'] as const),
      ...([
        'subscription',
        'subscription_schedule',
        'invoice',
        'invoiceitem',
        'invoice_payment',
        'payment_intent',
      ] as const),
      ...(['setup_intent', 'charge', 'refund', 'dispute', 'test_helpers.test_clock', 'event'] as const),
    ];
    return Response.json(
      Object.fromEntries(
        kinds.map((kind) => [kind, [...account.store.all(kind)].map((thing) => account.present(thing))]),
      ),
    );
  }

  async function hooks(call: string, body: Body): Promise<Response | null> {
    if (!webhooks) return Response.json({ error: 'No site hears of events here.' }, { status: 409 });
    const told = () =>
      Response.json({ settings: webhooks.settings, waiting: webhooks.waiting(), deliveries: webhooks.list(200) });
    if (call === 'GET /_sandbox/webhooks') return told();
    if (call === 'PUT /_sandbox/webhooks') return Response.json(webhooks.set(body));
    if (call === 'POST /_sandbox/webhooks/flush') await webhooks.flush();
    else if (call === 'POST /_sandbox/webhooks/resend') webhooks.resend(body.event as string | undefined);
    else if (call === 'POST /_sandbox/webhooks/settled') {
      const settled = await webhooks.settled(Number(body.timeout ?? 10_000));
      return Response.json({ settled }, { status: settled ? 200 : 504 });
    } else return null;
    return told();
  }

  return async (request, url) => {
    const call = `${request.method} ${url.pathname}`;
    if (!url.pathname.startsWith('/_sandbox/')) return null;
    const text = await request.text();
    const body = (text ? JSON.parse(text) : {}) as Body;
    try {
      state.lifecycle.catchUp();
      if (url.pathname.startsWith('/_sandbox/webhooks')) return await hooks(call, body);
      switch (call) {
        case 'GET /_sandbox/state':
          return everything();
        case 'GET /_sandbox/clock':
          return Response.json(clockOf(state));
        case 'POST /_sandbox/clock': {
          const moved = moveClock(state, body);
          return typeof moved === 'string' ? Response.json({ error: moved }, { status: 400 }) : Response.json(moved);
        }
        case 'POST /_sandbox/reset':
          state.reset();
          return Response.json(clockOf(state));
        case 'GET /_sandbox/faults':
          return Response.json(faults.list());
        case 'POST /_sandbox/faults':
          faults.add(body);
          return Response.json(faults.list());
        case 'DELETE /_sandbox/faults':
          faults.clear();
          return Response.json([]);
        case 'POST /_sandbox/challenge':
          state.finishChallenge(String(body.intent), body.passed !== false);
          return Response.json({ done: true });
        case 'POST /_sandbox/card':
          return Response.json({ payment_method: changeCard(state, body) });
        case 'PUT /_sandbox/settings': {
          const there = account.store.find('setting', 'billing');
          if (there)
            account.run(() => {
              account.store.touch(there);
              Object.assign(there, body);
            });
          else account.run(() => account.store.add('setting', { id: 'billing', object: 'setting', ...body }));
          return Response.json(body);
        }
        case 'PUT /_sandbox/wallets':
          setWallets(account, body);
          return Response.json(body);
        case 'POST /_sandbox/domains':
        case 'DELETE /_sandbox/domains':
          (request.method === 'POST' ? registerDomain : unregisterDomain)(account, String(body.name));
          return Response.json(body);
        default:
          return null;
      }
    } catch (error) {
      if (error instanceof ApiError) return Response.json({ error: error.message }, { status: error.status });
      throw error;
    }
  };
}
