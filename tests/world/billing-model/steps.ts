/** What can happen to a subscription, chosen at random. Each step contains all its choices, so that a sequence can be replayed. */
import fc from 'fast-check';
import type { DisputeReason } from '../../../sandbox/stripe/payments/disputes.ts';
import { type Fault, type Trouble, troubles } from './wire.ts';

export const plans = {
  'reader-monthly': 'sun-reader',
  'reader-yearly': 'sun-reader',
  'reader-penny': 'sun-reader',
  'member-monthly': 'sun-member',
  'member-yearly': 'sun-member',
  'member-print-yearly': 'sun-member',
} as const;
export type PlanId = keyof typeof plans;

/** The sandbox's names of Stripe's test cards. */
export const cards = {
  good: 'tok_visa',
  declined: 'tok_visa_chargeDeclined',
  poor: 'tok_visa_chargeDeclinedInsufficientFunds',
  asks: 'tok_threeDSecure2Required',
  'asks, then declines': 'tok_threeDSecureRequiredChargeDeclined',
  'asks always': 'tok_authenticationRequired',
  'asks once': 'tok_authenticationRequiredOnSetup',
  'fails later': 'tok_chargeCustomerFail',
} as const;
export type CardName = keyof typeof cards;

/** The number that the page gives its decision: a new one, that of the previous decision, or none. */
export type Attempt = 'new' | 'same' | 'none';

/** A reader's action. */
export type Action =
  | {
      readonly do: 'subscribe';
      readonly plan: PlanId;
      readonly card: CardName;
      readonly sameCard: boolean;
      readonly attempt: Attempt;
      readonly coupon: string | null;
      /** Whether the call includes the amount on the button. */
      readonly told: boolean;
    }
  | { readonly do: 'switch'; readonly plan: PlanId; readonly attempt: Attempt; readonly told: boolean }
  | { readonly do: 'use card'; readonly card: CardName }
  | { readonly do: 'challenge'; readonly passed: boolean }
  | { readonly do: 'confirm' | 'cancel' | 'resume' | 'repair' | 'save shipping' | 'save metadata' };

export type Step =
  | {
      readonly do: 'action';
      readonly reader: 0 | 1;
      readonly action: Action;
      readonly fault: Fault | null;
      readonly process: 0 | 1;
    }
  /** Two tabs of one reader at once, perhaps with different processes. */
  | {
      readonly do: 'both';
      readonly reader: 0 | 1;
      readonly actions: readonly [Action, Action];
      readonly apart: boolean;
      readonly fault: Fault | null;
    }
  | {
      readonly do: 'deliver';
      readonly how: 'in order' | 'shuffled' | 'doubled' | 'late' | 'lost';
      readonly seed: number;
      readonly fault: Fault | null;
    }
  | { readonly do: 'wait'; readonly minutes: number }
  | {
      readonly do: 'refund';
      readonly reader: 0 | 1;
      readonly part: 'whole' | 'half' | 'a cent';
      readonly oldest: boolean;
    }
  /** A bank disputes a payment or inquires about it, the publisher responds, or the bank decides. */
  | {
      readonly do: 'dispute';
      readonly reader: 0 | 1;
      readonly reason: DisputeReason;
      readonly end: 'open' | 'answered' | 'won' | 'lost';
    }
  /** The publisher pauses or resumes collection in the dashboard. */
  | {
      readonly do: 'pause';
      readonly reader: 0 | 1;
      readonly behavior: 'keep_as_draft' | 'mark_uncollectible' | 'void';
      readonly days: number | null;
    }
  | { readonly do: 'unpause'; readonly reader: 0 | 1 }
  | { readonly do: 'change the card at Stripe'; readonly reader: 0 | 1; readonly card: CardName }
  | { readonly do: 'cancel at Stripe'; readonly reader: 0 | 1 }
  | { readonly do: 'recover' | 'compare' | 'drain'; readonly fault: Fault | null }
  | { readonly do: 'restart' };

