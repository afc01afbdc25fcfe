import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createPayment, type Options, type Purchase } from './payment.ts';
import { bought, granted, refusal, subscriptionOf } from './testing.ts';

const purchase: Purchase = {
  productId: 'sun-reader',
  planId: 'reader-yearly',
  coupon: null,
  expected: 12_000,
  prorationDate: null,
  currency: 'usd',
  address: null,
};
const failed = 'Payment has failed - please check your card details, or try another payment method.';

let errors: ReturnType<typeof vi.spyOn>;
beforeEach(() => {
  errors = vi.spyOn(console, 'error').mockImplementation(() => {});
});
afterEach(() => vi.restoreAllMocks());

function fixture(more: Partial<{ [Name in keyof Options['calls']]: unknown }> = {}) {
  const calls = {
    subscribe: vi.fn(async () => granted(bought())),
    switchPlan: vi.fn(async () => granted({ ...bought(), effective: 'now' })),
    confirmation: vi.fn(async () => granted({ grant_id: 'grant-1' })),
    subscription: vi.fn(async () => granted({ subscription: subscriptionOf() })),
    ...more,
  };
  const card = {
    paymentMethod: vi.fn(async () => ({ ok: true as const, value: 'pm_1' })),
    authenticate: vi.fn(async () => ({ ok: true as const, value: null })),
  };
  let open: { id: string; terms: string } | null = null;
  let made = 0;
  const attempts = {
    begin: vi.fn((terms: string) => {
      if (open?.terms !== terms) open = { id: `attempt-${++made}`, terms };
      return open.id;
    }),
    end: vi.fn(() => {
      open = null;
    }),
  };
  const on = { onDone: vi.fn(), onSignedOut: vi.fn(), onSum: vi.fn(), onStale: vi.fn() };
  const payment = createPayment({ calls, attempts, lookupPauses: [0, 0, 0], ...on } as unknown as Options);
  return { payment, calls, card, attempts, ...on, state: () => payment.$state.get(), isOpen: () => open !== null };
}

describe('buying', () => {
  it('sends the card, plan, displayed total and attempt id, and finishes when the subscription appears', async () => {
    const { payment, calls, card, onDone, state, isOpen } = fixture();
    await payment.buy({ ...purchase, coupon: 'SUNSHINE20', expected: 9600 }, card);
    expect(calls.subscribe).toHaveBeenCalledExactlyOnceWith({
      payment_method: 'pm_1',
      product_id: 'sun-reader',
      plan_id: 'reader-yearly',
      discount_code: 'SUNSHINE20',
      attempt: 'attempt-1',
      expected: 9600,
      currency: 'usd',
    });
    expect(onDone).toHaveBeenCalledExactlyOnceWith(subscriptionOf());
    expect(state()).toEqual({ busy: null, error: null, notice: null });
    expect(isOpen()).toBe(false);
    expect(errors).not.toHaveBeenCalled();
  });

  it('sends one request for several clicks', async () => {
    const gate = Promise.withResolvers<unknown>();
    const { payment, calls, card } = fixture({ subscribe: vi.fn(() => gate.promise) });
    const first = payment.buy(purchase, card);
    await payment.buy(purchase, card);
    await vi.waitFor(() => expect(calls.subscribe).toHaveBeenCalledOnce());
    await payment.buy(purchase, card);
    gate.resolve(granted(bought()));
    await first;
    expect(calls.subscribe).toHaveBeenCalledOnce();
    expect(card.paymentMethod).toHaveBeenCalledOnce();
  });

  it('sends no request when the card form is incomplete', async () => {
    const { payment, calls, card, state, attempts } = fixture();
    await payment.buy(purchase, {
      ...card,
      paymentMethod: async () => ({ ok: false, message: 'Incomplete', shown: true }),
    });
    expect(state()).toEqual({ busy: null, error: null, notice: null });
    await payment.buy(purchase, {
      ...card,
      paymentMethod: async () => ({ ok: false, message: 'Not now.', shown: false }),
    });
    expect(state().error).toEqual({ text: 'Not now.', detail: null });
    expect(calls.subscribe).not.toHaveBeenCalled();
    expect(attempts.begin).not.toHaveBeenCalled();
  });

  it('waits until the subscription appears', async () => {
    const answers = [granted({ subscription: null }), refusal(0), granted({ subscription: subscriptionOf() })];
    const { payment, calls, card, onDone } = fixture({ subscription: vi.fn(async () => answers.shift()) });
    await payment.buy(purchase, card);
    expect(calls.subscription).toHaveBeenCalledTimes(3);
    expect(onDone).toHaveBeenCalledOnce();
  });

  it('finishes when a grant was given even if the subscription cannot be read', async () => {
    const { payment, card, onDone } = fixture({ subscription: async () => refusal(0) });
    await payment.buy(purchase, card);
    expect(onDone).toHaveBeenCalledExactlyOnceWith(null);
  });
});

