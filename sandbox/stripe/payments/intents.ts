/**
 * Payment intents and setup intents, from creation to success (docs.stripe.com/payments/paymentintents/lifecycle). The effect
 * of the outcome on an invoice is in billing/.
 */

import type { StripeAccount } from '../core/account.ts';
import { blankCharge } from '../core/blank.ts';
import { invalid } from '../core/errors.ts';
import { token } from '../core/ids.ts';
import type { CardProblem, Charge, PaymentIntent, PaymentMethod, SetupIntent } from '../core/model.ts';
import { cardBehavior, declines } from './cards.ts';
import { openDispute } from './disputes.ts';
import { attach } from './methods.ts';

export type Outcome = 'succeeded' | 'failed' | 'requires_action';

export interface Confirmation {
  readonly method: PaymentMethod;
  /** Whether the customer is absent and can't authenticate. */
  readonly offSession: boolean;
  readonly returnUrl?: string | null;
  /** Whether Stripe.js confirms the intent, and shows the challenge itself. */
  readonly bySdk?: boolean;
}

/** Stripe's error for a failed challenge. */
const notAuthenticated = (kind: 'payment_intent' | 'setup_intent'): CardProblem =>
  ({
    type: 'invalid_request_error',
    code: `${kind}_authentication_failure`,
    doc_url: `https://stripe.com/docs/error-codes/${kind.replace('_', '-')}-authentication-failure`,
    message:
      'We are unable to authenticate your payment method. Please choose a different payment method and try again.',
  }) as unknown as CardProblem;

interface NewIntent {
  readonly amount: number;
  readonly currency: string;
  readonly customer: string | null;
  readonly description?: string | null;
  readonly invoice?: string | null;
  readonly setupFutureUsage?: string | null;
  readonly metadata?: Record<string, string>;
  /** The only types of payment methods that it accepts; without them, those enabled in the dashboard. */
  readonly allowed?: string[] | null;
}

export function makePaymentIntent(account: StripeAccount, values: NewIntent): PaymentIntent {
  const id = `pi_${token(24)}`;
  const owner = values.customer ? account.store.find('customer', values.customer) : null;
  return account.add(
    'payment_intent',
    {
      id,
      object: 'payment_intent',
      allowed_payment_method_types: values.allowed ?? null,
      amount: values.amount,
      amount_capturable: 0,
      amount_details: { tip: {} },
      amount_received: 0,
      application: null,
      application_fee_amount: null,
      automatic_payment_methods: null,
      canceled_at: null,
      cancellation_reason: null,
      capture_method: 'automatic_async',
      client_secret: `${id}_secret_${token(25)}`,
      confirmation_method: 'automatic',
      currency: values.currency,
      customer: values.customer,
      customer_account: null,
      description: values.description ?? null,
      excluded_payment_method_types: null,
      last_payment_error: null,
      latest_charge: null,
      livemode: false,
      managed_payments: null,
      metadata: values.metadata ?? {},
      next_action: null,
      on_behalf_of: null,
      payment_method: null,
      payment_method_configuration_details: null,
      payment_method_options: {
        card: { installments: null, mandate_options: null, network: null, request_three_d_secure: 'automatic' },
      },
      payment_method_types: values.allowed ?? ['card', 'link'],
      payment_record: null,
      processing: null,
      receipt_email: null,
      review: null,
      setup_future_usage: values.setupFutureUsage ?? null,
      shipping: null,
      source: null,
      statement_descriptor: null,
      statement_descriptor_suffix: null,
      status: 'requires_payment_method',
      transfer_data: null,
      transfer_group: null,
      _invoice: values.invoice ?? null,
      _challenge: null,
    } as Omit<PaymentIntent, 'id'> & { id: string },
    owner,
  );
}

export function makeSetupIntent(
  account: StripeAccount,
  values: Pick<NewIntent, 'customer' | 'metadata' | 'allowed'> & { subscription?: string; usage?: string },
): SetupIntent {
  const id = `seti_${token(24)}`;
  const owner = values.customer ? account.store.find('customer', values.customer) : null;
  return account.add(
    'setup_intent',
    {
      id,
      object: 'setup_intent',
      allowed_payment_method_types: values.allowed ?? null,
      application: null,
      attach_to_self: false,
      automatic_payment_methods: null,
      cancellation_reason: null,
      client_secret: `${id}_secret_${token(25)}`,
      customer: values.customer,
      customer_account: null,
      description: null,
      excluded_payment_method_types: null,
      flow_directions: null,
      last_setup_error: null,
      latest_attempt: null,
      livemode: false,
      mandate: null,
      metadata: values.metadata ?? {},
      next_action: null,
      on_behalf_of: null,
      payment_method: null,
      payment_method_configuration_details: null,
      payment_method_options: { card: { mandate_options: null, network: null, request_three_d_secure: 'automatic' } },
      payment_method_types: values.allowed ?? ['card', 'link'],
      single_use_mandate: null,
      status: 'requires_payment_method',
      usage: values.usage ?? 'off_session',
      _subscription: values.subscription ?? null,
      _challenge: null,
    } as Omit<SetupIntent, 'id'> & { id: string },
    owner,
  );
}