const some = fc.constantFrom;
const as = <T>(value: T) => fc.constant(value);
const trouble = some<Trouble[]>(...troubles);
const fault: fc.Arbitrary<Fault | null> = fc.oneof(
  { weight: 2, arbitrary: as(null) },
  { weight: 2, arbitrary: fc.record({ at: fc.noBias(fc.integer({ min: 0, max: 28 })), trouble }) },
  { weight: 1, arbitrary: fc.record({ at: fc.noBias(fc.integer({ min: 0, max: 7 })), trouble }) },
);
const card = fc.oneof(
  { weight: 4, arbitrary: as<CardName>('good') },
  { weight: 2, arbitrary: as<CardName>('asks') },
  { weight: 5, arbitrary: some(...(Object.keys(cards) as CardName[])) },
);
const plan = some(...(Object.keys(plans) as PlanId[]));
const attempt = some<Attempt[]>('new', 'new', 'same', 'same', 'none');
const coupon = some<(string | null)[]>(
  null,
  null,
  null,
  'SUNSHINE20',
  'TENOFF',
  'FREEYEAR',
  'ONCEONLY',
  'READERONLY',
  'EXPIRED',
);
const reader = some<(0 | 1)[]>(0, 0, 0, 1);

const subscribe = fc.record({
  do: as('subscribe' as const),
  plan,
  card,
  sameCard: fc.boolean(),
  attempt,
  coupon,
  told: fc.boolean(),
});
const switching = fc.record({ do: as('switch' as const), plan, attempt, told: fc.boolean() });
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 6, arbitrary: subscribe },
  { weight: 5, arbitrary: switching },
  { weight: 3, arbitrary: fc.record({ do: as('challenge' as const), passed: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: as('use card' as const), card }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: some(...(['confirm', 'cancel', 'resume', 'repair', 'save shipping', 'save metadata'] as const)),
    }),
  },
);
/** Minutes: a moment, an hour, a day, up to a month, up to more than a year. */
const minutes = fc.oneof(
  fc.integer({ min: 1, max: 60 }),
  fc.integer({ min: 60, max: 48 * 60 }),
  fc.integer({ min: 1, max: 70 }).map((days) => days * 1440 + 90),
  fc.integer({ min: 60, max: 400 }).map((days) => days * 1440),
);

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({ do: as('action' as const), reader, action, fault, process: some<(0 | 1)[]>(0, 0, 1) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: as('both' as const),
      reader,
      actions: fc.tuple(action, action),
      apart: fc.boolean(),
      fault,
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: as('deliver' as const),
      how: some(...(['in order', 'shuffled', 'doubled', 'late', 'lost'] as const)),
      seed: fc.nat({ max: 1000 }),
      fault,
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: as('wait' as const), minutes }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: as('refund' as const),
      reader,
      part: some<('whole' | 'half' | 'a cent')[]>('whole', 'half', 'a cent'),
      oldest: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: as('pause' as const),
      reader,
      days: fc.option(fc.integer({ min: 1, max: 90 })),
      behavior: some<('keep_as_draft' | 'mark_uncollectible' | 'void')[]>(
        'keep_as_draft',
        'mark_uncollectible',
        'void',
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: as('unpause' as const), reader }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: as('dispute' as const),
      reader,
      reason: some<DisputeReason[]>('fraudulent', 'fraudulent', 'product_not_received', 'inquiry'),
      end: some(...(['open', 'answered', 'won', 'lost', 'lost'] as const)),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: as('change the card at Stripe' as const), reader, card }) },
  { weight: 1, arbitrary: fc.record({ do: as('cancel at Stripe' as const), reader }) },
  { weight: 2, arbitrary: fc.record({ do: some(...(['recover', 'compare', 'drain'] as const)), fault }) },
  { weight: 1, arbitrary: as({ do: 'restart' as const }) },
);

const buying = (plan: fc.Arbitrary<PlanId>, attempt: Attempt, card: fc.Arbitrary<CardName> = as('good')) =>
  fc.record({
    do: as('subscribe' as const),
    plan,
    card,
    sameCard: as(false),
    attempt: as<Attempt>(attempt),
    coupon: as(null),
    told: fc.boolean(),
  });
