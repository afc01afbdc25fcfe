/**
 * Guards updates of Stripe's API version: how each breaking change up to the pinned version was handled. A test fails when the version, the
 * SDK or Stripe.js moves before its list is here.
 *
 * To move: read https://docs.stripe.com/changelog and `node_modules/stripe/CHANGELOG.md` from `sdk` on, add an entry for each breaking
 * change (`⚠️`), then set `apiVersion` (stripe.server.ts), `sdk` and `stripeJs`.
 */
import { readFileSync } from 'node:fs';
import Stripe from 'stripe';
import { expect, it } from 'vitest';
import { apiVersion, openStripe } from './stripe.server.ts';

/** Version of the package `stripe` up to which the list goes, and the last that was reviewed before. */
const sdk = '23.1.0';
const after = '22.6.2';
/** Version of `@stripe/stripe-js`. */
const stripeJs = '10.2.1';

/** Changes of what isn't used here: part of the line in the SDK's changelog that occurs in no other line. */
const unused: readonly string[] = [
  'Change type of `Checkout.Session.payment_method_options.bancontact.setup_future_usage`',
  'Remove V1-only fields from V2 list response types',
  'Generate operation-specific address parameters for V2 requests',
  'Change type of `AccountRejectParams.reason`',
  'new values `invalid_address_cmra_address`',
  'on enum `Reserve.Plan.status`',
  'on enum `Reserve.Plan.type`',
  'new value `hold_expired` on enum `Reserve.Release.reason`',
  'Remove support for value `bulk_hold_expiry`',
  'Remove support for `countries` on `FinancialConnections.Session.filters`',
  'Remove support for `payto` on `PaymentMethodUpdateParams`',
  'Change type of `Radar.PaymentEvaluation.signals.fraudulent_payment.score`',
  'Remove support for `igic` on `Tax.Registration.country_options.at`',
  'Remove support for `configurations` on `V2.Core.AccountLink',
  'Add support for new value `rejected` on enums `V2.Core.Account',
  'Add support for new values `rejected_fraud`',
];

/**
 * What was done here, or why nothing had to be, for each other breaking change: part of its line, as above; for Stripe.js, which isn't in
 * there, the page of Stripe's changelog.
 */
const done: Readonly<Record<string, string>> = {
  'endive/2026-09-30/remove-elements-deferred-intent-payment-method-types':
    'islands/PaywallModal/stripe.ts sends allowedPaymentMethodTypes from publication.billing.paymentMethodTypes.',
  'endive/2026-09-30/deprecate-payment-request-button': 'Wallets are the ExpressCheckoutElement.',
  'Remove support for `payment_method_types` on `Checkout.SessionCreateParams`, `PaymentIntentConfirmParams`':
    'Setup intents send allowed_payment_method_types; intents of invoices get theirs from payment_settings of the subscription, which keep the old name.',
  'Change type of `InvoiceCreatePreviewParams.subscription_details.billing_cycle_anchor`':
    'Previews of an upgrade to another interval send { type: now }, as the update does.',
  'Change type of `SubscriptionResumeParams.billing_cycle_anchor`':
    'Subscriptions are not resumed; updates send { type: now }, phases of schedules phase_start.',
  'Change type of `Charge.payment_method_details.card.mandate`': 'Mandates are not read.',
  'Remove Stripe.constructEventWithoutVerification': 'Webhooks are verified with constructEvent.',
  'Remove `ErrorType` export': 'Errors are told apart by Stripe.errors.',
  'Classify incomplete response bodies as connection errors':
    'isUncertain treats connection errors, which have no status, as unknown outcomes.',
  'Drop support for Node 18': 'Node 24 is required.',
  'Update verifyHeader and verifyHeaderAsync methods to use DEFAULT_TOLERANCE':
    'constructEvent is called with a tolerance of its own.',
  '[#2832]': 'The heading of the lines below.',
};
const reviewed = [...Object.keys(done), ...unused];

const folder = (name: string): URL => new URL(`../../../../node_modules/${name}/`, import.meta.url);
const versionOf = (name: string): string =>
  JSON.parse(readFileSync(new URL('package.json', folder(name)), 'utf8')).version;

/** Lines of the SDK's changelog that are breaking changes, of the releases after one up to another. */
function breakingLines(changelog: string, after: string, upTo: string): readonly string[] {
  const releases = changelog.split(/^## /m).slice(1);
  const at = (version: string) => releases.findIndex((text) => text.includes(`</a>${version} - `));
  const [from, until] = [at(upTo), at(after)];
  expect(from, `${upTo} is in the changelog`).toBeGreaterThanOrEqual(0);
  expect(until, `${after} is in the changelog, before ${upTo}`).toBeGreaterThan(from);
  return releases
    .slice(from, until)
    .join('\n')
    .split('\n')
    .filter((line) => line.includes('⚠️'));
}

const lines = breakingLines(readFileSync(new URL('CHANGELOG.md', folder('stripe')), 'utf8'), after, sdk);

it('Stripe’s API version and the installed Stripe packages are the reviewed ones', () => {
  expect(apiVersion).toBe(Stripe.API_VERSION);
  expect(versionOf('stripe')).toBe(sdk);
  expect(versionOf('@stripe/stripe-js')).toBe(stripeJs);
  const client = openStripe({ secretKey: 'sk_test_1', apiUrl: 'http://127.0.0.1:1' });
  expect(client.getApiField('version')).toBe(apiVersion);
});

it('every breaking change since the previous Stripe SDK has exactly one review entry', () => {
  expect(lines.length).toBeGreaterThan(10);
  for (const line of lines) {
    const answers = reviewed.filter((change) => line.includes(change));
    expect(answers, line.slice(0, 200)).toHaveLength(1);
  }
});

it('every review entry matches a breaking change in the SDK’s changelog, and what is used has an answer', () => {
  for (const [change, answer] of Object.entries(done)) expect(answer.length, change).toBeGreaterThan(8);
  for (const change of reviewed.filter((name) => !name.startsWith('endive/'))) {
    expect(
      lines.filter((line) => line.includes(change)),
      change,
    ).toHaveLength(1);
  }
});
