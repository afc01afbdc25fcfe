/** A reader's membership and subscription in words (spec section 4). */

import { highestProduct, productSlugs, tierRank } from '../accounts/products.ts';
import type { SavedCard, Subscription } from '../billing/schema.ts';
import { isLive, isOverdue, mayRenew } from '../billing/subscription-model.ts';
import { formatSum, formatTaxed } from '../money.ts';
import { subscription as messages } from './messages.ts';
import { findTier, printTier, tiers } from './model.ts';

/** What is open to a reader now. */
export interface ActiveProduct {
  readonly product: string;
  readonly print: boolean;
}

/** "Sun Member (Digital Only)"; blank for readers who pay for something else; "Free Account" for those who pay for nothing. */
export function membershipLabel(active: readonly ActiveProduct[]): string {
  const highest = tiers.findLast(({ id }) => active.some(({ product }) => product === id));
  if (!highest) return active.length > 0 ? '' : 'Free Account';
  const digital = highest.id === printTier && !active.some(({ product, print }) => product === highest.id && print);
  return digital ? `${highest.name} (Digital Only)` : highest.name;
}

/** Readers below the highest tier are offered an upgrade. */
export const mayUpgrade = (active: readonly ActiveProduct[]): boolean =>
  !active.some(({ product }) => tierRank(product) >= tierRank(productSlugs[highestProduct]));

/** "Sun Member with the print edition, Monthly". */
export const subscriptionName = ({
  productId,
  planName,
  print,
}: Pick<Subscription, 'productId' | 'planName' | 'print'>): string => {
  const name = findTier(productId)?.name;
  return name ? `${name}${print ? ' with the print edition' : ''}, ${planName}` : planName;
};

/** What is said once a cancellation or a planned change is taken back. @param several whether the reader has others, too */
export const resumedInWords = (one: Subscription, several: boolean): string =>
  several ? `Done. ${subscriptionName(one)} continues.` : messages.resumed;

/** The state of a subscription, for the panel about it. */
export interface SubscriptionState {
  readonly kind: 'active' | 'changing' | 'ending' | 'overdue' | 'paused' | 'ended';
  /** What the reader should know; `null` if everything is normal. */
  readonly words: string | null;
  /** Labels and values. */
  readonly facts: readonly (readonly [string, string])[];
}

/** Whether the paid time, including days of grace, is still running. @param now epoch milliseconds */
export const hasAccess = ({ paidUntil }: Pick<Subscription, 'paidUntil'>, now: number): boolean =>
  Date.parse(paidUntil) > now;

/**
 * @param day prints an instant as a day
 * @param several whether the reader has others, too: then the words name this one, and say nothing about all access and charges
 * @param now epoch milliseconds
 */
export function subscriptionState(
  one: Subscription,
  day: (instant: string) => string,
  several = false,
  now = Date.now(),
): SubscriptionState {
  const { status, nextBillingDate, paidUntil, price, preDiscountPrice, currency } = one;
  const until = day(paidUntil);
  const name = subscriptionName(one);
  const access = accessInWords(hasAccess(one, now), until, several);
  const billed = one.byInvoice ? 'billed' : 'charged';
  const [your, charged] = several ? [name, `${billed} for it`] : ['Your subscription', billed];
  const plan = ['Plan', name] as const;
  const net = one.tax && !one.tax.included ? price - one.tax.amount : price;
  const sum = formatTaxed(price, one.tax, currency);
  const bill = net < preDiscountPrice ? `${sum} instead of ${formatSum(preDiscountPrice, currency)}` : sum;
  if (!isLive(one))
    return {
      kind: 'ended',
      words: `${your} ended. ${hasAccess(one, now) ? access : `You had access until ${until}.`}`,
      facts: [plan],
    };
  if (one.cancelAtPeriodEnd) {
    const words = `${your} is canceled. ${access} You won’t be ${charged} again.`;
    return { kind: 'ending', words, facts: [plan, ['Access until', until]] };
  }
  if (one.paused) {
    const again = one.paused.resumesAt === null ? '' : ` Billing resumes on ${day(one.paused.resumesAt)}.`;
    const words = `Billing ${several ? `for ${name} ` : ''}is paused, and you won’t be ${charged}.${again} ${access}`;
    return { kind: 'paused', words, facts: [plan, ['Access until', until]] };
  }
  if (isOverdue(one)) {
    const again =
      nextBillingDate === null || one.byInvoice ? '' : ` We’ll try your card again on ${day(nextBillingDate)}.`;
    const words = `${missedInWords(one, several ? `for ${name} ` : '')}.${again} ${access}`;
    return { kind: 'overdue', words, facts: [plan, ['Access until', until]] };
  }
  if (status === 'paused' || nextBillingDate === null)
    return {
      kind: 'paused',
      words: `${your} is paused. ${access}`,
      facts: [plan],
    };
  const facts = [plan, ['Renewal date', day(nextBillingDate)], ['Next bill', bill]] as const;
  if (one.next)
    return {
      kind: 'changing',
      words: `${several ? name : 'Your plan'} changes to ${subscriptionName(one.next)} on ${day(nextBillingDate)}.`,
      facts,
    };
  if (status === 'trialing')
    return {
      kind: 'active',
      words: `Your introductory period ${several ? `of ${name} ` : ''}ends on ${day(nextBillingDate)}. After that you pay ${bill}.`,
      facts,
    };
  if (one.invoiceOpen) {
    const next = hasAccess(one, now) ? 'Pay it by its due date to keep your access.' : 'Pay it to get access.';
    return { kind: 'active', words: `You have an unpaid invoice${several ? ` for ${name}` : ''}. ${next}`, facts };
  }
  return { kind: 'active', words: null, facts };
}

