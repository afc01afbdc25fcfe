// @vitest-environment jsdom
import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';
import type { atom } from 'nanostores';
import { act } from 'react';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { anonymousSession, type Session } from '../../lib/accounts/session.ts';
import { closePaywall, openPaywall, type PaywallPayload } from '../../stores/ui.ts';
import { button, click, type Drawn, draw, field, named, press, settle, submit, type } from '../shared/testing.tsx';
import { Paywall } from './PaywallModal.island.tsx';
import {
  bought,
  type FakeStripe,
  fakeStripe,
  monthly,
  plansAnswer,
  price,
  quoteOf,
  renewal,
  subscriptionOf,
  yearly,
} from './testing.ts';

const { $session, signOut, done } = vi.hoisted(() => ({
  $session: {} as { current: ReturnType<typeof atom<Session>> },
  signOut: vi.fn(async () => ({ ok: true })),
  done: vi.fn(),
}));
vi.mock('../../stores/session.ts', async () => {
  const nanostores = await import('nanostores');
  const { anonymousSession } = await import('../../lib/accounts/session.ts');
  $session.current = nanostores.atom(anonymousSession);
  return {
    $session: $session.current,
    signOut,
    // As the server's cookie would report.
    refreshSession: async () => void (signedIn && $session.current.set(reader())),
  };
});
// after-payment.ts decides where the reader goes afterward.
vi.mock('./after-payment.ts', () => ({ closeAfterPayment: done }));

let signedIn = false;
let product: 'reader' | null = null;
const reader = (): Session => ({
  ...anonymousSession,
  status: product ? 'customer' : 'registered',
  isAuthenticated: true,
  activeProduct: product,
  isPayingSubscriber: product !== null,
});

/** The requests, and the response to each. */
let asked: { path: string; body: unknown }[] = [];
let answers: Record<string, () => Response | Promise<Response>> = {};
let stripe: FakeStripe;
/** Each test has its own script, because a page keeps what it has loaded. */
let turn = 0;
const scriptUrl = () => `https://js.stripe.example/${turn}.js`;
const makeStripe = () => stripe.stripe;
Object.assign(window, { Stripe: makeStripe });
let drawn: Drawn;

const json = (body: object | null, status = 200) => HttpResponse.json(body as never, { status });
const standard = (): typeof answers => ({
  '/api/v1/checkout/plans': () => json({ ...plansAnswer, scriptUrl: scriptUrl() }),
  '/api/v1/checkout/quote': () => json(quoteOf(12_000)),
  '/api/v1/checkout/get-coupon': () => json({ discount_code: 'SUNSHINE20', amount_off: null, percent_off: 20 }),
  '/api/verification': () => json({ verified: true }),
  '/api/zephr-create': () => {
    signedIn = true;
    return json({ sessionId: 's' });
  },
  '/blaize/account': () => json({ identifiers: { email_address: 'ada@example.com' }, tracking_id: 't', profile: {} }),
  '/blaize/payment/stripe/subscribe': () => json(bought()),
  '/blaize/payment/stripe/subscription/confirmation': () => json({ grant_id: 'grant-1' }),
  '/api/v1/me/subscription': () => json({ subscription: subscriptionOf() }),
  '/api/v1/me/subscription/switch': () => json({ ...bought(), effective: 'now' }),
  '/api/v1/me/shipping': () => json({ shipping: null }),
});
const server = setupServer(
  http.all('*', async ({ request }) => {
    const path = new URL(request.url).pathname;
    const text = await request.text();
    asked.push({ path: `${request.method} ${path}`, body: text === '' ? null : JSON.parse(text) });
    const answer = answers[path];
    if (!answer) throw new Error(`The test has no answer for ${path}.`);
    return answer();
  }),
);
const bodies = (path: string) => asked.filter((one) => one.path.endsWith(path)).map(({ body }) => body);

beforeAll(() => server.listen({ onUnhandledFrame: 'error' }));
beforeEach(async () => {
  sessionStorage.clear();
  const { dropDraft, endAttempt } = await import('../../stores/paywall.ts');
  dropDraft();
  endAttempt();
  [signedIn, product, asked, answers] = [false, null, [], standard()];
  $session.current.set(anonymousSession);
  stripe = fakeStripe();
  turn++;
});
afterEach(async () => {
  await act(async () => closePaywall());
  await drawn.remove();
  vi.clearAllMocks();
});
afterAll(() => server.close());

const sheet = () => drawn.host.querySelector('dialog') as HTMLDialogElement;
const step = (name: string) => sheet().querySelector<HTMLElement>(`[data-step="${name}"]`) as HTMLElement;
const openStep = () => sheet().querySelector<HTMLElement>('[data-open]')?.dataset.step;
const alerts = () =>
  [...sheet().querySelectorAll('[role="alert"]')].map((one) => one.textContent).filter((text) => text !== '');
const pay = () => named<HTMLButtonElement>('button[type="submit"]', /^Join the Sun|Paying|bank|looking/);
const text = (element: Element) => (element.textContent ?? '').replace(/\s+/g, ' ');

const tag = () => document.querySelector(`script[src="${scriptUrl()}"]`);

