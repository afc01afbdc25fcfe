/** The mail that follows from the state of a subscription, each under a key that is used once. Pure functions. */
import type { BillingMessage } from '../mail/model.ts';
import { priceName } from '../plans/model.ts';
import {
  type BillingRules,
  entitlementOf,
  isEnding,
  isOverdue,
  isPaused,
  isRunning,
  noticeFrom,
  paidUntil,
  renewsAt,
  type StripeState,
} from './subscription-model.ts';

type Unaddressed<T> = T extends unknown ? Omit<T, 'to'> : never;

export interface Notice {
  readonly key: string;
  /** Without the reader's address: mail goes to the address that is current when it is sent. */
  readonly message: Unaddressed<BillingMessage>;
}

const day = 24 * 60 * 60 * 1000;
/** Older events aren't mailed: after a Stripe account with many subscriptions is connected, no reader gets mail about last year. */
const newsMs = 3 * day;
/** Stripe retries a bill for at most two months. */
const retriedMs = 62 * day;

/**
 * @param now epoch milliseconds
 * @param known `announced`: whether Stripe has announced the next bill; `others`: whether the reader has another subscription
 */
export function noticesOf(
  state: StripeState,
  now: number,
  rules: BillingRules,
  { announced = false, others = false } = {},
): readonly Notice[] {
  const open = entitlementOf(state, now, rules.graceDays);
  const until = paidUntil(state);
  return [
    ...welcome(state, now, open !== null),
    ...receipts(state, now),
    ...failed(state, now, open?.until ?? until, others),
    ...cancelled(state, now, until, others),
    ...renewal(state, now, noticeFrom(state, rules.renewalNoticeDays, announced)),
  ];
}

function welcome(state: StripeState, now: number, isOpen: boolean): Notice[] {
  const { product, print, name } = state.price;
  const begun = state.invoices.some(
    ({ reason, paidAt, refunded }) =>
      (reason === 'subscription_create' || reason === 'subscription_update') &&
      !refunded &&
      paidAt !== null &&
      paidAt > now - newsMs,
  );
  if (!isOpen || !begun || !state.paid.some((time) => time.product === product && time.print === print)) return [];
  const key = `welcome:${state.id}:${product}:${print ? 'print' : 'digital'}`;
  return [{ key, message: { kind: 'welcome-tier', product, plan: name, print } }];
}

function receipts(state: StripeState, now: number): Notice[] {
  // Read a moment before its first bill was paid, it would seem to have no next bill: its change to active brings the receipt.
  if (state.status === 'incomplete') return [];
  return state.invoices
    .filter(({ status, paid, paidAt }) => status === 'paid' && paid > 0 && paidAt !== null && paidAt > now - newsMs)
    .map(({ id, paid: amount, tax = null, currency, paidAt }) => ({
      key: `receipt:${id}`,
      message: {
        kind: 'receipt',
        amount,
        tax,
        currency,
        plan: priceName(state.price.product, state.price.name),
        paidAt: paidAt ?? now,
        nextBill: nextBillOf(state),
      },
    }));
}

function nextBillOf(state: StripeState): Extract<BillingMessage, { kind: 'receipt' }>['nextBill'] {
  if (!isRunning(state) || isEnding(state)) return null;
  if (isPaused(state)) return 'paused';
  return { at: state.periodEnd, amount: state.nextAmount, tax: state.nextTax ?? null };
}

/**
 * Mail about a failed renewal, and once more when Stripe stops retrying; a failed first payment is shown on the page, and Stripe itself
 * reminds readers who pay by invoice.
 */
function failed(state: StripeState, now: number, until: number | null, others: boolean): Notice[] {
  if (!isOverdue(state) || state.byInvoice) return [];
  const isGivenUp = state.status === 'unpaid';
  const invoice = state.invoices.find(({ status, attempted }) => status === 'open' && attempted);
  if (!invoice || invoice.created < now - (isGivenUp ? retriedMs : newsMs) || until === null) return [];
  const { id, due: amount, tax = null, currency, nextAttempt } = invoice;
  return [
    {
      // A later bill of the same unpaid subscription doesn't cause another mail.
      key: isGivenUp ? `unpaid:${state.id}:${paidUntil(state)}` : `failed:${id}`,
      message: {
        kind: 'payment-failed',
        plan: priceName(state.price.product, state.price.name),
        amount,
        tax,
        currency,
        nextAttempt,
        until,
        over: until <= now,
        others,
      },
    },
  ];
}

/** Key of the mail about a cancellation: it contains the end of the paid time, which a later refund doesn't change. */
export const cancelledKey = (state: StripeState): string =>
  `cancelled:${state.id}:${paidUntil(state) ?? state.periodEnd}`;

/** Once for each paid period: when it is canceled, or ends without a cancellation. Resuming deletes the key. */
function cancelled(state: StripeState, now: number, until: number | null, others: boolean): Notice[] {
  const ended = state.status === 'canceled';
  if (!ended && !(isRunning(state) && isEnding(state))) return [];
  if (ended && (state.endedAt ?? 0) < now - newsMs) return [];
  // Nothing was paid, or everything was refunded.
  if (until === null && !state.invoices.some(({ paid }) => paid > 0)) return [];
  const message = {
    kind: 'cancelled',
    plan: priceName(state.price.product, state.price.name),
    until,
    over: until === null || until <= now,
    others,
  } as const;
  return [{ key: cancelledKey(state), message }];
}

function renewal(state: StripeState, now: number, from: number): Notice[] {
  // A notice is sent once, so it waits for Stripe's amount.
  if (state.amountPending) return [];
  if (renewsAt(state) === null || state.periodEnd <= now || now < from) return [];
  const { product, name, currency } = state.next ?? state.price;
  return [
    {
      key: `renewal:${state.id}:${state.periodEnd}`,
      message: {
        kind: 'renewal-notice',
        plan: priceName(product, name),
        amount: state.nextAmount,
        tax: state.nextTax ?? null,
        currency,
        at: state.periodEnd,
      },
    },
  ];
}
