// @vitest-environment jsdom
import { act } from 'react';
import { afterEach, expect, it, vi } from 'vitest';
import type { Invoice, InvoicesAnswer } from '../../lib/billing/schema.ts';
import { button, click, type Drawn, draw } from '../shared/testing.tsx';
import SubscriptionInvoices from './SubscriptionInvoices.island.tsx';

let drawn: Drawn;
afterEach(async () => {
  await drawn.remove();
  vi.unstubAllGlobals();
});

const bill = (id: string, part: Partial<Invoice> = {}): Invoice => ({
  id,
  number: `A-${id}`,
  date: '2026-11-21T12:00:00Z',
  amount: 12_000,
  currency: 'usd',
  status: 'paid',
  file: true,
  ...part,
});
const show = async (first: InvoicesAnswer) => {
  drawn = await draw(<SubscriptionInvoices first={first} />);
};
const rows = () => [...drawn.host.querySelectorAll('li')].map(({ textContent }) => textContent);
const older = () => [...drawn.host.querySelectorAll('a')].find(({ textContent }) => textContent === 'Older invoices');

it('invoices are listed with links to their PDFs, and an open one with a link to pay it', async () => {
  const refunded = bill('in_0', { status: 'refunded', file: false });
  await show({ bills: [bill('in_2', { status: 'open' }), bill('in_1', { file: false }), refunded], next: null });
  expect(rows()).toEqual([
    'November 21, 2026A-in_2$120.00Not paid yetPay invoice A-in_2PDF of invoice A-in_2',
    'November 21, 2026A-in_1$120.00Paid',
    'November 21, 2026A-in_0$120.00Refunded',
  ]);
  expect([...drawn.host.querySelectorAll('a')].map((link) => link.getAttribute('href'))).toEqual([
    '/account/invoice?id=in_2&as=page',
    '/account/invoice?id=in_2&as=pdf',
  ]);
});

it('invoices of several subscriptions say which one they belong to', async () => {
  await show({ bills: [bill('in_2', { plan: 'Sun Member, Yearly' }), bill('in_1')], next: null });
  expect(rows()).toEqual([
    'November 21, 2026A-in_2Sun Member, Yearly$120.00PaidPDF of invoice A-in_2',
    'November 21, 2026A-in_1$120.00PaidPDF of invoice A-in_1',
  ]);
});

it('a reader without invoices sees that there are none', async () => {
  await show({ bills: [], next: null });
  expect(drawn.host.textContent).toContain('You have no invoices yet.');
});

it('older invoices can be loaded, and tried again after a failure', async () => {
  await show({ bills: [bill('in_2')], next: 'in_2' });
  expect(older()?.getAttribute('href')).toBe('?invoices=in_2#invoices');
  const fetched = vi.fn(async (_path: string) => Response.json({ message: 'away' }, { status: 503 }));
  vi.stubGlobal('fetch', fetched);
  await click(older() as HTMLElement);
  await vi.waitFor(() => expect(drawn.host.textContent).toContain('We couldn’t load your invoices.'));
  expect(rows()).toHaveLength(1);
  fetched.mockImplementation(async () => Response.json({ bills: [bill('in_1')], next: null }));
  await act(async () => button('Try again').click());
  await vi.waitFor(() => expect(rows()).toHaveLength(2));
  expect(fetched).toHaveBeenLastCalledWith('/api/v1/me/invoices?after=in_2', expect.anything());
  expect(older()).toBeUndefined();
});

it('loading older invoices moves the focus to the first of them', async () => {
  await show({ bills: [bill('in_2')], next: 'in_2' });
  vi.stubGlobal('fetch', async () => Response.json({ bills: [bill('in_1')], next: null }));
  older()?.focus();
  await click(older() as HTMLElement);
  await vi.waitFor(() => expect(rows()).toHaveLength(2));
  expect(document.activeElement).toBe(drawn.host.querySelectorAll('li')[1]);
});
