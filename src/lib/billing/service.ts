/**
 * What the billing service does, as routes and pages see it (spec section 7). What a reader or a card can cause is a value;
 * what throws is a fault of ours, of the database or of Stripe's being away.
 */
import type { Session } from '../accounts/service.ts';
import type { CurrencyHint } from './currency-hint.ts';
import type { Farewell, LeavingReason, StayOffer } from './leaving.ts';
import type {
  BillsAnswer,
  CheckoutError,
  ConfirmationAnswer,
  CouponAnswer,
  KeptCard,
  KeptCardAnswer,
  PlansAnswer,
  Price,
  QuoteAnswer,
  QuoteAsk,
  Shipping,
  SubscribeAnswer,
  SubscribeBody,
  Subscription,
  SwitchAnswer,
} from './wire.ts';

export type Billed<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false;
      readonly status: 400 | 402 | 403 | 404 | 409 | 429 | 502 | 503;
      readonly error: CheckoutError;
    };

/** Something that is paid for. */
export interface Entitlement {
  /** `sun-reader`, `sun-member` or `sun-founder`. */
  readonly product: string;
  /** Epoch milliseconds: the end of what is paid, with the days of grace where a renewal has failed. */
  readonly until: number;
  readonly print: boolean;
  /** Whether it is a first cheap time, such as the penny promotion. */
  readonly trialing: boolean;
}

export interface LeavingCount {
  readonly reason: LeavingReason | 'skipped';
  readonly outcome: 'open' | 'stayed' | 'cancelled' | 'resumed';
  readonly count: number;
}

export interface Billing {
  /** What can be bought, from Stripe's catalogue; the last known one while Stripe is away, `[]` before the first. */
  prices(): readonly Price[];
  /** @param country where the reader seems to be, two capital letters; `null`: not known */
  plans(country: string | null): PlansAnswer;
  /** What a reader pays in: as their subscription that runs, else as their country. */
  currency(session: Session | null, country: string | null): Promise<CurrencyHint>;
  /** What this user has paid for now; one indexed query of our own database. */
  entitlements(userId: string): Promise<readonly Entitlement[]>;

  /** @param address network address of the caller: guesses at coupons are limited */
  quote(session: Session | null, ask: QuoteAsk, address?: string | null): Promise<Billed<QuoteAnswer>>;
  /** @param address network address of the caller: guesses are limited */
  coupon(
    code: string,
    planId: string | null,
    who: { session: Session | null; address: string },
  ): Promise<Billed<CouponAnswer>>;
  /** @param address as with {@link quote} */
  subscribe(session: Session, body: SubscribeBody, address?: string | null): Promise<Billed<SubscribeAnswer>>;
  /** @param address as with {@link quote} */
  confirm(session: Session, subscriptionId: string, address?: string | null): Promise<Billed<ConfirmationAnswer>>;
  /** @param address as with {@link quote} */
  switchPlan(
    session: Session,
    ask: { planId: string; prorationDate?: number; expected?: number; attempt?: string },
    address?: string | null,
  ): Promise<Billed<SwitchAnswer>>;
  /** Cancels at the end of what is paid. @param reason what the reader says, if something */
  cancel(session: Session, reason?: string | null): Promise<Billed<Subscription>>;
  /**
   * Goes on after a cancellation, until what is paid has ended, with the switch that was planned before it; and goes back to the
   * present plan where another is planned.
   */
  resume(session: Session): Promise<Billed<Subscription>>;

  /** Before a cancellation: notes why, and decides on the one offer (spec section 2, "retention"). Asks for nothing else. */
  beginLeaving(session: Session, farewell: Farewell): Promise<Billed<null>>;
  /** The offer that was made to who is leaving just now; `null`: none. */
  stayOffer(session: Session): Promise<StayOffer | null>;
  /** Takes the offer. The same press again is the same offer. */
  stay(session: Session): Promise<Billed<Subscription>>;
  /** How many left or stayed since then, by reason: for operators, and without a name. @param since epoch milliseconds */
  leavingCounts(since: number): Promise<readonly LeavingCount[]>;

  /** A page of the reader's own bills, newest first, asked of Stripe. @param after id of the last one that is known */
  bills(session: Session, after?: string | null): Promise<Billed<BillsAnswer>>;
  /** Where Stripe keeps a bill of this reader's: the PDF, or the page on which it can be paid. Its address does not last. */
  billAddress(session: Session, id: string, as: 'pdf' | 'page'): Promise<Billed<string>>;
  /** What is charged; `null`: no card is kept. */
  card(session: Session): Promise<Billed<KeptCard | null>>;
  /** Stripe's number of this reader, `cus_…`; `null`: has never bought. */
  customerOf(session: Session): Promise<string | null>;

  /** The reader's subscription: the one that opens the most, or the last one that ended. */
  subscription(session: Session): Promise<Subscription | null>;
  saveMetadata(
    session: Session,
    subscriptionId: string,
    metadata: Readonly<Record<string, string>>,
  ): Promise<Billed<null>>;
  shipping(session: Session): Promise<Shipping | null>;
  saveShipping(session: Session, shipping: Shipping): Promise<Billed<Shipping>>;
  /** A client secret with which the browser sets up a card; the same until it is used. @param address as with {@link quote} */
  setupIntent(session: Session, address?: string | null): Promise<Billed<{ readonly clientSecret: string }>>;
  /** Makes this card the one that is charged, and tries what is open once more. @param address as with {@link quote} */
  usePaymentMethod(session: Session, paymentMethod: string, address?: string | null): Promise<Billed<KeptCardAnswer>>;

  /** Stripe's own state of this reader's subscriptions, fetched now. */
  repair(session: Session): Promise<void>;
  /**
   * Forgets a reader: what runs is cancelled at once, the address and the card go; bills stay with Stripe, and here, without a name,
   * what was bought. Works while Stripe is away: it is told later.
   */
  forget(userId: string): Promise<void>;
  /** Whether a payment of this reader's is on its way, or a bank is being asked: a reader who is deleted meanwhile may be charged for nothing. */
  isPaying(userId: string): Promise<boolean>;
  /** What is known of a reader, for the export of everything kept. */
  exportData(userId: string): Promise<Readonly<Record<string, unknown>>>;

  /**
   * Takes a webhook: checks its signature, stores it and answers before it is worked on.
   *
   * @param raw the body's bytes as they came
   */
  webhook(
    raw: Buffer,
    signature: string | null,
  ): Promise<{ readonly status: 200 | 400 | 503; readonly message: string }>;
  /** Compares every subscription with Stripe's; nightly by itself. */
  compare(): Promise<{ readonly checked: number; readonly drifted: readonly string[] }>;
  start(): void;
  stop(): Promise<void>;
}