/** The script's tag doesn't load here, so the test dispatches its load event. */
async function loadScript(): Promise<void> {
  await settle(() => expect(document.querySelector('script[src^="https://js.stripe"]')).not.toBeNull());
  await act(async () => {
    for (const tag of document.querySelectorAll('script[src^="https://js.stripe"]'))
      tag.dispatchEvent(new Event('load'));
  });
  await settle(() => expect(sheet().querySelector('[data-fake-element]')).not.toBeNull());
}
async function open(payload: PaywallPayload = { planId: 'reader-yearly' }): Promise<void> {
  drawn = await draw(<Paywall />);
  await act(async () => openPaywall(payload));
  // While it loads, a skeleton has the place and the name of the first step.
  await settle(() => expect(sheet().querySelector('section[data-step]')).not.toBeNull());
}
async function openSignedIn(payload?: PaywallPayload): Promise<void> {
  signedIn = true;
  $session.current.set(reader());
  await open(payload);
  await settle(() => expect(text(step('account'))).toContain('ada@example.com'));
}
async function toPayment(payload?: PaywallPayload): Promise<void> {
  await openSignedIn(payload);
  await loadScript();
  await settle(() => expect(text(sheet())).toContain('Renewal date'));
  await settle(() => expect(sheet().querySelector('[aria-busy="true"]')).toBeNull());
}

describe('the account step', () => {
  it('comes first for a signed-out reader, and leads to payment once the address has an account', async () => {
    await open();
    expect(openStep()).toBe('account');
    expect(document.activeElement?.textContent).toBe('Step 1 of 2: Account');
    expect(tag()).toBeNull();
    await type(field('Email address'), 'ada@example.com');
    await submit(step('account').querySelector('form') as HTMLFormElement);
    await settle(() => expect(openStep()).toBe('payment'));
    expect(bodies('/api/zephr-create')).toEqual([{ email: 'ada@example.com', enter: true }]);
    expect(document.activeElement?.textContent).toBe('Step 2 of 2: Payment');
    expect(text(step('account'))).toContain('ada@example.com');
    await loadScript();
  });

  it('offers a known address to sign in without leaving the paywall', async () => {
    answers['/api/zephr-create'] = () => json({ message: 'A user with this email already exists.' }, 409);
    await open();
    await type(field('Email address'), 'ada@example.com');
    await submit(step('account').querySelector('form') as HTMLFormElement);
    await settle(() => expect(alerts()).toEqual(['A user with this email already exists.']));
    await click(button('Sign in?'));
    expect(field('Please enter your email address below:').value).toBe('ada@example.com');
    await click(button('Back to the order'));
    expect(field('Email address').value).toBe('ada@example.com');
  });

  it('still waits for a sign-in code after the page was reloaded, without sending another', async () => {
    answers['/zephr/media/user/info'] = () => json({});
    answers['/blaize/token-exchange'] = () => json({ message: 'sent' }, 201);
    answers['/blaize/two-factor-authentication'] = () => json({ message: 'sent' }, 201);
    await open();
    await click(button('Sign In'));
    await type(field('Please enter your email address below:'), 'ada@example.com');
    await submit(step('account').querySelector('form') as HTMLFormElement);
    await settle(() => expect(button('Login with code instead')).toBeTruthy());
    await click(button('Login with code instead'));
    await settle(() => expect(text(sheet())).toContain('A verification code was sent to ada@example.com'));
    // A page that the reader leaves runs no more of our code, so the tab's stored data stays.
    const kept = { ...sessionStorage };
    await act(async () => closePaywall());
    await drawn.remove();
    expect(sessionStorage.getItem('pending-sign-in')).toBeNull();
    for (const [name, value] of Object.entries(kept)) sessionStorage.setItem(name, value);
    const before = asked.length;
    await open();
    expect(text(sheet())).toContain('A verification code was sent to ada@example.com');
    expect(asked.slice(before).map(({ path }) => path)).not.toContain('POST /blaize/two-factor-authentication');
  });

  it('suggests a corrected address, which creates the account when clicked', async () => {
    answers['/api/verification'] = () => json({ verified: false, suggestedEmail: 'ada@gmail.com', message: 'x' });
    await open();
    await type(field('Email address'), 'ada@gmial.com');
    await submit(step('account').querySelector('form') as HTMLFormElement);
    await settle(() => expect(alerts()).toEqual(['Did you mean ada@gmail.com?']));
    answers['/api/verification'] = () => json({ verified: true });
    await click(button('ada@gmail.com'));
    await settle(() => expect(openStep()).toBe('payment'));
    expect(bodies('/api/zephr-create')).toEqual([{ email: 'ada@gmail.com', enter: true }]);
  });

  it('opens on Change and closes on Continue, and Edit toggles the payment step', async () => {
    await toPayment();
    await click(button('Change account'));
    expect(openStep()).toBe('account');
    expect(text(step('account'))).toContain('Signed in as ada@example.com');
    await click(button('Continue'));
    expect(openStep()).toBe('payment');
    await click(button('Edit payment'));
    expect(openStep()).toBeUndefined();
    await click(button('Edit payment'));
    expect(openStep()).toBe('payment');
    // The card's fields still have what the reader typed.
    expect(stripe.elements.filter(({ type }) => type === 'payment')).toHaveLength(1);
  });

  it('opens with an empty address after Logout', async () => {
    await toPayment();
    await click(button('Change account'));
    await click(button('Logout'));
    expect(signOut).toHaveBeenCalledOnce();
    await act(async () => $session.current.set(anonymousSession));
    expect(openStep()).toBe('account');
    expect(field('Email address').value).toBe('');
  });
});

