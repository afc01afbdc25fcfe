// @vitest-environment jsdom
import { HttpResponse } from 'msw';
import { act } from 'react';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { anonymousSession } from '../../lib/accounts/session.ts';
import { closePaywall, openPaywall } from '../../stores/ui.ts';
import { button, click, field, named, settle, submit, type } from '../shared/testing.tsx';
import { monthly, plansAnswer, price, quoteOf } from './testing.ts';
import {
  alerts,
  answers,
  asked,
  bodies,
  closeAll,
  drawn,
  drawPaywall,
  json,
  loadScript,
  open,
  openSignedIn,
  openStep,
  pay,
  reset,
  scriptUrl,
  sheet,
  startServer,
  step,
  stopServer,
  stripe,
  tag,
  text,
  toPayment,
} from './testing-paywall.tsx';
import { $session, closeAfterPayment, onServer, reader, signOut } from './testing-session.ts';

vi.mock('../../stores/session.ts', () => import('./testing-session.ts'));
vi.mock('./after-payment.ts', () => import('./testing-session.ts'));

beforeAll(startServer);
beforeEach(reset);
afterEach(closeAll);
afterAll(stopServer);

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

  it('offers the plans again after a subscriber’s Logout', async () => {
    onServer.product = 'reader';
    answers['/api/v1/checkout/quote'] = () => json(quoteOf(8022, { kind: 'upgrade' }));
    await openSignedIn({});
    await settle(() => expect(named('h2', 'Upgrade')).toBeTruthy());
    answers['/api/v1/checkout/quote'] = () => json(quoteOf(12_000));
    await click(button('Change account'));
    await click(button('Logout'));
    await act(async () => $session.set(anonymousSession));
    await settle(() => expect(sheet().querySelector('[data-offer="choice"]')).not.toBeNull());
    expect(text(sheet())).not.toContain('Upgrade');
  });

  it('opens with an empty address after Logout', async () => {
    await toPayment();
    await click(button('Change account'));
    await click(button('Logout'));
    expect(signOut).toHaveBeenCalledOnce();
    await act(async () => $session.set(anonymousSession));
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

describe('a purchase in progress', () => {
  it('is looked up, and not repeated, when the paywall is opened again', async () => {
    const { beginAttempt } = await import('../../stores/paywall.ts');
    beginAttempt('x');
    onServer.signedIn = true;
    $session.set(reader());
    await drawPaywall();
    await act(async () => openPaywall({ planId: 'reader-yearly' }));
    await settle(() => expect(closeAfterPayment).toHaveBeenCalledOnce());
    expect(bodies('/stripe/subscribe')).toEqual([]);
  });

  it('is finished here when another tab has paid', async () => {
    await toPayment();
    onServer.product = 'reader';
    await act(async () => $session.set(reader()));
    await settle(() => expect(closeAfterPayment).toHaveBeenCalledOnce());
    expect(bodies('/stripe/subscribe')).toEqual([]);
  });

  it('is not one of this page when a subscriber only signs in here', async () => {
    await open();
    onServer.signedIn = true;
    onServer.product = 'reader';
    await act(async () => $session.set(reader()));
    await settle(() => expect(closeAfterPayment).toHaveBeenCalledOnce());
    expect(closeAfterPayment).toHaveBeenCalledWith(expect.anything(), 'ada@example.com', 'same');
  });
});

describe('the paywall when something fails', () => {
  it('shows a message and can be tried again', async () => {
    answers['/api/v1/checkout/plans'] = () => HttpResponse.error() as never;
    await drawPaywall();
    await act(async () => openPaywall({ planId: 'reader-yearly' }));
    await settle(() => expect(alerts()[0]).toContain('We couldn’t reach the server.'));
    answers['/api/v1/checkout/plans'] = () => json(plansAnswer);
    await click(button('Try again'));
    await settle(() => expect(openStep()).toBe('account'));
  });

  it('loads by itself when the browser is back online', async () => {
    answers['/api/v1/checkout/plans'] = () => HttpResponse.error() as never;
    await drawPaywall();
    await act(async () => openPaywall({ planId: 'reader-yearly' }));
    await settle(() => expect(alerts()[0]).toContain('We couldn’t reach the server.'));
    answers['/api/v1/checkout/plans'] = () => json(plansAnswer);
    answers['/api/v1/checkout/quote'] = () => HttpResponse.error() as never;
    await act(async () => void dispatchEvent(new Event('online')));
    await settle(() => expect(openStep()).toBe('account'));
  });

  it('offers no other plan when the requested one is not sold', async () => {
    await drawPaywall();
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