/** Whether the bank requires the customer to authenticate first. */
function requiresAuthentication(method: PaymentMethod, offSession: boolean): boolean {
  const { authentication } = cardBehavior(method._number);
  if (authentication === 'never') return false;
  if (!offSession) return true;
  return authentication === 'always' || (authentication === 'unless_set_up' && !method._setUp);
}

/** @throws {ApiError} 400 if it has succeeded or was canceled */
export function checkConfirmable(intent: PaymentIntent | SetupIntent): void {
  if (intent.status !== 'succeeded' && intent.status !== 'canceled') return;
  const name = intent.object === 'payment_intent' ? 'PaymentIntent' : 'SetupIntent';
  const why =
    intent.status === 'canceled'
      ? 'it has a status of canceled.'
      : 'it has already succeeded after being previously confirmed.';
  throw invalid(`You cannot confirm this ${name} because ${why}`, undefined, `${intent.object}_unexpected_state`);
}

export function confirmPayment(account: StripeAccount, intent: PaymentIntent, confirmation: Confirmation): Outcome {
  checkConfirmable(intent);
  const { method, offSession } = confirmation;
  account.store.touch(intent);
  intent.payment_method = method.id;
  intent.last_payment_error = null;
  if (requiresAuthentication(method, offSession)) {
    // An invoice's intent stays open until the customer returns and authenticates.
    if (offSession && !intent._invoice) {
      return failPayment(account, intent, method, declines.authentication_required);
    }
    requireAction(account, intent, confirmation);
    return 'requires_action';
  }
  return charge(account, intent, method, false);
}

export function confirmSetup(account: StripeAccount, intent: SetupIntent, confirmation: Confirmation): Outcome {
  checkConfirmable(intent);
  account.store.touch(intent);
  intent.payment_method = confirmation.method.id;
  intent.last_setup_error = null;
  const { decline, authentication } = cardBehavior(confirmation.method._number);
  if (decline) return failSetup(account, intent, confirmation.method, declines[decline]);
  if (authentication !== 'never' && !confirmation.method._setUp) {
    requireAction(account, intent, confirmation);
    return 'requires_action';
  }
  return setUp(account, intent, confirmation.method);
}

function requireAction(
  account: StripeAccount,
  intent: PaymentIntent | SetupIntent,
  { returnUrl, bySdk }: Confirmation,
): void {
  intent.status = 'requires_action';
  intent._challenge = token(24);
  intent._returnUrl = returnUrl ?? null;
  const address = `/challenge/${intent.id}?ticket=${intent._challenge}`;
  intent.next_action =
    returnUrl && !bySdk
      ? { type: 'redirect_to_url', redirect_to_url: { return_url: returnUrl, url: address } }
      : {
          type: 'use_stripe_sdk',
          use_stripe_sdk: { type: 'three_d_secure_redirect', source: `src_${intent._challenge}`, stripe_js: address },
        };
  account.emit(`${intent.object}.requires_action`, intent);
}

/** Applies the result of the challenge. */
export function completeChallenge(
  account: StripeAccount,
  intent: PaymentIntent | SetupIntent,
  passed: boolean,
): Outcome {
  if (intent.status !== 'requires_action' || !intent.payment_method) {
    throw invalid(`This ${intent.object} requires no action; its status is ${intent.status}.`);
  }
  const method = account.need('payment_method', intent.payment_method);
  account.store.touch(intent);
  intent.next_action = null;
  intent._challenge = null;
  if (intent.object === 'setup_intent') {
    const setup = intent as SetupIntent;
    return passed ? setUp(account, setup, method) : failSetup(account, setup, method, notAuthenticated('setup_intent'));
  }
  const payment = intent as PaymentIntent;
  return passed
    ? charge(account, payment, method, true)
    : failPayment(account, payment, method, notAuthenticated('payment_intent'), false);
}

function charge(account: StripeAccount, intent: PaymentIntent, method: PaymentMethod, authenticated: boolean): Outcome {
  const { decline, declineCharges, declineAfterAuthentication, dispute } = cardBehavior(method._number);
  const declineName = decline ?? declineCharges ?? declineAfterAuthentication;
  if (declineName) return failPayment(account, intent, method, declines[declineName]);
  const paid = addCharge(account, intent, method, null, authenticated);
  intent.status = 'succeeded';
  intent.next_action = null;
  intent.amount_received = intent.amount;
  intent.latest_charge = paid.id;
  const customer = intent.customer ? account.store.find('customer', intent.customer) : null;
  if (customer && (intent.setup_future_usage || intent._invoice)) {
    if (method.customer === null && !method._detached) attach(account, method, customer, true);
    if (intent.setup_future_usage === 'off_session' && !method._setUp) {
      method._setUp = true;
      account.store.touch(method);
    }
  }
  account.emit('charge.succeeded', paid);
  account.emit('payment_intent.succeeded', intent);
  if (dispute) openDispute(account, paid, dispute);
  return 'succeeded';
}