describe('logging out in the paywall', () => {
  it('succeeds when the session had already ended, and forgets what was typed', async () => {
    await toPayment();
    const { $draft, keepDraft } = await import('../../stores/paywall.ts');
    keepDraft({ email: 'ada@example.com' });
    await click(button('Change account'));
    signOut.mockResolvedValueOnce({ ok: false, status: 401 } as never);
    await click(button('Logout'));
    expect(alerts()).toEqual([]);
    expect($draft.get()).toEqual({});
  });
});

describe('the payment step', () => {
  it('comes first for a signed-in reader, with the amount due and the renewal date', async () => {
    await toPayment();
    expect(openStep()).toBe('payment');
    expect(text(sheet())).toContain('Due today $120');
    expect(text(sheet())).toContain('Total due after renewal$120');
    expect(text(sheet())).toContain('Renewal dateNovember 21, 2027');
    expect(text(sheet())).toContain(
      'Your subscription renews on November 21, 2027 for $120, and again every year, until you cancel.',
    );
    expect(text(sheet())).toContain('You may cancel your subscription at any time.');
    expect(stripe.options[0]).toMatchObject({
      mode: 'subscription',
      amount: 12_000,
      currency: 'usd',
      paymentMethodCreation: 'manual',
    });
  });

  it('asks where the buyer lives where tax is added, and shows the tax before payment is possible', async () => {
    const place = { country: 'US', postal_code: '10007' };
    answers['/api/v1/checkout/plans'] = () =>
      json({ ...plansAnswer, scriptUrl: scriptUrl(), tax: true, country: 'US' });
    answers['/api/v1/checkout/quote'] = () => json(quoteOf(12_000, { needs: 'address' }));
    await toPayment();
    await act(async () => stripe.fill());
    expect(text(sheet())).toContain('Due today Tell us where you live');
    expect(pay().disabled).toBe(true);
    const tax = { amount: 990, included: false };
    answers['/api/v1/checkout/quote'] = () =>
      json(quoteOf(12_990, { dueAfterRenewal: 12_990, tax: { today: tax, renewal: tax } }));
    await type(field('ZIP code'), '10007');
    await settle(() => expect(text(pay())).toBe('Join the Sun$129.90'));
    expect(bodies('/checkout/quote').at(-1)).toEqual({ plan_id: 'reader-yearly', currency: 'usd', address: place });
    expect(text(sheet())).toContain('$120.00 + $9.90 tax');
    expect(text(sheet())).toContain('Total due after renewal$120.00 + $9.90 tax');
    await submit(pay().form as HTMLFormElement);
    await settle(() => expect(done).toHaveBeenCalledOnce());
    // What is known isn't asked twice: the card's form leaves the address out, and the payment method gets it.
    expect(stripe.elements.findLast(({ type }) => type === 'payment')?.options).toMatchObject({
      fields: { billingDetails: { address: { country: 'never', postalCode: 'never' } } },
    });
    expect(stripe.createPaymentMethod).toHaveBeenCalledWith(
      expect.objectContaining({ params: { billing_details: expect.objectContaining({ address: place }) } }),
    );
    expect(bodies('/stripe/subscribe')).toEqual([expect.objectContaining({ address: place, expected: 12_990 })]);
  });

  it('shows prices in the currency of the reader’s country', async () => {
    const abroad = { ...yearly, currencies: { gbp: 10_000 } };
    answers['/api/v1/checkout/plans'] = () =>
      json({ ...plansAnswer, prices: [abroad], scriptUrl: scriptUrl(), currency: 'gbp' });
    answers['/api/v1/checkout/quote'] = () => json(quoteOf(10_000, { currency: 'gbp', dueAfterRenewal: 10_000 }));
    await toPayment();
    expect(text(sheet())).toContain('£100 a year');
    expect(text(sheet())).toContain('Due today £100');
    expect(bodies('/checkout/quote').at(-1)).toEqual({ plan_id: 'reader-yearly', currency: 'gbp' });
    expect(stripe.options[0]).toMatchObject({ amount: 10_000, currency: 'gbp' });
  });

  it('sends one payment once the card is complete, with the total on the button', async () => {
    await toPayment();
    expect(text(pay())).toBe('Join the Sun$120');
    expect(pay().disabled).toBe(true);
    await act(async () => stripe.fill());
    expect(pay().disabled).toBe(false);
    await submit(pay().form as HTMLFormElement);
    await submit(sheet().querySelector('[data-step="payment"] form') as HTMLFormElement);
    await settle(() => expect(done).toHaveBeenCalledOnce());
    expect(done).toHaveBeenCalledExactlyOnceWith(subscriptionOf(), 'ada@example.com', 'new');
    expect(bodies('/stripe/subscribe')).toEqual([
      {
        payment_method: 'pm_1',
        product_id: 'sun-reader',
        plan_id: 'reader-yearly',
        expected: 12_000,
        currency: 'usd',
        attempt: expect.stringMatching(/^[0-9a-f-]{36}$/),
      },
    ]);
    expect(text(sheet())).toContain('Thank you.');
  });

  it('becomes non-modal while the bank asks, and cannot be closed then', async () => {
    answers['/blaize/payment/stripe/subscribe'] = () =>
      json(bought({ paymentIntentStatus: 'requires_action', clientSecret: 'pi_1_secret_1', grant_id: null }));
    const gate = Promise.withResolvers<object>();
    await toPayment();
    stripe.handleNextAction.mockImplementation(() => gate.promise);
    await act(async () => stripe.fill());
    const { showModal } = HTMLDialogElement.prototype;
    const shown = vi.fn(function show(this: HTMLDialogElement) {
      this.open = true;
    });
    sheet().show = shown;
    await submit(pay().form as HTMLFormElement);
    await settle(() => expect(shown).toHaveBeenCalledOnce());
    expect(text(pay())).toBe('Waiting for your bank…');
    // Nothing closes the sheet during a payment.
    await click(button('Close'));
    expect(sheet().open).toBe(true);
    gate.resolve({ paymentIntent: { status: 'succeeded' } });
    await settle(() => expect(done).toHaveBeenCalledOnce());
    expect(HTMLDialogElement.prototype.showModal).toBe(showModal);
    expect(bodies('/confirmation')).toEqual([{ subscriptionId: 'sub_1' }]);
  });

  it('shows the card company’s error until the card is changed', async () => {
    answers['/blaize/payment/stripe/subscribe'] = () =>
      json({ message: 'Your card has insufficient funds.', code: 'card_declined' }, 402);
    const errors = vi.spyOn(console, 'error').mockImplementation(() => {});
    await toPayment();
    await act(async () => stripe.fill());
    await submit(pay().form as HTMLFormElement);
    await settle(() =>
      expect(alerts()).toEqual([
        'Your card has insufficient funds.',
        'Payment has failed - please check your card details, or try another payment method.',
      ]),
    );
    expect(pay().disabled).toBe(false);
    expect(done).not.toHaveBeenCalled();
    await act(async () => stripe.fill());
    expect(alerts()).toEqual([]);
    errors.mockRestore();
  });

  it('shows a changed total, and charges it only when the reader submits again', async () => {
    await toPayment();
    answers['/blaize/payment/stripe/subscribe'] = () => json({ message: 'Other sum', due: 9600 }, 409);
    answers['/api/v1/checkout/quote'] = () => json(quoteOf(9600));
    await act(async () => stripe.fill());
    await submit(pay().form as HTMLFormElement);
    await settle(() => expect(text(pay())).toBe('Join the Sun$96'));
    expect(text(sheet())).toContain('The total is now $96.');
    answers['/blaize/payment/stripe/subscribe'] = () => json(bought());
    await submit(pay().form as HTMLFormElement);
    await settle(() => expect(done).toHaveBeenCalledOnce());
    const sent = bodies('/stripe/subscribe') as { expected: number; attempt: string }[];
    expect(sent.map(({ expected }) => expected)).toEqual([12_000, 9600]);
  });

  it('offers to load Stripe’s script again when it fails', async () => {
    const errors = vi.spyOn(console, 'error').mockImplementation(() => {});
    await openSignedIn();
    await settle(() => expect(tag()).not.toBeNull());
    await act(async () => tag()?.dispatchEvent(new Event('error')));
    await settle(() => expect(alerts()).toEqual(['The card form didn’t load.Try again']));
    await click(button('Try again'));
    await act(async () => tag()?.dispatchEvent(new Event('load')));
    await settle(() => expect(sheet().querySelector('[data-fake-element]')).not.toBeNull());
    errors.mockRestore();
  });
});

