/** What a reader's account is called, and how it stands: the rules of spec section 4. Pure. */
import { isLive, isOverdue } from '../billing/status.ts';
import type { Subscription } from '../billing/wire.ts';
import { formatSum, formatTaxed } from '../money.ts';

/** What is open to a reader now. */
export interface Held {
  readonly product: string;
  readonly print: boolean;
}

const names = [
  ['sun-founder', 'Sun Founder'],
  ['sun-member', 'Sun Member'],
  ['sun-reader', 'Sun Reader'],
] as const;

/** "Sun Member (Digital Only)"; blank for who pays for something else; "Free Account" for who pays for nothing. */
export function membershipLabel(held: readonly Held[]): string {
  const [product, name] = names.find(([id]) => held.some((one) => one.product === id)) ?? [];
  if (!name) return held.length > 0 ? '' : 'Free Account';
  const digital = product === 'sun-member' && !held.some((one) => one.product === product && one.print);
  return digital ? `${name} (Digital Only)` : name;
}

/** Everybody but founders is offered more. */
export const mayUpgrade = (held: readonly Held[]): boolean => !held.some(({ product }) => product === 'sun-founder');

const nameOf = ({ productId, planName, print }: Pick<Subscription, 'productId' | 'planName' | 'print'>): string => {
  const name = names.find(([id]) => id === productId)?.[1];
  return name ? `${name}${print ? ' with the print edition' : ''}, ${planName}` : planName;
};

/** How a subscription stands, for the panel about it. */
export interface Standing {
  readonly kind: 'runs' | 'changes' | 'ending' | 'unpaid' | 'paused' | 'over';
  /** A sentence on what the reader should know; `null` when all is as usual. */
  readonly words: string | null;
  /** Names and what stands beside them. */
  readonly facts: readonly (readonly [string, string])[];
}

/**
 * @param day prints an instant as a day
 */
export function standingOf(one: Subscription, day: (instant: string) => string): Standing {
  const { status, nextBillingDate, paidUntil, price, preDiscountPrice, currency } = one;
  const until = day(paidUntil);
  const plan = ['Plan', nameOf(one)] as const;
  const net = one.tax && !one.tax.included ? price - one.tax.amount : price;
  const sum = formatTaxed(price, one.tax, currency);
  const bill = net < preDiscountPrice ? `${sum} instead of ${formatSum(preDiscountPrice, currency)}` : sum;
  if (!isLive(one))
    return {
      kind: 'over',
      words: `Your subscription has ended. What it opened was open until ${until}.`,
      facts: [plan],
    };
  if (one.cancelAtPeriodEnd) {
    const words = `Your subscription is cancelled. Everything stays open to you until ${until}, and nothing more is charged.`;
    return { kind: 'ending', words, facts: [plan, ['Open until', until]] };
  }
  if (one.paused) {
    const again = one.paused.resumesAt === null ? '' : ` Billing resumes on ${day(one.paused.resumesAt)}.`;
    const words = `Billing is paused, and nothing is charged.${again} Everything stays open to you until ${until}.`;
    return { kind: 'paused', words, facts: [plan, ['Open until', until]] };
  }
  if (isOverdue(one)) {
    const again = nextBillingDate === null ? '' : ` We try your card again on ${day(nextBillingDate)}.`;
    const words = `Your last payment did not go through.${again} The paper stays open to you until ${until}.`;
    return { kind: 'unpaid', words, facts: [plan, ['Open until', until]] };
  }
  if (status === 'paused' || nextBillingDate === null)
    return { kind: 'paused', words: `Your subscription rests. Open until ${until}.`, facts: [plan] };
  const facts = [plan, ['Renewal date', day(nextBillingDate)], ['Next bill', bill]] as const;
  if (one.next) return { kind: 'changes', words: `From ${day(nextBillingDate)} on it is ${nameOf(one.next)}.`, facts };
  if (status === 'trialing')
    return {
      kind: 'runs',
      words: `Your first days end on ${day(nextBillingDate)}; then it goes on for ${bill}.`,
      facts,
    };
  return { kind: 'runs', words: null, facts };
}
