/** Which mail a state of a subscription causes, and under which name each is sent only once. Pure. */
import type { Message } from '../mail/model.ts';
import { entitlementOf, isEnding, isPaused, isRunning, paidUntil, type StripeState } from './state.ts';
import { isInGoodStanding, isOverdue } from './status.ts';

/** Without the address: that is the reader's present one. */
export type BillingMessage = Extract<
  Message,
  { readonly kind: 'receipt' | 'renewal-notice' | 'payment-failed' | 'cancelled' | 'welcome-tier' }
>;
type Unaddressed<T> = T extends unknown ? Omit<T, 'to'> : never;

export interface Notice {
  readonly key: string;
  readonly message: Unaddressed<BillingMessage>;
}

const day = 24 * 60 * 60 * 1000;
/** What is older is not mailed: when an account with many subscriptions is connected, no reader gets mail about last year. */
const newsMs = 3 * day;

export interface NoticeRules {
  readonly graceDays: number;
  readonly renewalNoticeDays: number;
}

/** @param now epoch milliseconds @param announced whether Stripe has said that the next bill is near */
export function noticesOf(state: StripeState, now: number, rules: NoticeRules, announced = false): readonly Notice[] {
  const open = entitlementOf(state, now, rules.graceDays);
  const until = paidUntil(state);
  return [
    ...welcome(state, now, open !== null),
    ...receipts(state, now),
    ...failed(state, now, open?.until ?? until),
    ...cancelled(state, now, until),
    ...renewal(state, now, announced ? Number.POSITIVE_INFINITY : rules.renewalNoticeDays * day),
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
  return state.invoices
    .filter(({ status, paid, paidAt }) => status === 'paid' && paid > 0 && paidAt !== null && paidAt > now - newsMs)
    .map(({ id, paid: amount, tax = null, currency, paidAt }) => ({
      key: `receipt:${id}`,
      message: {
        kind: 'receipt',
        amount,
        tax,
        currency,
        plan: state.price.name,
        paidAt: paidAt ?? now,
        nextBill:
          isRunning(state) && !isEnding(state) && !isPaused(state)
            ? { at: state.periodEnd, amount: state.nextAmount, tax: state.nextTax ?? null }
            : null,
      },
    }));
}

/** A renewal that failed; a first payment that fails is told on the screen. */
function failed(state: StripeState, now: number, until: number | null): Notice[] {
  if (!isOverdue(state)) return [];
  const invoice = state.invoices.find(({ status, attempted }) => status === 'open' && attempted);
  if (!invoice || invoice.created < now - newsMs || until === null) return [];
  const { id, due: amount, tax = null, currency, nextAttempt } = invoice;
  return [
    {
      key: `failed:${id}`,
      message: { kind: 'payment-failed', plan: state.price.name, amount, tax, currency, nextAttempt, until },
    },
  ];
}

/** Name of the note that a cancellation was told. */
export const cancelledKey = ({ id }: Pick<StripeState, 'id'>, until: number): string => `cancelled:${id}:${until}`;

/** Once for each paid time: when it is cancelled, or when it ends without having been. Told anew when it was taken back in between. */
function cancelled(state: StripeState, now: number, until: number | null): Notice[] {
  const ended = state.status === 'canceled';
  if (until === null || (!ended && !(isRunning(state) && isEnding(state)))) return [];
  if (ended && (state.endedAt ?? 0) < now - newsMs) return [];
  const message = { kind: 'cancelled', plan: state.price.name, until, over: until <= now } as const;
  return [{ key: cancelledKey(state, until), message }];
}

function renewal(state: StripeState, now: number, withinMs: number): Notice[] {
  const renewing = isInGoodStanding(state) && !isEnding(state) && !isPaused(state);
  // A notice is sent once: it waits until Stripe has said the amount.
  if (state.amountPending) return [];
  // What is billed again within a few days anyway, such as each week, is not announced.
  const left = state.periodEnd - now;
  if (!renewing || state.nextAmount === 0 || left <= 0 || left > withinMs) return [];
  if (state.periodEnd - state.periodStart < 14 * day) return [];
  const { name: plan, currency } = state.next ?? state.price;
  return [
    {
      key: `renewal:${state.id}:${state.periodEnd}`,
      message: {
        kind: 'renewal-notice',
        plan,
        amount: state.nextAmount,
        tax: state.nextTax ?? null,
        currency,
        at: state.periodEnd,
      },
    },
  ];
}