describe('wallet buttons', () => {
  const available = { applePay: true, googlePay: false, link: false, amazonPay: false, klarna: false, paypal: false };
  const express = () => sheet().querySelector<HTMLElement>('[data-express]');
  const element = () => stripe.elements.findLast(({ type }) => type === 'expressCheckout');
  const tap = async () => {
    const event = { expressPaymentType: 'apple_pay', resolve: vi.fn(), reject: vi.fn() };
    await act(async () => element()?.emit('click', event));
    return event;
  };
  const agree = (paymentFailed = vi.fn()) => act(async () => element()?.emit('confirm', { paymentFailed }));
  beforeEach(() => {
    stripe = fakeStripe(available);
    HTMLDialogElement.prototype.show ??= function show(this: HTMLDialogElement) {
      this.open = true;
    };
  });

  it('are left out, with the words that lead to the card, when there is no wallet', async () => {
    stripe = fakeStripe();
    await toPayment();
    await act(async () => stripe.fill());
    await settle(() => expect(sheet().querySelector('[data-form][data-settled]')).not.toBeNull());
    expect(express()).toBeNull();
    expect(text(step('payment'))).not.toContain('pay by card');
  });

  it('appear at the same time as the card form', async () => {
    await toPayment();
    await settle(() => expect(element()).toBeTruthy());
    expect(sheet().querySelector('[data-form][data-settled]')).toBeNull();
    expect(text(step('payment'))).toContain('Loading the form…');
    await act(async () => stripe.fill());
    await settle(() => expect(sheet().querySelector('[data-form][data-settled]')).not.toBeNull());
    expect(text(step('payment'))).not.toContain('Loading the form…');
    expect(express()?.hasAttribute('inert')).toBe(false);
  });

  it('are left out when Stripe.js never reports which wallets there are', async () => {
    stripe = fakeStripe('silent');
    await toPayment();
    await act(async () => stripe.fill());
    const settled = () => sheet().querySelector('[data-form][data-settled]');
    for (let turn = 0; turn < 1000 && !settled(); turn++)
      await act(() => new Promise<void>((resolve) => setTimeout(resolve, 50)));
    expect(settled()).not.toBeNull();
    expect(express()).toBeNull();
  });

  it('show the amount due, and pay it with the wallet’s payment method', async () => {
    await toPayment();
    const event = await tap();
    expect(event.resolve).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ lineItems: [{ name: '1 × Sun Reader', amount: 12_000 }] }),
    );
    // Browsers can't draw a wallet's window above a modal dialog.
    expect(sheet().className).toContain('aside');
    await agree();
    await settle(() => expect(done).toHaveBeenCalledOnce());
    expect(stripe.submit).toHaveBeenCalledOnce();
    expect(stripe.createPaymentMethod).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ params: { billing_details: { email: 'ada@example.com' } } }),
    );
    expect(bodies('/stripe/subscribe')).toEqual([
      expect.objectContaining({ payment_method: 'pm_1', expected: 12_000 }),
    ]);
  });

  it('reject a tap while a new total is being fetched', async () => {
    await toPayment({});
    answers['/api/v1/checkout/quote'] = () => new Promise(() => {});
    await click(named('label', 'Monthly $12 a month').querySelector('input') as HTMLInputElement);
    expect(express()?.hasAttribute('inert')).toBe(true);
    const event = await tap();
    expect(event.reject).toHaveBeenCalledOnce();
    expect(event.resolve).not.toHaveBeenCalled();
  });

  it('show a declined card in the wallet’s sheet, and work again after a sheet was dismissed', async () => {
    const errors = vi.spyOn(console, 'error').mockImplementation(() => {});
    answers['/blaize/payment/stripe/subscribe'] = () => json({ message: 'Your card was declined.' }, 402);
    await toPayment();
    await tap();
    await act(async () => element()?.emit('cancel', {}));
    expect(sheet().className).not.toContain('aside');
    expect(bodies('/stripe/subscribe')).toEqual([]);
    await tap();
    const failed = vi.fn();
    await agree(failed);
    await settle(() =>
      expect(failed).toHaveBeenCalledExactlyOnceWith({ reason: 'fail', message: 'Your card was declined.' }),
    );
    expect(alerts()).toContain('Your card was declined.');
    expect(sheet().className).not.toContain('aside');
    errors.mockRestore();
  });

  it('keep the paywall non-modal after a failed wallet sheet until the reader returns to the form', async () => {
    await toPayment();
    stripe.submit.mockResolvedValueOnce({ error: { type: 'api_error', message: 'Not now.' } });
    await tap();
    const failed = vi.fn();
    await agree(failed);
    await settle(() => expect(failed).toHaveBeenCalledExactlyOnceWith({ reason: 'fail', message: 'Not now.' }));
    expect(sheet().className).toContain('aside');
    await act(async () => void pay().dispatchEvent(new Event('pointerdown', { bubbles: true })));
    expect(sheet().className).not.toContain('aside');
  });

  it('pass a changed total on to Stripe.js', async () => {
    await toPayment({});
    answers['/api/v1/checkout/quote'] = () => json(quoteOf(1200));
    await click(named('label', 'Monthly $12 a month').querySelector('input') as HTMLInputElement);
    await settle(() => expect(text(pay())).toBe('Join the Sun$12'));
    expect(stripe.options.at(-1)).toMatchObject({ amount: 1200 });
    expect((await tap()).resolve).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ lineItems: [{ name: '1 × Sun Reader', amount: 1200 }] }),
    );
  });
});

