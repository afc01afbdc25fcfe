// @vitest-environment jsdom
import { act } from 'react';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Subscription } from '../../lib/billing/schema.ts';
import { button, type Drawn, draw, submit } from '../shared/testing.tsx';
import SubscriptionPlan from './SubscriptionPlan.island.tsx';

let drawn: Drawn;
// The subscription below is paid until January 2027; after that the panel has other words.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-12-01T12:00:00Z') }));
afterEach(async () => {
  await drawn.remove();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const running: Subscription = {
  id: 'sub_1',
  currency: 'usd',
  preDiscountPrice: 12_000,
  price: 12_000,
  productId: 'sun-reader',
  planId: 'reader-yearly',
  planName: 'Yearly',
  interval: 'year',
  print: false,
  status: 'active',
  nextBillingDate: '2027-01-20T12:00:00Z',
  paidUntil: '2027-01-20T12:00:00Z',
  cancelAtPeriodEnd: false,
};
const ending = { ...running, cancelAtPeriodEnd: true, nextBillingDate: null };
const show = async (first: Subscription | null, label = 'Sun Reader', upgrade = true) => {
  drawn = await draw(<SubscriptionPlan label={label} first={first} upgrade={upgrade} />);
};
const links = () => [...drawn.host.querySelectorAll('a')].map(({ textContent, pathname }) => [textContent, pathname]);
const form = () => drawn.host.querySelector('form') as HTMLFormElement;
const answers = (answer: () => Promise<Response>) => {
  const fetched = vi.fn(answer);
  vi.stubGlobal('fetch', fetched);
  return fetched;
};

it('a running subscription shows its product and renewal date, with links to upgrade and to cancel', async () => {
  await show(running);
  expect(drawn.host.textContent).toContain('Sun Reader');
  expect(drawn.host.textContent).toContain('Renewal dateJanuary 20, 2027');
  expect(links()).toEqual([
    ['Upgrade', '/pricing'],
    ['Cancel your subscription', '/cancel'],
  ]);
});

it('of several subscriptions, the link to cancel names the one that is shown', async () => {
  drawn = await draw(<SubscriptionPlan label="Sun Reader" first={running} upgrade={false} several />);
  const [link] = drawn.host.querySelectorAll('a');
  expect(link?.textContent).toBe('Cancel (Sun Reader, Yearly)');
  expect(link?.getAttribute('href')).toBe('/cancel?subscription=sub_1');
});

it('of several subscriptions, the words and the message once it continues name the one that is shown', async () => {
  answers(async () => Response.json({ subscription: running }));
  drawn = await draw(<SubscriptionPlan label="Sun Reader" first={ending} upgrade={false} several />);
  expect(drawn.host.textContent).toContain('Sun Reader, Yearly is canceled. You keep what it includes until');
  await submit(form());
  await vi.waitFor(() => expect(drawn.host.textContent).toContain('Done. Sun Reader, Yearly continues.'));
});

it('a founder is offered no upgrade, and a free account no cancellation', async () => {
  await show(running, 'Sun Founder', false);
  expect(links()).toEqual([['Cancel your subscription', '/cancel']]);
  await drawn.remove();
  await show(null, 'Free Account');
  expect(drawn.host.textContent).toContain('Free Account');
  expect(links()).toEqual([['Upgrade', '/pricing']]);
});

it('a failed payment leads to the page for updating the card', async () => {
  await show({ ...running, status: 'past_due' });
  expect(drawn.host.textContent).toContain('Your last payment didn’t go through.');
  expect(links()[0]).toEqual(['Update your card', '/account/card']);
});

it('an overdue invoice leads to the invoices, because no card is charged', async () => {
  await show({ ...running, status: 'past_due', byInvoice: true });
  expect(drawn.host.textContent).toContain('Your last invoice hasn’t been paid.');
  expect(drawn.host.textContent).not.toContain('card');
  expect(drawn.host.querySelector('a')?.getAttribute('href')).toBe('#invoices');
  expect(links()[0]?.[0]).toBe('Pay your invoice');
  await drawn.remove();
  await show({ ...running, byInvoice: true, invoiceOpen: true });
  expect(drawn.host.textContent).toContain('You have an unpaid invoice.');
  expect(links()[0]?.[0]).toBe('Pay your invoice');
});

it('a planned change can be taken back, unless the publisher has planned it', async () => {
  const next = { planId: 'm', planName: 'Monthly', productId: 'sun-reader', print: false };
  await show({ ...running, next });
  expect(form().textContent).toBe('Keep my current plan');
  await drawn.remove();
  await show({ ...running, next: { ...next, fixed: true } });
  expect(drawn.host.textContent).toContain('Your plan changes to Sun Reader, Monthly');
  expect(form()).toBeNull();
});

it('continuing a canceled subscription sends one request for two submits, from a plain form', async () => {
  const answer = Promise.withResolvers<Response>();
  const fetched = answers(() => answer.promise);
  await show(ending);
  expect([form().method, new URL(form().action).pathname]).toEqual(['post', '/account/subscription']);
  expect(new FormData(form()).get('subscription')).toBe('sub_1');
  await submit(form());
  await submit(form());
  const asked = expect.objectContaining({ body: JSON.stringify({ subscriptionId: 'sub_1' }) });
  expect(fetched).toHaveBeenCalledExactlyOnceWith('/api/v1/me/subscription/resume', asked);
  expect(button('One moment…').getAttribute('aria-disabled')).toBe('true');
  await act(async () => answer.resolve(Response.json({ subscription: running })));
  await vi.waitFor(() => expect(drawn.host.textContent).toContain('Done. Your subscription continues.'));
  expect(fetched).toHaveBeenCalledOnce();
  expect(drawn.host.textContent).toContain('Renewal date');
  await vi.waitFor(() => expect(document.activeElement?.textContent).toBe('Done. Your subscription continues.'));
});

it.each([
  ['the server fails', async () => new Response('<h1>Bad gateway</h1>', { status: 502 }), 'Something went wrong.'],
  ['there is no connection', () => Promise.reject(new TypeError('offline')), 'We couldn’t reach the server.'],
])('continuing a subscription shows an error when %s, and can be tried again', async (_where, answer, words) => {
  answers(answer);
  await show(ending);
  await submit(form());
  await vi.waitFor(() => expect(drawn.host.querySelector('[role="alert"]')?.textContent).toContain(words));
  answers(async () => Response.json({ subscription: running }));
  await submit(form());
  await vi.waitFor(() => expect(drawn.host.textContent).toContain('Done.'));
});

it('a subscription that has ended shows “Failed to fetch subscriptions” until a new try succeeds', async () => {
  answers(async () => Response.json({ message: 'gone' }, { status: 404 }));
  await show(ending);
  await submit(form());
  await vi.waitFor(() => expect(drawn.host.textContent).toContain('Failed to fetch subscriptions'));
  answers(async () => Response.json({ subscription: null }));
  await act(async () => button('Try again').click());
  await vi.waitFor(() => expect(drawn.host.textContent).not.toContain('Failed'));
});
