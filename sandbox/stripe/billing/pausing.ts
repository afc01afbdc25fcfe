/**
 * `pause_collection` (docs.stripe.com/billing/subscriptions/pause-payment): the subscription continues and keeps its status;
 * `behavior` decides what happens to its invoices, and `resumes_at` ends the pause.
 */
import type { StripeAccount } from '../core/account.ts';
import type { Invoice, Subscription } from '../core/model.ts';
import type { Params } from '../core/params.ts';
import { voidInvoice } from './collecting.ts';
import { readFutureTimestamp } from './creating.ts';
import { finalize } from './invoicing.ts';

const behaviors = ['keep_as_draft', 'mark_uncollectible', 'void'] as const;

export interface Pause {
  readonly behavior: (typeof behaviors)[number];
  readonly resumes_at: number | null;
}

export const pauseOf = (subscription: Subscription): Pause | null => subscription.pause_collection as Pause | null;

export function readPause(account: StripeAccount, subscription: Subscription, params: Params): void {
  const given = params.object('pause_collection');
  if (given === undefined) return;
  const until = given?.text('resumes_at');
  const behavior = given?.one('behavior', behaviors);
  subscription.pause_collection = behavior
    ? {
        behavior,
        resumes_at: until
          ? readFutureTimestamp(until, account.now(subscription), 'pause_collection[resumes_at]')
          : null,
      }
    : null;
}

/** Applies a pause to a new draft invoice. */
export function applyPause(account: StripeAccount, subscription: Subscription, invoice: Invoice | null): void {
  const pause = pauseOf(subscription);
  if (!pause || invoice?.status !== 'draft') return;
  account.store.touch(invoice);
  invoice.auto_advance = false;
  invoice.automatically_finalizes_at = null;
  invoice.next_payment_attempt = null;
  invoice._held = true;
  if (pause.behavior === 'keep_as_draft') return;
  finalize(account, invoice);
  if (pause.behavior === 'void') {
    voidInvoice(account, invoice);
    return;
  }
  invoice.status = 'uncollectible';
  invoice.status_transitions = { ...invoice.status_transitions, marked_uncollectible_at: account.now(invoice) };
  account.emit('invoice.marked_uncollectible', invoice);
}

/** Ends a pause: later invoices are collected again, those of the pause stay as they are. */
export function resume(account: StripeAccount, subscription: Subscription): void {
  account.store.touch(subscription);
  subscription.pause_collection = null;
}