describe('where tax is the same throughout a country', () => {
  it('the paywall quotes for the country that the reader seems to be in, without asking', async () => {
    answers['/api/v1/checkout/plans'] = () =>
      json({ ...plansAnswer, scriptUrl: scriptUrl(), tax: true, country: 'GB' });
    const tax = { amount: 2000, included: true };
    await toPayment();
    answers['/api/v1/checkout/quote'] = () => json(quoteOf(12_000, { tax: { today: tax, renewal: tax } }));
    await settle(() => expect(bodies('/checkout/quote').at(-1)).toMatchObject({ address: { country: 'GB' } }));
  });
});

describe('the coupon', () => {
  it('is applied, removed, and refused when it has expired', async () => {
    await toPayment();
    const apply = () => button('Apply');
    expect(apply().disabled).toBe(true);
    answers['/api/v1/checkout/quote'] = () => json(quoteOf(9600));
    await type(field(/^Coupon/), 'sunshine20');
    expect(apply().disabled).toBe(false);
    await press(field(/^Coupon/), 'Enter');
    await settle(() => expect(text(sheet())).toContain('SUNSHINE20 takes 20% off'));
    await settle(() => expect(text(pay())).toBe('Join the Sun$96'));
    expect(stripe.options.at(-1)).toMatchObject({ amount: 9600 });
    answers['/api/v1/checkout/quote'] = () => json(quoteOf(12_000));
    await click(button('Remove the coupon'));
    await settle(() => expect(text(pay())).toBe('Join the Sun$120'));
    answers['/api/v1/checkout/get-coupon'] = () => json({ error: 'This coupon has expired.' }, 404);
    await type(field(/^Coupon/), 'OLD');
    await click(apply());
    await settle(() => expect(alerts()).toEqual(['This coupon has expired.']));
    expect(field(/^Coupon/).value).toBe('OLD');
    await type(field(/^Coupon/), 'OLDER');
    expect(alerts()).toEqual([]);
    expect(apply().disabled).toBe(false);
    expect(bodies('/subscribe')).toEqual([]);
  });

  it('keeps the focus in its own controls when it is applied, refused or removed', async () => {
    await toPayment();
    answers['/api/v1/checkout/get-coupon'] = () => json({ error: 'This coupon has expired.' }, 404);
    await type(field(/^Coupon/), 'OLD');
    button('Apply').focus();
    await click(button('Apply'));
    await settle(() => expect(alerts()).toEqual(['This coupon has expired.']));
    expect(document.activeElement).toBe(field(/^Coupon/));
    answers['/api/v1/checkout/get-coupon'] = standard()['/api/v1/checkout/get-coupon'] as () => Response;
    await type(field(/^Coupon/), 'sunshine20');
    await click(button('Apply'));
    await settle(() => expect(document.activeElement).toBe(button('Remove the coupon')));
    await click(button('Remove the coupon'));
    await settle(() => expect(document.activeElement).toBe(field(/^Coupon/)));
  });

  it('does not take the focus from another field that the reader moved to while it was checked', async () => {
    await toPayment();
    const elsewhere = document.createElement('input');
    sheet().append(elsewhere);
    const coupon = standard()['/api/v1/checkout/get-coupon'] as () => Response;
    answers['/api/v1/checkout/get-coupon'] = () => {
      elsewhere.focus();
      return coupon();
    };
    await type(field(/^Coupon/), 'sunshine20');
    await click(button('Apply'));
    await settle(() => expect(text(sheet())).toContain('SUNSHINE20 takes 20% off'));
    expect(document.activeElement).toBe(elsewhere);
  });

  it('that makes the first payment free still requires a card', async () => {
    await toPayment();
    answers['/api/v1/checkout/quote'] = () => json(quoteOf(0));
    await type(field(/^Coupon/), 'FREEYEAR');
    await click(button('Apply'));
    await settle(() => expect(text(pay())).toBe('Join the Sun$0'));
    expect(stripe.options.at(-1)).toMatchObject({ mode: 'setup' });
  });

  it('is remembered and applied when the paywall opens', async () => {
    const { keepDraft } = await import('../../stores/paywall.ts');
    keepDraft({ coupon: 'SUNSHINE20' });
    answers['/api/v1/checkout/quote'] = () => json(quoteOf(9600));
    await toPayment();
    await settle(() => expect(text(sheet())).toContain('SUNSHINE20 takes 20% off'));
  });
});