describe('the bank’s authentication', () => {
  const asks = {
    subscribe: vi.fn(async () =>
      granted(bought({ paymentIntentStatus: 'requires_action', clientSecret: 'pi_1_secret_1', grant_id: null })),
    ),
  };

  it('is awaited, and the server then confirms the subscription', async () => {
    const { payment, calls, card, onDone } = fixture(asks);
    const seen: (string | null | undefined)[] = [];
    payment.$state.subscribe(({ busy }) => {
      if (seen.at(-1) !== busy) seen.push(busy);
    });
    await payment.buy(purchase, card);
    expect(card.authenticate).toHaveBeenCalledExactlyOnceWith('pi_1_secret_1');
    expect(calls.confirmation).toHaveBeenCalledExactlyOnceWith('sub_1');
    expect(onDone).toHaveBeenCalledOnce();
    expect(seen).toEqual([null, 'paying', 'confirming', 'checking', null]);
  });

  it('that fails shows the card company’s reason and ends the attempt', async () => {
    const { payment, calls, card, onDone, state, isOpen } = fixture(asks);
    const no = { ok: false as const, message: 'We are unable to authenticate your payment method.', shown: false };
    await payment.buy(purchase, { ...card, authenticate: async () => no });
    expect(state()).toEqual({ busy: null, error: { text: failed, detail: no.message }, notice: null });
    expect(calls.confirmation).not.toHaveBeenCalled();
    expect(onDone).not.toHaveBeenCalled();
    expect(isOpen()).toBe(false);
  });

  it('without a secret shows an error and is logged', async () => {
    const { payment, card, state } = fixture({
      subscribe: async () =>
        granted(bought({ paymentIntentStatus: 'requires_action', clientSecret: null, grant_id: null })),
    });
    await payment.buy(purchase, card);
    expect(state().error?.text).toBe('Something went wrong. Please try again.');
    expect(errors).toHaveBeenCalledExactlyOnceWith('Paywall: unknown confirmation url');
  });

  it('is enough even if the server’s confirmation is cut off', async () => {
    const { payment, card, onDone } = fixture({ ...asks, confirmation: async () => refusal(0) });
    await payment.buy(purchase, card);
    expect(onDone).toHaveBeenCalledOnce();
  });
});