const first = (plan: fc.Arbitrary<PlanId>, fault: fc.Arbitrary<Fault | null>, card?: fc.Arbitrary<CardName>) =>
  fc.record({
    do: as('action' as const),
    reader: as(0 as const),
    action: buying(plan, 'new', card),
    fault,
    process: as(0 as const),
  });
const monthly = some<PlanId[]>('reader-monthly', 'member-monthly');

/** How most sequences begin, because otherwise little happens. */
const beginnings: fc.Arbitrary<readonly Step[]> = fc.oneof(
  { weight: 3, arbitrary: as([]) },
  { weight: 4, arbitrary: fc.tuple(first(plan, as(null))) },
  // A switch in the middle of a period.
  {
    weight: 3,
    arbitrary: fc.tuple(
      first(plan, as(null)),
      fc.integer({ min: 1, max: 25 }).map((days) => ({ do: 'wait' as const, minutes: days * 1440 })),
      fc.record({
        do: as('action' as const),
        reader: as(0 as const),
        fault: as(null),
        process: as(0 as const),
        action: fc.record({ do: as('switch' as const), plan, attempt: as<Attempt>('new'), told: as(true) }),
      }),
    ),
  },
  // A card that is refused at first.
  {
    weight: 1,
    arbitrary: fc.tuple(
      first(monthly, as(null), some<CardName[]>('declined', 'poor', 'fails later')),
      first(monthly, as(null)),
    ),
  },
  // A payment that is disputed.
  {
    weight: 2,
    arbitrary: fc.tuple(
      first(monthly, as(null)),
      fc.record({
        do: as('dispute' as const),
        reader: as(0 as const),
        reason: as<DisputeReason>('fraudulent'),
        end: some<('open' | 'lost')[]>('open', 'lost', 'lost'),
      }),
    ),
  },
  // A renewal that fails.
  {
    weight: 2,
    arbitrary: fc.tuple(
      first(monthly, as(null)),
      as({ do: 'change the card at Stripe' as const, reader: 0 as const, card: 'fails later' as const }),
      fc.integer({ min: 29, max: 45 }).map((days) => ({ do: 'wait' as const, minutes: days * 1440 + 90 })),
    ),
  },
  // A Trial Offer until its end and after it, or until a change of plan during it.
  {
    weight: 2,
    arbitrary: fc.tuple(
      first(as<PlanId>('reader-penny'), as(null)),
      fc.integer({ min: 1, max: 75 }).map((days) => ({ do: 'wait' as const, minutes: days * 1440 + 90 })),
      fc.record({
        do: as('action' as const),
        reader: as(0 as const),
        fault,
        process: as(0 as const),
        action: fc.oneof(switching, as({ do: 'repair' as const })),
      }),
    ),
  },
  // A process that ends during a purchase, and two tabs that retry at once.
  {
    weight: 2,
    arbitrary: fc.tuple(
      first(monthly, fc.record({ at: fc.noBias(fc.integer({ min: 0, max: 24 })), trouble })),
      fc.record({
        do: as('both' as const),
        reader: as(0 as const),
        apart: fc.boolean(),
        fault,
        actions: fc.tuple(buying(monthly, 'same'), buying(monthly, 'same')),
      }),
    ),
  },
);

const steps: fc.Arbitrary<readonly Step[]> = fc
  .tuple(beginnings, fc.oneof(as([]), fc.array(step, { minLength: 1, maxLength: 10, size: 'max' })))
  .map(([begun, rest]) => [...begun, ...rest]);

export interface Sequence {
  readonly steps: readonly Step[];
  /**
   * The order of the webhooks after each step, after which both sides are compared; `null`: the steps deliver the webhooks, and both
   * sides are compared at the end.
   */
  readonly compare: number | null;
}

export const sequences: fc.Arbitrary<Sequence> = fc.record({ steps, compare: fc.option(fc.nat({ max: 1000 })) });