describe('the penny promotion', () => {
  it('shows the spec’s wording and the total of $0.60', async () => {
    answers['/api/v1/checkout/quote'] = () => json(quoteOf(60));
    await toPayment({ planId: 'reader-penny' });
    expect(document.getElementById(sheet().getAttribute('aria-labelledby') ?? '')?.textContent).toBe(
      'Read the Sun for a PENNY A DAY',
    );
    expect(text(sheet())).toContain('$0.01/DayFull dues ($120/year) billed after 60 days');
    expect(text(pay())).toBe('Join the Sun$0.60');
  });
});

describe('a print subscription', () => {
  const address = {
    line1: '1 Pearl St',
    line2: null,
    city: 'New York',
    state: 'NY',
    postal_code: '10004',
    country: 'US',
  };

  it('asks for the shipping address in step 2 and for payment in step 3', async () => {
    answers['/api/v1/checkout/quote'] = () => json(quoteOf(28_000));
    await openSignedIn({ planId: 'member-print-yearly' });
    await loadScript();
    expect(openStep()).toBe('shipping');
    const fields = stripe.elements.find((one) => one.type === 'address');
    expect(fields?.options).toMatchObject({ mode: 'shipping', allowedCountries: ['US'], fields: { phone: 'always' } });
    expect(step('shipping').querySelector<HTMLButtonElement>('button[type="submit"]')?.disabled).toBe(true);
    await act(async () => stripe.fill('address', { name: 'Ada Lovelace', address, phone: '+12125550183' }));
    await submit(step('shipping').querySelector('form') as HTMLFormElement);
    await settle(() => expect(openStep()).toBe('payment'));
    const { line2: _, ...plain } = address;
    expect(bodies('/me/shipping').at(-1)).toEqual({ name: 'Ada Lovelace', address: plain, phone: '+12125550183' });
    expect(document.activeElement?.textContent).toBe('Step 3 of 3: Payment');
    expect(text(step('shipping'))).toContain('Ada Lovelace, 1 Pearl St, New York');
    await settle(() => expect(stripe.elements.some((one) => one.type === 'payment')).toBe(true));
    await act(async () => stripe.fill());
    expect(pay().disabled).toBe(false);
    await click(button('Edit shipping'));
    expect(openStep()).toBe('shipping');
  });

  it('is taxed at the shipping address, which is asked for only once', async () => {
    answers['/api/v1/checkout/plans'] = () =>
      json({ ...plansAnswer, scriptUrl: scriptUrl(), tax: true, country: 'US' });
    answers['/api/v1/checkout/quote'] = () => json(quoteOf(28_000, { needs: 'address' }));
    await openSignedIn({ planId: 'member-print-yearly' });
    await loadScript();
    await act(async () => stripe.fill('address', { name: 'Ada Lovelace', address, phone: '+12125550183' }));
    const tax = { amount: 2485, included: false };
    answers['/api/v1/checkout/quote'] = () => json(quoteOf(30_485, { tax: { today: tax, renewal: tax } }));
    await submit(step('shipping').querySelector('form') as HTMLFormElement);
    await settle(() => expect(openStep()).toBe('payment'));
    const place = { country: 'US', postal_code: '10004' };
    await settle(() => expect(text(pay())).toBe('Join the Sun$304.85'));
    expect(bodies('/checkout/quote').at(-1)).toMatchObject({ address: place });
    expect(text(step('payment'))).not.toContain('Where you live');
    // The card's own address is filled in, and can be changed.
    const fields = stripe.elements.find(({ type }) => type === 'payment');
    expect(fields?.options).toMatchObject({ defaultValues: { billingDetails: { address: place } } });
    answers['/api/v1/me/subscription'] = () => json({ subscription: subscriptionOf('member-print-yearly') });
    await act(async () => stripe.fill());
    await submit(pay().form as HTMLFormElement);
    await settle(() => expect(done).toHaveBeenCalledOnce());
    expect(bodies('/stripe/subscribe')).toEqual([expect.objectContaining({ address: place, expected: 30_485 })]);
  });

  it('shows the server’s message when the shipping address could not be saved', async () => {
    await openSignedIn({ planId: 'member-print-yearly' });
    await loadScript();
    await act(async () => stripe.fill('address', { name: 'Ada', address }));
    answers['/api/v1/me/shipping'] = () => json({ message: 'We deliver within the United States.' }, 400);
    await submit(step('shipping').querySelector('form') as HTMLFormElement);
    await settle(() => expect(alerts()).toEqual(['We deliver within the United States.']));
    expect(openStep()).toBe('shipping');
  });
});

