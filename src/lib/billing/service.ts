/**
 * The billing service, as routes and pages call it (spec section 7). Refusals are values; only faults of the site, the database or
 * Stripe are thrown.
 */
import type { Session } from '../accounts/service.ts';
import type {
  CancelFeedback,
  CancelReason,
  ChargedCard,
  CheckoutError,
  ConfirmationAnswer,
  CouponAnswer,
  CurrencyHint,
  InvoicesAnswer,
  PlansAnswer,
  Price,
  QuoteAnswer,
  QuoteAsk,
  RetentionOffer,
  SavedCard,
  SavedCardAnswer,
  Shipping,
  SubscribeAnswer,
  SubscribeBody,
  Subscription,
  SwitchAnswer,
  SwitchAsk,
} from './schema.ts';

export type Billed<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false;
      readonly status: 400 | 402 | 403 | 404 | 409 | 429 | 502 | 503;
      readonly error: CheckoutError;
    };

/** Access that is paid for. */
export interface Entitlement {
  /** `sun-reader`, `sun-member` or `sun-founder`. */
  readonly product: string;
  /** Epoch milliseconds: the end of the paid time, including the days of grace after a failed renewal. */
  readonly until: number;
  readonly print: boolean;
  /** Whether the reader is in the reduced period of a promotion. */
  readonly trialing: boolean;
}

export interface CancellationCount {
  readonly reason: CancelReason | 'skipped';
  readonly outcome: 'open' | 'stayed' | 'cancelled' | 'resumed';
  readonly count: number;
}

export interface Billing {
  /** The plans on sale, from Stripe's catalog; the stored ones while Stripe is unavailable, `[]` before the first. */
  prices(): readonly Price[];
  /** @param country the country of the reader's network address, two capital letters; `null`: not known */
  plans(country: string | null): PlansAnswer;
  /** The currency of a reader: that of the running subscription, else that of the country. */
  currency(session: Session | null, country: string | null): Promise<CurrencyHint>;
  /** What this user has access to now; one indexed query of the site's own database. */
  entitlements(userId: string): Promise<readonly Entitlement[]>;

  /** @param clientAddress network address of the caller, for the limit of coupon guesses */
  quote(session: Session | null, ask: QuoteAsk, clientAddress?: string | null): Promise<Billed<QuoteAnswer>>;
  /**
   * @param buyer `clientAddress`: network address of the caller, for the limit of coupon guesses; `currency`: what they pay in, the plan's own
   *   if it isn't known
   */
  coupon(
    code: string,
    planId: string | null,
    buyer: { session: Session | null; clientAddress: string; currency?: string | undefined },
  ): Promise<Billed<CouponAnswer>>;
  /** @param clientAddress as with {@link quote} */
  subscribe(session: Session, body: SubscribeBody, clientAddress?: string | null): Promise<Billed<SubscribeAnswer>>;
  /** @param clientAddress as with {@link quote} */
  confirm(session: Session, subscriptionId: string, clientAddress?: string | null): Promise<Billed<ConfirmationAnswer>>;
  /** @param clientAddress as with {@link quote} */
  switchPlan(session: Session, ask: SwitchAsk, clientAddress?: string | null): Promise<Billed<SwitchAnswer>>;
  /**
   * Cancels at the end of the paid time.
   *
   * @param reason one of `cancelReasons`, or the reader's own words
   * @param id the subscription that the reader was shown: once it is canceled, a second press must not cancel another
   */
  cancel(session: Session, reason?: string | null, id?: string): Promise<Billed<Subscription>>;
  /**
   * Reverts a cancellation during the paid time, and restores the change that was planned before it; without a cancellation it cancels
   * a planned change.
   *
   * @param id as with {@link cancel}: pressed on an old page, it must not drop a change of another subscription
   */
  resume(session: Session, id?: string): Promise<Billed<Subscription>>;

  /** The first step of a cancellation: stores the reason and decides on the one offer (spec section 2, "retention"). */
  beginCancellation(session: Session, feedback: CancelFeedback, id?: string): Promise<Billed<null>>;
  /** The offer of the current cancellation; `null`: none. */
  retentionOffer(session: Session, id?: string): Promise<RetentionOffer | null>;
  /** Accepts the offer; accepting twice has no further effect. */
  stay(session: Session, id?: string): Promise<Billed<Subscription>>;
  /** Cancellations by reason and outcome, for operators, without names. @param since epoch milliseconds */
  cancellationCounts(since: number): Promise<readonly CancellationCount[]>;

  /** A page of the reader's invoices from Stripe, newest first. @param after id of the last invoice of the previous page */
  invoices(session: Session, after?: string | null): Promise<Billed<InvoicesAnswer>>;
  /** The URL of one of the reader's invoices at Stripe: the PDF, or the page to pay it. The URL expires. */
  invoiceUrl(session: Session, id: string, as: 'pdf' | 'page'): Promise<Billed<string>>;
  /** The card that is charged; `null`: there is none. */
  card(session: Session): Promise<Billed<SavedCard | null>>;
  /** The cards that are charged, each once, that of {@link Billing.card} first: several subscriptions may each have their own. */
  cards(session: Session): Promise<Billed<readonly ChargedCard[]>>;
  /** The reader's id at Stripe, `cus_…`; `null`: the reader has never bought anything. */
  customerOf(session: Session): Promise<string | null>;

  /** The reader's subscription, see `mainSubscription`; `null`: there never was one. */
  subscription(session: Session): Promise<Subscription | null>;
  /** That subscription, and others that run at the same time, such as one that the publisher has created. */
  subscriptions(session: Session): Promise<readonly Subscription[]>;
  saveMetadata(
    session: Session,
    subscriptionId: string,
    metadata: Readonly<Record<string, string>>,
  ): Promise<Billed<null>>;
  shipping(session: Session): Promise<Shipping | null>;
  saveShipping(session: Session, shipping: Shipping): Promise<Billed<Shipping>>;
  /** A client secret to set up a card in the browser; the same one until it is used. @param clientAddress as with {@link quote} */
  setupIntent(session: Session, clientAddress?: string | null): Promise<Billed<{ readonly clientSecret: string }>>;
  /** Makes this card the subscription's payment method, and pays open invoices with it. @param clientAddress as with {@link quote} */
  usePaymentMethod(
    session: Session,
    paymentMethod: string,
    clientAddress?: string | null,
  ): Promise<Billed<SavedCardAnswer>>;

  /** Fetches this reader's subscriptions from Stripe now. */
  repair(session: Session): Promise<void>;
  /**
   * Whether a payment of this reader is in progress: if the account were deleted now, the reader could be charged for nothing.
   */
  hasOpenPayment(userId: string): Promise<boolean>;

  /**
   * Receives a webhook: checks its signature, stores it, and responds before the event is handled. @param raw the body's bytes,
   * unparsed
   */
  webhook(
    raw: Buffer,
    signature: string | null,
  ): Promise<{ readonly status: 200 | 400 | 503; readonly message: string }>;
  /** Compares every stored subscription with Stripe's; a task does it each night. */
  compare(): Promise<{ readonly checked: number; readonly drifted: readonly string[] }>;
  start(): void;
  stop(): Promise<void>;
}
