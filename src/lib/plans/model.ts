/**
 * What the paper sells (spec sections 1 and 9): the tiers, what each holds, and what it costs. The amounts printed before
 * a reader chooses; what is charged comes from the payment provider's own prices.
 */
import { formatMoney } from '../money.ts';

export type TierId = 'sun-reader' | 'sun-member' | 'sun-founder';
export type Interval = 'month' | 'year';

export interface PlanPrice {
  readonly interval: Interval;
  /** Minor units of US dollars. */
  readonly amount: number;
  /** Whether a weekly paper is delivered with it, which takes a shipping address. */
  readonly print: boolean;
}

export interface Tier {
  readonly id: TierId;
  readonly name: string;
  /** One sentence on who it is for. */
  readonly promise: string;
  readonly benefits: readonly string[];
  /** Empty where the tier is joined by arrangement and not by card. */
  readonly prices: readonly PlanPrice[];
}

export const tiers: readonly Tier[] = [
  {
    id: 'sun-reader',
    name: 'Sun Reader',
    promise: 'Every story, every day, on every screen.',
    benefits: [
      'Unlimited articles',
      'The daily crossword',
      'The morning and evening newsletters',
      'Comment on stories',
    ],
    prices: [
      { interval: 'month', amount: 1200, print: false },
      { interval: 'year', amount: 12_000, print: false },
    ],
  },
  {
    id: 'sun-member',
    name: 'Sun Member',
    promise: 'For those who want a seat in the room, and the paper on the table.',
    benefits: [
      'Everything in Sun Reader',
      'Members’ calls with the editors',
      'Invitations to events in New York',
      'The weekly print edition by mail, if you like',
    ],
    prices: [
      { interval: 'month', amount: 2000, print: false },
      { interval: 'year', amount: 20_000, print: false },
      { interval: 'year', amount: 28_000, print: true },
    ],
  },
  {
    id: 'sun-founder',
    name: 'Sun Founder',
    promise: 'For the few who stand behind the paper.',
    benefits: [
      'Everything in Sun Member, print included',
      'The founders’ dinner each autumn',
      'Your name on the founders’ page',
      'A line to the editor',
    ],
    prices: [],
  },
];

/** The penny-a-day promotion (spec section 2, "Paywall modal"). */
export const pennyPromo = {
  heading: 'Read the Sun for a PENNY A DAY',
  /** Minor units per day while it lasts. */
  perDay: 1,
  days: 60,
  /** Minor units per year afterwards. */
  dues: 12_000,
} as const;

/** "$0.01/Day". */
export const pennyRate = (): string => `${formatMoney(pennyPromo.perDay, { cents: true })}/Day`;

/** "Full dues ($120/year) billed after 60 days". */
export const pennyTerms = (): string =>
  `Full dues (${formatMoney(pennyPromo.dues)}/year) billed after ${pennyPromo.days} days`;

export const tier = (id: TierId): Tier => {
  const found = tiers.find((each) => each.id === id);
  if (!found) throw new RangeError(`tier: there is no ${id}`);
  return found;
};

/** Price of a tier, or `null` when it is not sold that way. */
export const priceOf = (of: Tier, interval: Interval, print = false): PlanPrice | null =>
  of.prices.find((price) => price.interval === interval && price.print === print) ?? null;

/** "$12/month". */
export const priceLabel = (price: PlanPrice): string => `${formatMoney(price.amount)}/${price.interval}`;

/** Per cent saved by paying by the year and not by the month, rounded down; 0 when nothing is, or one of the two is missing. */
export function yearlySaving(of: Tier): number {
  const month = priceOf(of, 'month');
  const year = priceOf(of, 'year');
  if (!month || !year) return 0;
  return Math.max(0, Math.floor(100 - (year.amount / (month.amount * 12)) * 100));
}