describe('a reader who has a subscription', () => {
  beforeEach(() => {
    product = 'reader';
    answers['/api/v1/me/subscription'] = () => json({ subscription: subscriptionOf('member-yearly') });
  });

  it('sees the credit and the amount due for an upgrade, and pays with the card on file', async () => {
    answers['/api/v1/checkout/quote'] = () =>
      json(
        quoteOf(8022, {
          kind: 'upgrade',
          prorationDate: 1_795_000_000,
          subscriptionId: 'sub_1',
          dueAfterRenewal: 20_000,
          lines: [
            { description: 'Unused time on Sun Reader', amount: -11_978 },
            { description: 'Remaining time on Sun Member', amount: 20_000 },
          ],
        }),
      );
    await openSignedIn({ planId: 'member-yearly' });
    await settle(() => expect(text(sheet())).toContain('Unused time on Sun Reader −$119.78'));
    expect(document.querySelector('[data-fake-element]')).toBeNull();
    const upgrade = named<HTMLButtonElement>('button', 'Upgrade$80.22');
    await submit(upgrade.form as HTMLFormElement);
    await settle(() => expect(done).toHaveBeenCalledOnce());
    expect(bodies('/subscription/switch')).toEqual([
      {
        plan_id: 'member-yearly',
        prorationDate: 1_795_000_000,
        subscriptionId: 'sub_1',
        expected: 8022,
        attempt: expect.any(String),
      },
    ]);
  });

  it('downgrades at the renewal', async () => {
    answers['/api/v1/checkout/quote'] = () => json(quoteOf(0, { kind: 'downgrade' }));
    answers['/api/v1/me/subscription/switch'] = () => json({ ...bought({ grant_id: null }), effective: 'renewal' });
    await openSignedIn({ planId: 'reader-monthly' });
    await settle(() => expect(text(sheet())).toContain('current plan until November 21, 2027'));
    await submit(button('Change at renewal').form as HTMLFormElement);
    await settle(() => expect(done).toHaveBeenCalledExactlyOnceWith(null, 'ada@example.com', 'downgrade'));
  });

  it('cannot buy the same plan again', async () => {
    answers['/api/v1/checkout/quote'] = () => json(quoteOf(0, { kind: 'same', renewalDate: renewal }));
    await openSignedIn({ planId: 'reader-yearly' });
    await settle(() => expect(text(sheet())).toContain('This is your current plan.'));
    expect(sheet().querySelector('[data-step="payment"] button[type="submit"]')).toBeNull();
  });

  it('gets a link to update the card when it is declined', async () => {
    const errors = vi.spyOn(console, 'error').mockImplementation(() => {});
    answers['/api/v1/checkout/quote'] = () => json(quoteOf(8022, { kind: 'upgrade' }));
    answers['/api/v1/me/subscription/switch'] = () => json({ message: 'Your card was declined.' }, 402);
    await openSignedIn({ planId: 'member-yearly' });
    await settle(() => expect(named<HTMLButtonElement>('button', 'Upgrade$80.22').disabled).toBe(false));
    await submit(named<HTMLButtonElement>('button', 'Upgrade$80.22').form as HTMLFormElement);
    await settle(() => expect(alerts()).toHaveLength(1));
    expect(named('a', 'Update your card').getAttribute('href')).toBe('/account/card');
    errors.mockRestore();
  });
});