/** What is overdue, as the beginning of a sentence. @param which names the subscription and ends with a space; may be empty */
export const missedInWords = ({ byInvoice }: Pick<Subscription, 'byInvoice'>, which: string): string =>
  byInvoice ? `Your last invoice ${which}hasn’t been paid` : `Your last payment ${which}didn’t go through`;

function accessInWords(isOpen: boolean, until: string, several: boolean): string {
  if (several) return isOpen ? `You keep what it includes until ${until}.` : `It gave you access until ${until}.`;
  return isOpen ? `You keep full access until ${until}.` : `Your access ended on ${until}.`;
}

/** What a reader has bought, in words. */
export interface Bought {
  /** "Sun Member with the print edition". */
  readonly name: string;
  /** When it is next billed, or ends; `null` if neither is known. */
  readonly next: string | null;
  readonly print: boolean;
}

/** Describes a subscription that runs; `null` when there is none. @param day prints an instant as a day */
export function boughtOf(subscription: Subscription | null, day: (instant: string) => string): Bought | null {
  if (!subscription || !mayRenew(subscription)) return null;
  const { productId, planName, print } = subscription;
  const tier = findTier(productId)?.name ?? planName;
  return { name: print ? `${tier} with the print edition` : tier, next: nextInWords(subscription, day, 'Your'), print };
}

/** When a running subscription is next billed, or ends. @param whose begins the sentence about the bill */
function nextInWords(one: Subscription, day: (instant: string) => string, whose: 'Your' | 'Its'): string {
  const { price, tax, currency, nextBillingDate, paidUntil, paused, cancelAtPeriodEnd } = one;
  if (cancelAtPeriodEnd || (nextBillingDate === null && !paused)) return `It ends on ${day(paidUntil)}.`;
  if (nextBillingDate === null)
    return whose === 'Its' ? 'Billing for it is paused.' : 'Billing is paused, and you won’t be charged.';
  return `${whose} next bill is ${formatTaxed(price, tax, currency)} on ${day(nextBillingDate)}.`;
}

/** A subscription in addition to the one that is shown, in a sentence or two. @param day prints an instant as a day */
export function otherSubscriptionInWords(one: Subscription, day: (instant: string) => string): string {
  const next = isOverdue(one)
    ? ` ${missedInWords(one, 'for it ')}.`
    : mayRenew(one)
      ? ` ${nextInWords(one, day, 'Its')}`
      : '';
  return `You also have ${subscriptionName(one)}.${next}`;
}

/**
 * A warning about a card that expires before a bill, or has expired; `null`: none.
 *
 * @param charged the subscriptions that are charged to it
 * @param several whether the reader has several: then the warning names the one that is billed first
 * @param now epoch milliseconds
 */
export function cardWarning(
  { expMonth, expYear }: Pick<SavedCard, 'expMonth' | 'expYear'>,
  charged: readonly Subscription[],
  several: boolean,
  now = Date.now(),
): string | null {
  // A card is valid until the last day of its month.
  const ends = Date.UTC(expYear, expMonth, 1);
  const bill = ({ nextBillingDate }: Subscription): number => Date.parse(nextBillingDate ?? '');
  const [late] = charged.filter((one) => bill(one) >= ends).toSorted((a, b) => bill(a) - bill(b));
  if (now >= ends) return 'This card has expired. Please add a new one.';
  if (!late) return null;
  const which = several ? `the next bill for ${subscriptionName(late)}` : 'your next bill';
  return `This card expires before ${which}. Please add a new one in time.`;
}

/** Whether the print edition comes with a subscription: not if it has ended or never started, but while it is overdue or paused. */
export const includesPrint = (subscription: Pick<Subscription, 'print' | 'status'> | null | undefined): boolean =>
  subscription?.print === true && isLive(subscription);