describe('responses to a purchase', () => {
  it('requires_payment_method is logged and shows a message', async () => {
    const { payment, card, state, onDone } = fixture({
      subscribe: async () => granted(bought({ paymentIntentStatus: 'requires_payment_method', grant_id: null })),
    });
    await payment.buy(purchase, card);
    expect(state().error).toEqual({ text: failed, detail: null });
    expect(errors).toHaveBeenCalledExactlyOnceWith('Paywall: payment method required');
    expect(onDone).not.toHaveBeenCalled();
  });

  it('an unknown payment type is logged', async () => {
    const { payment, card, state, onDone } = fixture({
      subscribe: async () => granted({ ...bought(), paymentType: 'one-off' }),
    });
    await payment.buy(purchase, card);
    expect(state().error?.text).toBe('Something went wrong. Please try again.');
    expect(errors).toHaveBeenCalledExactlyOnceWith('Paywall: unknown payment type one-off');
    expect(onDone).not.toHaveBeenCalled();
  });

  it('a missing grant_id is logged, and the payment is reported as still being processed', async () => {
    const { payment, card, state, onDone } = fixture({
      subscribe: async () => granted(bought({ paymentIntentStatus: 'processing', grant_id: null })),
      subscription: async () => granted({ subscription: null }),
    });
    await payment.buy(purchase, card);
    expect(errors).toHaveBeenCalledExactlyOnceWith('Paywall: generic failure: processing, and no grant_id');
    expect(onDone).not.toHaveBeenCalled();
    expect(state().notice).toContain('Your bank is still processing the payment.');
  });

  it.each([400, 402, 403, 404, 422])(
    '%i is shown as a failed payment with the server’s reason, and ends the attempt',
    async (status) => {
      const { payment, card, state, isOpen } = fixture({
        subscribe: async () => refusal(status, 'Your card was declined.', { code: 'card_declined' }),
      });
      await payment.buy(purchase, card);
      expect(state().error).toEqual({ text: failed, detail: 'Your card was declined.' });
      expect(isOpen()).toBe(false);
      expect(errors).toHaveBeenCalledExactlyOnceWith(`Paywall: payment refused (${status}, card_declined)`);
    },
  );

  it.each([
    [400, 1],
    [402, 0],
  ])('%i with an expired coupon requests a new total %i times', async (status, times) => {
    const { payment, card, onStale } = fixture({
      subscribe: async () => refusal(status, 'This coupon has expired.', { code: 'coupon_expired' }),
    });
    await payment.buy(purchase, card);
    expect(onStale).toHaveBeenCalledTimes(times);
  });

  it('the spec’s sentence is shown once when the server also says it', async () => {
    const { payment, card, state } = fixture({ subscribe: async () => refusal(402, failed) });
    await payment.buy(purchase, card);
    expect(state().error).toEqual({ text: failed, detail: null });
  });

  it('401 asks the reader to sign in again', async () => {
    const { payment, card, onSignedOut, state } = fixture({ subscribe: async () => refusal(401) });
    await payment.buy(purchase, card);
    expect(onSignedOut).toHaveBeenCalledOnce();
    expect(state().busy).toBeNull();
  });

  it('409 with another total passes it on and ends the attempt', async () => {
    const { payment, card, onSum, state, isOpen } = fixture({
      subscribe: async () => refusal(409, 'Other sum', { due: 9600 }),
    });
    await payment.buy(purchase, card);
    expect(onSum).toHaveBeenCalledExactlyOnceWith(9600);
    expect(state()).toEqual({ busy: null, error: null, notice: null });
    expect(isOpen()).toBe(false);
  });

  it('409 without a total finishes when the plan was bought elsewhere', async () => {
    const { payment, card, onDone } = fixture({
      subscribe: async () => refusal(409, 'You are paying in another tab.'),
    });
    await payment.buy(purchase, card);
    expect(onDone).toHaveBeenCalledExactlyOnceWith(subscriptionOf());
  });

  it('409 without a total shows the server’s message when nothing was bought', async () => {
    const { payment, card, state, onStale } = fixture({
      subscribe: async () => refusal(409, 'You are paying in another tab.'),
      subscription: async () => granted({ subscription: null }),
    });
    await payment.buy(purchase, card);
    expect(state().error?.text).toBe('You are paying in another tab.');
    expect(onStale).toHaveBeenCalledOnce();
  });

  it('429 shows the server’s message and keeps the attempt', async () => {
    const { payment, card, state, isOpen } = fixture({ subscribe: async () => refusal(429, 'Wait a minute.') });
    await payment.buy(purchase, card);
    expect(state().error?.text).toBe('Wait a minute.');
    expect(isOpen()).toBe(true);
  });
});

describe('a purchase with an unknown outcome', () => {
  it('is looked up and not sent again', async () => {
    const { payment, card, onDone, calls } = fixture({ subscribe: vi.fn(async () => refusal(0)) });
    await payment.buy(purchase, card);
    expect(onDone).toHaveBeenCalledExactlyOnceWith(subscriptionOf());
    expect(calls.subscribe).toHaveBeenCalledOnce();
  });

  it('keeps its attempt id, so that the next try is the same purchase', async () => {
    const subscribe = vi.fn(async () => refusal(0));
    const { payment, card, state } = fixture({ subscribe, subscription: async () => refusal(0) });
    await payment.buy(purchase, card);
    expect(state().error?.text).toBe('We couldn’t reach the server. Check your connection and try again.');
    expect(state().error?.detail).toContain('you won’t be charged twice');
    await payment.buy(purchase, card);
    const numbers = subscribe.mock.calls.map(([body]: unknown[]) => (body as { attempt: string }).attempt);
    expect(numbers).toEqual(['attempt-1', 'attempt-1']);
  });

  it('is reported as not gone through when there is no subscription', async () => {
    const { payment, card, state, isOpen } = fixture({
      subscribe: async () => refusal(0),
      subscription: async () => granted({ subscription: null }),
    });
    await payment.buy(purchase, card);
    expect(state().error?.text).toBe('Your payment hasn’t gone through yet.');
    expect(isOpen()).toBe(true);
  });

  it.each([500, 502, 503, 504])(
    'is reported as failed after %i, and keeps its attempt for the next try',
    async (status) => {
      const { payment, card, state, isOpen } = fixture({
        subscribe: async () => refusal(status),
        subscription: async () => granted({ subscription: null }),
      });
      await payment.buy(purchase, card);
      expect(state().error?.text).toBe(failed);
      expect(isOpen()).toBe(true);
    },
  );

  it('is not confirmed by a subscription to another plan', async () => {
    const { payment, card, onDone } = fixture({
      subscribe: async () => refusal(0),
      subscription: async () => granted({ subscription: subscriptionOf('reader-monthly') }),
    });
    await payment.buy(purchase, card);
    expect(onDone).not.toHaveBeenCalled();
  });

  it('is not confirmed by a canceled subscription', async () => {
    const { payment, card, onDone } = fixture({
      subscribe: async () => refusal(0),
      subscription: async () => granted({ subscription: subscriptionOf('reader-yearly', { status: 'canceled' }) }),
    });
    await payment.buy(purchase, card);
    expect(onDone).not.toHaveBeenCalled();
  });

  it('is looked up when the page is opened again', async () => {
    const { payment, onDone } = fixture();
    expect(await payment.recover({ planId: 'reader-yearly' })).toBe(true);
    expect(onDone).toHaveBeenCalledOnce();
    const other = fixture({ subscription: async () => granted({ subscription: null }) });
    expect(await other.payment.recover({ planId: 'reader-yearly' })).toBe(false);
    expect(other.state().busy).toBeNull();
  });
});