describe('a purchase in progress', () => {
  it('is looked up, and not repeated, when the paywall is opened again', async () => {
    const { beginAttempt } = await import('../../stores/paywall.ts');
    beginAttempt('x');
    signedIn = true;
    $session.current.set(reader());
    drawn = await draw(<Paywall />);
    await act(async () => openPaywall({ planId: 'reader-yearly' }));
    await settle(() => expect(done).toHaveBeenCalledOnce());
    expect(bodies('/stripe/subscribe')).toEqual([]);
  });

  it('is finished here when another tab has paid', async () => {
    await toPayment();
    product = 'reader';
    await act(async () => $session.current.set(reader()));
    await settle(() => expect(done).toHaveBeenCalledOnce());
    expect(bodies('/stripe/subscribe')).toEqual([]);
  });
});

describe('the paywall when something fails', () => {
  it('shows a message and can be tried again', async () => {
    answers['/api/v1/checkout/plans'] = () => HttpResponse.error() as never;
    drawn = await draw(<Paywall />);
    await act(async () => openPaywall({ planId: 'reader-yearly' }));
    await settle(() => expect(alerts()[0]).toContain('We couldn’t reach the server.'));
    answers['/api/v1/checkout/plans'] = () => json(plansAnswer);
    await click(button('Try again'));
    await settle(() => expect(openStep()).toBe('account'));
  });

  it('loads by itself when the browser is back online', async () => {
    answers['/api/v1/checkout/plans'] = () => HttpResponse.error() as never;
    drawn = await draw(<Paywall />);
    await act(async () => openPaywall({ planId: 'reader-yearly' }));
    await settle(() => expect(alerts()[0]).toContain('We couldn’t reach the server.'));
    answers['/api/v1/checkout/plans'] = () => json(plansAnswer);
    answers['/api/v1/checkout/quote'] = () => HttpResponse.error() as never;
    await act(async () => void dispatchEvent(new Event('online')));
    await settle(() => expect(openStep()).toBe('account'));
  });

  it('offers no other plan when the requested one is not sold', async () => {
    drawn = await draw(<Paywall />);
    await act(async () => openPaywall({ planId: 'gone' }));
    await settle(() => expect(alerts()[0]).toContain('Nothing is for sale right now.'));
  });

  it('says that the browser is offline and that what was typed is saved', async () => {
    await open();
    vi.spyOn(navigator, 'onLine', 'get').mockReturnValue(false);
    await act(async () => void dispatchEvent(new Event('offline')));
    expect(text(sheet())).toContain('You’re offline. Everything you typed is saved.');
    vi.restoreAllMocks();
  });
});

describe('the choice of plan', () => {
  it('is offered when no plan was requested, and sets the total', async () => {
    answers['/api/v1/checkout/quote'] = () => json(quoteOf(12_000));
    await toPayment({});
    const yearly = named<HTMLInputElement>('label', 'Yearly $120 a year Save $24 a year').querySelector('input');
    expect(yearly?.checked).toBe(true);
    answers['/api/v1/checkout/quote'] = () => json(quoteOf(1200, { dueAfterRenewal: 1200 }));
    await click(named('label', 'Monthly $12 a month').querySelector('input') as HTMLInputElement);
    await settle(() => expect(text(pay())).toBe('Join the Sun$12'));
    expect(bodies('/checkout/quote').at(-1)).toEqual({ plan_id: 'reader-monthly', currency: 'usd' });
  });

  it('shows the names of plans of several months or a week', async () => {
    const recurring = (interval: 'month' | 'week', interval_count: number) => ({
      recurring: { interval, interval_count },
    });
    const quarterly = price('reader-quarterly', 3300, { name: 'Quarterly', ...recurring('month', 3) });
    const weekly = price('reader-weekly', 300, { name: 'Weekly', ...recurring('week', 1) });
    answers['/api/v1/checkout/plans'] = () =>
      json({ ...plansAnswer, scriptUrl: scriptUrl(), prices: [quarterly, monthly, weekly] });
    await toPayment({});
    expect(named('label', 'Quarterly $33 every 3 months')).toBeTruthy();
    expect(named('label', 'Weekly $3 a week')).toBeTruthy();
    expect(named('label', 'Monthly $12 a month')).toBeTruthy();
  });
});
