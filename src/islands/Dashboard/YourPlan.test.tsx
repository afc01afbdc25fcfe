// @vitest-environment jsdom
import { afterEach, expect, it, vi } from 'vitest';
import { type Drawn, draw } from '../shared/testing.tsx';
import YourPlan from './YourPlan.island.tsx';

let drawn: Drawn;
afterEach(async () => {
  await drawn.remove();
  vi.unstubAllGlobals();
});

const answers = (answer: () => Promise<Response>) => {
  const fetched = vi.fn(answer);
  vi.stubGlobal('fetch', fetched);
  return fetched;
};

const subscription = {
  id: 'sub_1',
  currency: 'usd',
  preDiscountPrice: 28_000,
  price: 28_000,
  productId: 'sun-member',
  planId: 'member-print-yearly',
  planName: 'Print',
  interval: 'year',
  print: true,
  status: 'active',
  nextBillingDate: '2027-11-21T12:00:00Z',
  paidUntil: '2027-11-21T12:00:00Z',
  cancelAtPeriodEnd: false,
};

it('a print plan shows its next bill and a link to the shipping address', async () => {
  answers(async () => Response.json({ subscription }));
  drawn = await draw(<YourPlan />);
  await vi.waitFor(() => expect(drawn.host.textContent).toContain('Sun Member with the print edition'));
  expect(drawn.host.textContent).toContain('Your next bill is $280 on November 21, 2027.');
  expect(drawn.host.querySelector('a')?.getAttribute('href')).toBe('/shipping');
});

it.each([
  ['the session has ended', () => Response.json({ message: 'Sign in.' }, { status: 401 })],
  ['the server fails', () => new Response('<h1>Bad gateway</h1>', { status: 502 })],
  [
    'the payment provider is unavailable',
    () => Response.json({ message: 'Failed to fetch subscriptions' }, { status: 502 }),
  ],
  ['there is no subscription', () => Response.json({ subscription: null })],
  ['the response is empty', () => new Response('')],
])('the plan is replaced by a reference to the account, without an error, when %s', async (_why, answer) => {
  const fetched = answers(async () => answer());
  const error = vi.spyOn(console, 'error');
  drawn = await draw(<YourPlan />);
  await vi.waitFor(() => expect(fetched).toHaveBeenCalledOnce());
  await drawn.draw(<YourPlan />);
  expect(drawn.host.textContent).toMatch(/in your account/);
  expect(error).not.toHaveBeenCalled();
});
