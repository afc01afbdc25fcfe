/**
 * The version of Stripe's API that the site uses, and how each breaking change up to it was handled. api-version.test.ts fails when
 * the version, the SDK or Stripe.js moves before its list is here.
 *
 * To move: read https://docs.stripe.com/changelog and `node_modules/stripe/CHANGELOG.md` from `sdk` on, add an entry for each breaking
 * change (`⚠️`), then set the three versions.
 */

/** Pinned: the types of the installed package are of this version. */
export const apiVersion = '2026-10-28.endive';

export interface BreakingChange {
  /**
   * Part of the line in the SDK's changelog that occurs in no other line; for Stripe.js, which isn't in there, the page of Stripe's
   * changelog.
   */
  readonly change: string;
  /** What was done here, or why nothing had to be. */
  readonly done: string;
}

export interface ReviewedRelease {
  readonly api: typeof apiVersion;
  /** Version of the package `stripe` up to which the list goes, and the last that was reviewed before. */
  readonly sdk: string;
  readonly after: string;
  /** Version of `@stripe/stripe-js`. */
  readonly stripeJs: string;
  readonly breaking: readonly BreakingChange[];
}

const unused = 'Not used here.';

export const reviewedRelease: ReviewedRelease = {
  api: apiVersion,
  sdk: '23.1.0',
  after: '22.6.2',
  stripeJs: '10.2.1',
  breaking: [
    {
      change: 'endive/2026-09-30/remove-elements-deferred-intent-payment-method-types',
      done: 'islands/PaywallModal/stripe.ts sends allowedPaymentMethodTypes from publication.billing.paymentMethodTypes.',
    },
    { change: 'endive/2026-09-30/deprecate-payment-request-button', done: 'Wallets are the ExpressCheckoutElement.' },
    {
      change:
        'Remove support for `payment_method_types` on `Checkout.SessionCreateParams`, `PaymentIntentConfirmParams`',
      done: 'Setup intents send allowed_payment_method_types; intents of invoices get theirs from payment_settings of the subscription, which keep the old name.',
    },
    {
      change: 'Change type of `InvoiceCreatePreviewParams.subscription_details.billing_cycle_anchor`',
      done: 'Previews of an upgrade to another interval send { type: now }, as the update does.',
    },
    {
      change: 'Change type of `SubscriptionResumeParams.billing_cycle_anchor`',
      done: 'Subscriptions are not resumed; updates send { type: now }, phases of schedules phase_start.',
    },
    {
      change: 'Change type of `Charge.payment_method_details.card.mandate`',
      done: 'Mandates are not read.',
    },
    {
      change: 'Change type of `Checkout.Session.payment_method_options.bancontact.setup_future_usage`',
      done: unused,
    },
    { change: 'Remove V1-only fields from V2 list response types', done: unused },
    { change: 'Remove Stripe.constructEventWithoutVerification', done: 'Webhooks are verified with constructEvent.' },
    { change: 'Generate operation-specific address parameters for V2 requests', done: unused },
    { change: 'Remove `ErrorType` export', done: 'Errors are told apart by Stripe.errors.' },
    {
      change: 'Classify incomplete response bodies as connection errors',
      done: 'isUncertain treats connection errors, which have no status, as unknown outcomes.',
    },
    { change: 'Drop support for Node 18', done: 'Node 24 is required.' },
    {
      change: 'Update verifyHeader and verifyHeaderAsync methods to use DEFAULT_TOLERANCE',
      done: 'constructEvent is called with a tolerance of its own.',
    },
    { change: '[#2832]', done: 'The heading of the lines below.' },
    { change: 'Change type of `AccountRejectParams.reason`', done: unused },
    { change: 'new values `invalid_address_cmra_address`', done: unused },
    { change: 'on enum `Reserve.Plan.status`', done: unused },
    { change: 'on enum `Reserve.Plan.type`', done: unused },
    { change: 'new value `hold_expired` on enum `Reserve.Release.reason`', done: unused },
    { change: 'Remove support for value `bulk_hold_expiry`', done: unused },
    { change: 'Remove support for `countries` on `FinancialConnections.Session.filters`', done: unused },
    { change: 'Remove support for `payto` on `PaymentMethodUpdateParams`', done: unused },
    { change: 'Change type of `Radar.PaymentEvaluation.signals.fraudulent_payment.score`', done: unused },
    { change: 'Remove support for `igic` on `Tax.Registration.country_options.at`', done: unused },
    { change: 'Remove support for `configurations` on `V2.Core.AccountLink', done: unused },
    { change: 'Add support for new value `rejected` on enums `V2.Core.Account', done: unused },
    { change: 'Add support for new values `rejected_fraud`', done: unused },
  ],
};