describe('changing the plan', () => {
  const upgrade: Purchase = {
    ...purchase,
    productId: 'sun-member',
    planId: 'member-yearly',
    expected: 8022,
    prorationDate: 1_795_000_000,
    subscriptionId: 'sub_1',
  };

  it('sends the plan, the displayed total, the proration date and the subscription', async () => {
    const { payment, calls, card, onDone } = fixture({
      subscription: async () => granted({ subscription: subscriptionOf('member-yearly') }),
    });
    await payment.change(upgrade, card);
    expect(calls.switchPlan).toHaveBeenCalledExactlyOnceWith({
      planId: 'member-yearly',
      prorationDate: 1_795_000_000,
      subscriptionId: 'sub_1',
      expected: 8022,
      attempt: 'attempt-1',
    });
    expect(card.paymentMethod).not.toHaveBeenCalled();
    expect(onDone).toHaveBeenCalledOnce();
  });

  it('finishes at once when the change takes effect at the renewal', async () => {
    const { payment, calls, card, onDone } = fixture({
      switchPlan: vi.fn(async () => granted({ ...bought({ grant_id: null }), effective: 'renewal' })),
    });
    await payment.change({ ...upgrade, expected: 0 }, card);
    expect(onDone).toHaveBeenCalledExactlyOnceWith(null);
    expect(calls.subscription).not.toHaveBeenCalled();
  });

  const lowered: Purchase = { ...purchase, expected: 0, subscriptionId: 'sub_1', atRenewal: true };
  const { planId } = lowered;
  const planned = subscriptionOf(planId, { next: { planId, planName: planId, productId: 'sun-reader', print: false } });
  it.each([
    ['fails', subscriptionOf(planId), false],
    ['is planned, and its answer is lost,', planned, true],
  ])(
    'of the present plan at a lower price is done only if it is planned (one that %s)',
    async (_, subscription, done) => {
      const { payment, card, onDone, state, isOpen } = fixture({
        switchPlan: async () => refusal(503),
        subscription: async () => granted({ subscription }),
      });
      await payment.change(lowered, card);
      expect(onDone.mock.calls).toEqual(done ? [[subscription]] : []);
      expect([state().error === null, isOpen()]).toEqual([done, !done]);
      expect(await payment.recover({ planId, atRenewal: true })).toBe(done);
    },
  );

  it('lets the bank authenticate, and confirms the change afterward', async () => {
    const { payment, calls, card } = fixture({
      switchPlan: vi.fn(async () =>
        granted({
          ...bought({ paymentIntentStatus: 'requires_action', clientSecret: 'pi_2_secret', grant_id: null }),
          effective: 'now',
        }),
      ),
      subscription: async () => granted({ subscription: subscriptionOf('member-yearly') }),
    });
    await payment.change(upgrade, card);
    expect(card.authenticate).toHaveBeenCalledExactlyOnceWith('pi_2_secret');
    expect(calls.confirmation).toHaveBeenCalledOnce();
  });
});
