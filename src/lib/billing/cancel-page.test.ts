/** Which subscription the page cancels, and which one it names. */
import { expect, it, vi } from 'vitest';
import type { Session } from '../accounts/service.ts';
import { cancelView, resumedAddress } from './cancel-page.server.ts';
import type { Subscription } from './schema.ts';
import type { Billing } from './service.ts';

const reader = { userId: 'ada' } as Session;
const member = { id: 'sub_member', status: 'active', cancelAtPeriodEnd: false } as Subscription;
const paper = { ...member, id: 'sub_paper' };
const gone = { ...paper, cancelAtPeriodEnd: true };
const viewOf = (subscriptions: readonly Subscription[], query = '') => {
  const retentionOffer = vi.fn<Billing['retentionOffer']>().mockResolvedValue(null);
  const billing = { subscriptions: () => Promise.resolve(subscriptions), retentionOffer } as unknown as Billing;
  return cancelView(billing, reader, new URLSearchParams(query));
};

it.each([
  ['the one that the account shows', '', { subscription: member, main: true, several: true, kind: 'why' }],
  ['the one that the address names', 'subscription=sub_paper', { subscription: paper, main: false, kind: 'why' }],
  ['the same one at the next step', 'subscription=sub_paper&step=confirm', { subscription: paper, kind: 'confirm' }],
  ['the one that the account shows for an unknown one', 'subscription=sub_x', { subscription: member, several: true }],
])('of two subscriptions the page is about %s', async (_, query, view) => {
  expect(await viewOf([member, paper], query)).toMatchObject(view);
});

it('the page of one that is canceled stays about it while another one renews', async () => {
  const view = await viewOf([member, gone], 'subscription=sub_paper&state=cancelled');
  expect(view).toMatchObject({ kind: 'ending', subscription: gone, several: true, main: false });
});

it('the account says which of two subscriptions is resumed', async () => {
  const addressOf = (...all: readonly Subscription[]) =>
    resumedAddress({ subscriptions: async () => all } as unknown as Billing, reader, 'sub_paper');
  expect(await addressOf(member, paper)).toBe('/dashboard/account?state=resumed&subscription=sub_paper#plan');
  expect(await addressOf(paper)).toBe('/dashboard/account?state=resumed#plan');
});

it('a single subscription isn’t named, and without one there is nothing to cancel', async () => {
  expect(await viewOf([member])).toMatchObject({ kind: 'why', several: false, main: true });
  expect(await viewOf([])).toEqual({ kind: 'none' });
});
