/** Fakes for tests of the paywall: prices, quotes, responses, and a Stripe that responds as the test tells it to. */
import type { Stripe } from '@stripe/stripe-js';
import { vi } from 'vitest';
import type { PlansAnswer, Price, QuoteAnswer, SubscribeAnswer, Subscription } from '../../lib/billing/schema.ts';
import type { Reply } from '../../lib/http/ask.ts';

export const granted = <T>(value: T): Reply<T> => ({ ok: true, status: 200, value });
export const refusal = (status: number, message: string | null = null, body: object = {}): Reply<never> => ({
  ok: false,
  status,
  message,
  retryAfter: null,
  suggestedEmail: null,
  body: { ...(message !== null && { message }), ...body },
});

export function price(planId: string, amount: number, more: Partial<Price> = {}): Price {
  const month = planId.includes('monthly');
  const product = planId.startsWith('member') ? 'sun-member' : 'sun-reader';
  return {
    id: `price_${planId}`,
    name: planId,
    unit_amount: amount,
    currency: 'usd',
    recurring: { interval: month ? 'month' : 'year', interval_count: 1 },
    zephrPlanId: planId,
    pennyHeading: null,
    pennySubheading: null,
    promotion: null,
    print: false,
    product: {
      id: `prod_${product}`,
      name: product === 'sun-member' ? 'Sun Member' : 'Sun Reader',
      metadata: { zephr_product_id: product },
    },
    ...more,
  };
}

export const yearly = price('reader-yearly', 12_000);
export const monthly = price('reader-monthly', 1200);
export const penny = price('reader-penny', 12_000, {
  pennyHeading: 'Read the Sun for a PENNY A DAY',
  pennySubheading: 'Full dues ($120/year) billed after 60 days',
  promotion: { offer: 'to_reader_penny', next: 'price_reader-yearly', days: 60, amount: 60 },
});
const member = price('member-yearly', 20_000);
export const printed = price('member-print-yearly', 28_000, { print: true });

export const plansAnswer: PlansAnswer = {
  prices: [monthly, yearly, penny, member, printed],
  publishableKey: 'pk_test_1',
  scriptUrl: 'https://js.stripe.example/stripe.js',
  currency: 'usd',
  country: null,
  tax: false,
};

/** November 21, 2027, noon in New York. */
export const renewal = Date.UTC(2027, 10, 21, 17);

export const quoteOf = (dueToday: number, more: Partial<QuoteAnswer> = {}): QuoteAnswer => ({
  kind: 'new',
  currency: 'usd',
  dueToday,
  dueAfterRenewal: 12_000,
  renewalDate: renewal,
  prorationDate: null,
  lines: [{ description: '1 × Sun Reader', amount: dueToday }],
  ...more,
});

export const bought = (more: Partial<SubscribeAnswer> = {}): SubscribeAnswer => ({
  subscriptionId: 'sub_1',
  paymentIntentStatus: 'succeeded',
  clientSecret: null,
  paymentType: 'recurring',
  grant_id: 'grant-1',
  ...more,
});

export const subscriptionOf = (planId = 'reader-yearly', more: Partial<Subscription> = {}): Subscription => ({
  id: 'sub_1',
  currency: 'usd',
  preDiscountPrice: 12_000,
  price: 12_000,
  productId: 'sun-reader',
  planId,
  planName: planId,
  interval: 'year',
  print: false,
  status: 'active',
  cancelAtPeriodEnd: false,
  nextBillingDate: new Date(renewal).toISOString(),
  paidUntil: new Date(renewal).toISOString(),
  ...more,
});

type Listener = (event: unknown) => void;

/** An element of Stripe's whose events the test sends. */
export interface FakeElement {
  readonly type: string;
  readonly options: unknown;
  emit(name: string, event: unknown): void;
}

export interface FakeStripe {
  readonly stripe: Stripe;
  /** Every element that was created, newest last. */
  readonly elements: FakeElement[];
  /** What `stripe.elements` was called with, and every update since. */
  readonly options: unknown[];
  readonly createPaymentMethod: ReturnType<typeof vi.fn>;
  readonly handleNextAction: ReturnType<typeof vi.fn>;
  readonly confirmSetup: ReturnType<typeof vi.fn>;
  readonly submit: ReturnType<typeof vi.fn>;
  /** As if a reader had filled in the card. */
  fill(type?: string, value?: object): void;
}

/**
 * As much of Stripe's object as @stripe/react-stripe-js checks for, and what the paywall calls.
 *
 * @param wallets those that have buttons; `silent`: it is never said
 */
export function fakeStripe(wallets?: Readonly<Record<string, boolean>> | 'silent'): FakeStripe {
  const made: FakeElement[] = [];
  const options: unknown[] = [];
  const submit = vi.fn(async () => ({}));
  const createPaymentMethod = vi.fn(async () => ({ paymentMethod: { id: 'pm_1' } }));
  const handleNextAction = vi.fn(async () => ({ paymentIntent: { status: 'succeeded' } }));
  const confirmSetup = vi.fn(async () => ({ setupIntent: { payment_method: 'pm_2' } }));
  const element = (type: string, its: unknown) => {
    const listeners = new Map<string, Set<Listener>>();
    const one = {
      type,
      options: its,
      mount(host: HTMLElement) {
        host.setAttribute('data-fake-element', type);
        // The fake reports at once whether there are wallet buttons.
        if (type !== 'expressCheckout' || wallets === 'silent') return;
        setTimeout(() => one.emit('ready', { elementType: type, availablePaymentMethods: wallets }));
      },
      on: (name: string, listener: Listener) => {
        const known = listeners.get(name) ?? new Set();
        listeners.set(name, known.add(listener));
        return one;
      },
      off: (name: string, listener: Listener) => {
        listeners.get(name)?.delete(listener);
        return one;
      },
      update: () => {},
      destroy: () => {},
      unmount: () => {},
      emit: (name: string, event: unknown) => {
        for (const listener of listeners.get(name) ?? []) listener(event);
      },
    };
    made.push(one);
    return one;
  };
  const stripe = {
    elements(given: unknown) {
      options.push(given);
      return {
        create: element,
        submit,
        getElement: () => null,
        fetchUpdates: async () => ({}),
        update: (change: unknown) => void options.push(change),
      };
    },
    createPaymentMethod,
    handleNextAction,
    confirmSetup,
    createToken: vi.fn(),
    confirmCardPayment: vi.fn(),
  };
  return {
    stripe: stripe as unknown as Stripe,
    elements: made,
    options,
    createPaymentMethod,
    handleNextAction,
    confirmSetup,
    submit,
    fill(type = 'payment', value = {}) {
      const newest = made.findLast((one) => one.type === type);
      newest?.emit('ready', {});
      newest?.emit('change', { elementType: type, complete: true, empty: false, value });
    },
  };
}