function failPayment(
  account: StripeAccount,
  intent: PaymentIntent,
  method: PaymentMethod,
  problem: CardProblem,
  charged = true,
): Outcome {
  const failed = charged ? addCharge(account, intent, method, problem, false) : null;
  intent.status = 'requires_payment_method';
  intent.next_action = null;
  intent._challenge = null;
  intent.payment_method = null;
  if (failed) intent.latest_charge = failed.id;
  intent.last_payment_error = {
    ...problem,
    ...(failed && { charge: failed.id }),
    payment_method: account.present(method),
  };
  if (failed) account.emit('charge.failed', failed);
  account.emit('payment_intent.payment_failed', intent);
  return 'failed';
}

function setUp(account: StripeAccount, intent: SetupIntent, method: PaymentMethod): Outcome {
  intent.status = 'succeeded';
  intent.next_action = null;
  const customer = intent.customer ? account.store.find('customer', intent.customer) : null;
  if (customer) attach(account, method, customer, true);
  method._setUp = true;
  account.store.touch(method);
  account.emit('setup_intent.succeeded', intent);
  return 'succeeded';
}

function failSetup(account: StripeAccount, intent: SetupIntent, method: PaymentMethod, problem: CardProblem): Outcome {
  intent.status = 'requires_payment_method';
  intent.next_action = null;
  intent.payment_method = null;
  intent.last_setup_error = { ...problem, payment_method: account.present(method) };
  account.emit('setup_intent.setup_failed', intent);
  return 'failed';
}

/** Adds the charge of a payment attempt, successful or declined. */
function addCharge(
  account: StripeAccount,
  intent: PaymentIntent,
  method: PaymentMethod,
  problem: CardProblem | null,
  authenticated: boolean,
): Charge {
  const owner = intent.customer ? account.store.find('customer', intent.customer) : null;
  const id = `ch_${token(24)}`;
  return account.add(
    'charge',
    {
      ...blankCharge(),
      id,
      amount: intent.amount,
      amount_captured: problem ? 0 : intent.amount,
      balance_transaction: problem ? null : `txn_${token(24)}`,
      billing_details: method.billing_details,
      captured: !problem,
      currency: intent.currency,
      customer: intent.customer,
      description: intent.description,
      failure_code: problem?.code ?? null,
      failure_message: problem?.message ?? null,
      metadata: intent.metadata,
      outcome: outcomeOf(problem),
      paid: !problem,
      payment_intent: intent.id,
      payment_method: method.id,
      payment_method_details: {
        card: cardDetails(intent, method, { declined: problem !== null, authenticated }),
        type: 'card',
      },
      receipt_email: intent.receipt_email ?? null,
      status: problem ? 'failed' : 'succeeded',
    } as unknown as Omit<Charge, 'id'> & { id: string },
    owner,
  );
}

const outcomeOf = (problem: CardProblem | null) => ({
  advice_code: problem?.advice_code ?? null,
  network_advice_code: null,
  network_decline_code: null,
  network_status: problem ? 'declined_by_network' : 'approved_by_network',
  reason: problem ? (problem.decline_code ?? problem.code) : null,
  risk_level: 'normal',
  seller_message: problem ? 'The bank did not return any further details with this decline.' : 'Payment complete.',
  type: problem ? 'issuer_declined' : 'authorized',
});

/** `payment_method_details.card` of a charge. */
function cardDetails(
  intent: PaymentIntent,
  { card }: PaymentMethod,
  { declined, authenticated }: { declined: boolean; authenticated: boolean },
) {
  const { brand, last4, exp_month, exp_year, country, funding, fingerprint, wallet, checks } = card;
  return {
    brand,
    last4,
    exp_month,
    exp_year,
    country,
    funding,
    fingerprint,
    wallet,
    amount_authorized: declined ? null : intent.amount,
    authorization_code: declined ? null : token(6),
    checks,
    electronic_commerce_indicator: null,
    installments: null,
    mandate: null,
    network: brand,
    network_transaction_id: null,
    regulated_status: 'unregulated',
    three_d_secure: authenticated
      ? {
          authentication_flow: 'challenge',
          electronic_commerce_indicator: '05',
          exemption_indicator: null,
          result: 'authenticated',
          result_reason: null,
          transaction_id: token(36),
          version: '2.2.0',
        }
      : null,
    transaction_link_id: null,
  };
}

/** @throws {ApiError} 400 when it has succeeded */
export function cancelIntent(account: StripeAccount, intent: PaymentIntent | SetupIntent, reason: string | null): void {
  if (intent.status === 'succeeded' || intent.status === 'canceled') {
    throw invalid(
      `You cannot cancel this ${intent.object === 'payment_intent' ? 'PaymentIntent' : 'SetupIntent'} because it has a status of ${intent.status}. Only a PaymentIntent with one of the following statuses may be canceled: requires_payment_method, requires_capture, requires_confirmation, requires_action, processing.`,
      undefined,
      `${intent.object}_unexpected_state`,
    );
  }
  account.store.touch(intent);
  intent.status = 'canceled';
  intent.next_action = null;
  intent.cancellation_reason = reason;
  if (intent.object === 'payment_intent') (intent as PaymentIntent).canceled_at = account.now();
  account.emit(`${intent.object}.canceled`, intent);
}
