/** Payment intents, setup intents, charges and refunds. */

import { money } from '../billing/calendar.ts';
import { afterAttempt } from '../billing/collecting.ts';
import { applySetupIntent } from '../billing/creating.ts';
import { smallestCharge } from '../billing/currencies.ts';
import type { StripeAccount } from '../core/account.ts';
import { cardError, invalid, unauthorized } from '../core/errors.ts';
import type { PaymentIntent, PaymentMethod, SetupIntent } from '../core/model.ts';
import type { Params } from '../core/params.ts';
import { blocksRefund } from '../payments/disputes.ts';
import {
  cancelIntent,
  checkConfirmable,
  completeChallenge,
  confirmPayment,
  confirmSetup,
  makePaymentIntent,
  makeSetupIntent,
} from '../payments/intents.ts';
import { findMethod, makeMethod, readBilling, readCard } from '../payments/methods.ts';
import { get, matching, ofCustomer, page, post, type Route, type RouteCall } from './route.ts';

const ignoredParameters = [
  ...['expand', 'mandate', 'mandate_data', 'receipt_email', 'payment_method_options', 'payment_method_types', 'key'],
  ...['error_on_requires_action', 'radar_options', 'confirmation_method', 'capture_method'],
  ...[
    'statement_descriptor',
    'statement_descriptor_suffix',
    'shipping',
    'excluded_payment_method_types',
    'allowed_payment_method_types',
    'amount_details',
  ],
];

/** A browser proves with the secret that the intent belongs to it. */
function checkClientSecret({ browser, params }: RouteCall, intent: PaymentIntent | SetupIntent): void {
  const secret = params.text('client_secret');
  if (!browser && secret === undefined) return;
  if (secret !== intent.client_secret) {
    throw unauthorized('The client_secret provided does not match the client_secret associated with this intent.');
  }
}

/** The card that the call refers to or contains. */
function methodOf(
  { account, params }: Pick<RouteCall, 'account' | 'params'>,
  current: string | null,
): PaymentMethod | null {
  const id = params.text('payment_method');
  const data = params.object('payment_method_data');
  if (data) {
    data.allow('type', 'allow_redisplay', 'metadata');
    const card = data.object('card');
    if (!card)
      throw invalid(
        'Missing required param: payment_method_data[card].',
        'payment_method_data[card]',
        'parameter_missing',
      );
    return makeMethod(account, readCard(account, card), { billing: readBilling(data) });
  }
  if (id) return refuseDetached(findMethod(account, id));
  return current ? account.need('payment_method', current) : null;
}

/** Stripe names neither a code nor a parameter here: see github.com/Automattic/woocommerce-payments/issues/323. @throws {ApiError} 400 */
function refuseDetached(method: PaymentMethod): PaymentMethod {
  if (!method._detached) return method;
  throw invalid(
    'The provided PaymentMethod was previously used with a PaymentIntent without Customer attachment, shared with a connected account without Customer attachment, or was detached from a Customer. It may not be used again. To use a PaymentMethod multiple times, you must attach it to a Customer first.',
  );
}

function checkOwner(method: PaymentMethod, intent: PaymentIntent | SetupIntent): void {
  if (method.customer === null || method.customer === intent.customer) return;
  throw invalid(
    'The provided PaymentMethod belongs to a Customer. To use it, provide the same Customer with the PaymentIntent.',
    'payment_method',
    'payment_method_customer_mismatch',
  );
}

/** The dashboard's settings decide the payment methods unless the call names them. */
function readAutomatic(params: Params, intent: PaymentIntent | SetupIntent): void {
  const given = params.object('automatic_payment_methods');
  if (!given) return;
  const [enabled, redirects] = [given.bool('enabled') ?? true, given.one('allow_redirects', ['always', 'never'])];
  intent.automatic_payment_methods = { allow_redirects: redirects ?? 'always', enabled };
}

/** Payment methods that never redirect the customer. */
const typesWithoutRedirect = ['card', 'link'];

/**
 * A customer who may be sent to another page needs a return address (docs.stripe.com/api/setup_intents/confirm, `return_url`). An invoice's
 * intent has its invoice's payment methods.
 * @throws {ApiError} 400
 */
function requireReturnUrl({ params, browser }: RouteCall, intent: PaymentIntent | SetupIntent): void {
  const { automatic_payment_methods: automatic, allowed_payment_method_types: allowed } = intent;
  if (browser || intent._invoice || intent._subscription || params.has('return_url') || params.bool('use_stripe_sdk'))
    return;
  if ((automatic as { allow_redirects?: string } | null)?.allow_redirects === 'never') return;
  if (Array.isArray(allowed) && allowed.every((type) => typesWithoutRedirect.includes(type))) return;
  const name = intent.object === 'payment_intent' ? 'PaymentIntent' : 'SetupIntent';
  throw invalid(
    `This ${name} is configured to accept payment methods enabled in your Dashboard. Because some of these payment methods might redirect your customer off of your page, you must provide a \`return_url\`. If you don't want to accept redirect-based payment methods, set \`automatic_payment_methods[enabled]\` to \`true\` and \`automatic_payment_methods[allow_redirects]\` to \`never\` when creating Setup Intents and Payment Intents.`,
    'return_url',
  );
}

/** @throws {ApiError} 400 below Stripe's minimum charge */
function checkAmount(amount: number, currency: string): void {
  const minimum = smallestCharge(currency);
  if (amount >= minimum) return;
  throw invalid(`Amount must be at least ${money(minimum, currency)} ${currency}`, 'amount', 'amount_too_small');
}

const updatableStatuses = ['requires_payment_method', 'requires_confirmation', 'requires_action'];

/** @throws {ApiError} 400 if the intent can't be updated anymore */
function checkUpdatable({ status }: PaymentIntent, field: 'amount' | 'payment_method'): void {
  if (updatableStatuses.includes(status)) return;
  throw invalid(
    `This PaymentIntent's ${field} could not be updated because it has a status of ${status}. You may only update the ${field} of a PaymentIntent with one of the following statuses: ${updatableStatuses.join(', ')}.`,
    field,
    'payment_intent_unexpected_state',
  );
}

/** @throws {ApiError} 402 when the bank declines */
function confirm(call: RouteCall, intent: PaymentIntent): PaymentIntent {
  const { account, params, browser } = call;
  params.allow(...ignoredParameters);
  checkConfirmable(intent);
  requireReturnUrl(call, intent);
  const usage = params.one('setup_future_usage', ['off_session', 'on_session']);
  if (usage) intent.setup_future_usage = usage;
  const [returnUrl, sdk, off] = [params.text('return_url'), params.bool('use_stripe_sdk'), params.text('off_session')];
  const method = methodOf(call, intent.payment_method);
  if (!method) {
    throw invalid(
      "You cannot confirm this PaymentIntent because it's missing a payment method. You can either update the PaymentIntent with a payment method and then confirm it again, or confirm it again directly with a payment method or ConfirmationToken.",
      undefined,
      'payment_intent_unexpected_state',
    );
  }
  checkOwner(method, intent);
  const offSession = off === 'true' || off === 'one_off' || off === 'recurring';
  const outcome = confirmPayment(account, intent, {
    method,
    offSession,
    returnUrl: returnUrl ?? null,
    bySdk: browser || sdk === true,
  });
  afterAttempt(account, intent, outcome);
  if (outcome === 'failed' && intent.last_payment_error) {
    throw cardError(intent.last_payment_error, { payment_intent: account.present(intent) });
  }
  return intent;
}

export const paymentIntents: Route[] = [
  post('/v1/payment_intents', (call) => {
    const { account, params } = call;
    params.allow(...ignoredParameters);
    const amount = params.int('amount') ?? 0;
    const currency = params.need('currency');
    checkAmount(amount, currency);
    const customer = params.text('customer');
    const intent = makePaymentIntent(account, {
      amount,
      currency,
      description: params.text('description') ?? null,
      customer: customer ? account.need('customer', customer, 'customer').id : null,
      setupFutureUsage: params.one('setup_future_usage', ['off_session', 'on_session']) ?? null,
      metadata: params.metadata(),
      allowed: params.texts('allowed_payment_method_types') ?? null,
    });
    readAutomatic(params, intent);
    if (params.bool('confirm')) return confirm(call, intent);
    params.allow('return_url', 'use_stripe_sdk', 'off_session');
    const method = methodOf(call, null);
    if (method) {
      intent.payment_method = method.id;
      intent.status = 'requires_confirmation';
    }
    return intent;
  }),
  get('/v1/payment_intents', ({ account, params }) =>
    page(params, '/v1/payment_intents', ofCustomer({ account, params }, account.store.all('payment_intent'))),
  ),
  get(
    '/v1/payment_intents/:id',
    (call) => {
      const intent = call.account.need('payment_intent', call.id);
      call.params.allow('key', 'is_stripe_sdk');
      checkClientSecret(call, intent);
      return intent;
    },
    true,
  ),
  post('/v1/payment_intents/:id', (call) => {
    const { account, params, id } = call;
    const intent = account.need('payment_intent', id);
    params.allow(...ignoredParameters, 'description', 'customer');
    account.store.touch(intent);
    intent.metadata = params.metadata(intent.metadata);
    const [amount, usage] = [params.int('amount'), params.one('setup_future_usage', ['off_session', 'on_session'])];
    for (const field of ['amount', 'payment_method'] as const) if (params.has(field)) checkUpdatable(intent, field);
    if (amount) {
      // Its invoice decides the amount. That Stripe's error has these words is not verified.
      if (intent._invoice)
        throw invalid('The amount of a PaymentIntent that was created by an invoice cannot be changed.', 'amount');
      checkAmount(amount, intent.currency);
      intent.amount = amount;
    }
    if (usage) intent.setup_future_usage = usage;
    const method = methodOf(call, null);
    if (method) {
      checkOwner(method, intent);
      intent.payment_method = method.id;
      if (intent.status === 'requires_payment_method') intent.status = 'requires_confirmation';
    }
    return intent;
  }),
  post(
    '/v1/payment_intents/:id/confirm',
    (call) => {
      const intent = call.account.need('payment_intent', call.id);
      checkClientSecret(call, intent);
      return confirm(call, intent);
    },
    true,
  ),
  post('/v1/payment_intents/:id/cancel', ({ account, params, id }) => {
    const intent = account.need('payment_intent', id);
    if (intent._invoice && account.store.find('invoice', intent._invoice)?.status === 'open') {
      throw invalid(
        'You cannot cancel a PaymentIntent that belongs to an open invoice: void the invoice.',
        undefined,
        'payment_intent_unexpected_state',
      );
    }
    cancelIntent(account, intent, params.text('cancellation_reason') ?? null);
    return intent;
  }),
];

function confirmSetupIntent(call: RouteCall, intent: SetupIntent): SetupIntent {
  const { account, params, browser } = call;
  params.allow(...ignoredParameters);
  requireReturnUrl(call, intent);
  const [returnUrl, sdk] = [params.text('return_url'), params.bool('use_stripe_sdk')];
  const method = methodOf(call, intent.payment_method);
  if (!method) {
    throw invalid(
      "You cannot confirm this SetupIntent because it's missing a payment method. Update the SetupIntent with a payment method and then confirm it again.",
      undefined,
      'setup_intent_unexpected_state',
    );
  }
  checkOwner(method, intent);
  const outcome = confirmSetup(account, intent, {
    method,
    offSession: false,
    returnUrl: returnUrl ?? null,
    bySdk: browser || sdk === true,
  });
  if (outcome === 'succeeded') applySetupIntent(account, intent.id);
  if (outcome === 'failed' && intent.last_setup_error) {
    throw cardError(intent.last_setup_error, { setup_intent: account.present(intent) });
  }
  return intent;
}

export const setupIntents: Route[] = [
  post('/v1/setup_intents', (call) => {
    const { account, params } = call;
    params.allow(...ignoredParameters);
    const customer = params.text('customer');
    const intent = makeSetupIntent(account, {
      customer: customer ? account.need('customer', customer, 'customer').id : null,
      metadata: params.metadata(),
      usage: params.one('usage', ['off_session', 'on_session']) ?? 'off_session',
      allowed: params.texts('allowed_payment_method_types') ?? null,
    });
    readAutomatic(params, intent);
    intent.description = params.text('description') ?? null;
    if (params.bool('confirm')) return confirmSetupIntent(call, intent);
    params.allow('return_url', 'use_stripe_sdk');
    const method = methodOf(call, null);
    if (method) {
      intent.payment_method = method.id;
      intent.status = 'requires_confirmation';
    }
    return intent;
  }),
  get('/v1/setup_intents', ({ account, params }) => {
    const own = ofCustomer({ account, params }, account.store.all('setup_intent'));
    return page(params, '/v1/setup_intents', matching(own, 'payment_method', params.text('payment_method')));
  }),
  get(
    '/v1/setup_intents/:id',
    (call) => {
      const intent = call.account.need('setup_intent', call.id);
      call.params.allow('key', 'is_stripe_sdk');
      checkClientSecret(call, intent);
      return intent;
    },
    true,
  ),
  post(
    '/v1/setup_intents/:id/confirm',
    (call) => {
      const intent = call.account.need('setup_intent', call.id);
      checkClientSecret(call, intent);
      return confirmSetupIntent(call, intent);
    },
    true,
  ),
  post('/v1/setup_intents/:id/cancel', ({ account, params, id }) => {
    const intent = account.need('setup_intent', id);
    cancelIntent(account, intent, params.text('cancellation_reason') ?? null);
    return intent;
  }),
];

/** Ends the bank's challenge with the customer's result, for the challenge's page and for tests. */
export function finishChallenge(account: StripeAccount, id: string, passed: boolean): PaymentIntent | SetupIntent {
  const intent = id.startsWith('seti_') ? account.need('setup_intent', id) : account.need('payment_intent', id);
  const outcome = completeChallenge(account, intent, passed);
  if (intent.object === 'payment_intent') afterAttempt(account, intent as PaymentIntent, outcome);
  else if (outcome === 'succeeded') applySetupIntent(account, intent.id);
  return intent;
}

export const charges: Route[] = [
  get('/v1/charges', ({ account, params }) => {
    const own = ofCustomer({ account, params }, account.store.all('charge'));
    return page(params, '/v1/charges', matching(own, 'payment_intent', params.text('payment_intent')));
  }),
  get('/v1/charges/:id', ({ account, id }) => account.need('charge', id)),
];

export function refund(account: StripeAccount, params: Params) {
  params.allow(
    'expand',
    'refund_application_fee',
    'reverse_transfer',
    'instructions_email',
    'currency',
    'customer',
    'origin',
  );
  const [intentId, chargeId] = [params.text('payment_intent'), params.text('charge')];
  const intent = intentId ? account.need('payment_intent', intentId, 'payment_intent') : null;
  const id = chargeId ?? intent?.latest_charge;
  if (!id) throw invalid('This PaymentIntent does not have a successful charge to refund.', 'payment_intent');
  const charge = account.need('charge', id, 'charge');
  if (charge.status !== 'succeeded') throw invalid(`Charge ${id} failed and cannot be refunded.`, 'charge');
  if (blocksRefund(account, charge)) {
    throw invalid(`Charge ${id} has been charged back; cannot issue a refund.`, undefined, 'charge_disputed');
  }
  const left = charge.amount - charge.amount_refunded;
  if (left === 0) throw invalid(`Charge ${id} has already been refunded.`, undefined, 'charge_already_refunded');
  const amount = params.int('amount') ?? left;
  if (amount <= 0 || amount > left) {
    throw invalid(
      `Refund amount (${money(amount, charge.currency)}) is greater than unrefunded amount on charge (${money(left, charge.currency)})`,
      'amount',
    );
  }
  const made = account.add(
    'refund',
    {
      object: 'refund',
      amount,
      balance_transaction: null,
      charge: id,
      currency: charge.currency,
      customer: charge.customer,
      customer_account: null,
      destination_details: { card: { type: 'refund' }, type: 'card' },
      metadata: params.metadata(),
      payment_intent: charge.payment_intent,
      payment_method: charge.payment_method,
      reason: params.one('reason', ['duplicate', 'fraudulent', 'requested_by_customer']) ?? null,
      receipt_number: null,
      source_transfer_reversal: null,
      status: 'succeeded',
      transfer_reversal: null,
    },
    charge.customer ? (account.store.find('customer', charge.customer) ?? null) : null,
  );
  const previous = { amount_refunded: charge.amount_refunded, refunded: charge.refunded };
  account.store.touch(charge);
  charge.amount_refunded += amount;
  charge.refunded = charge.amount_refunded === charge.amount;
  account.emit('charge.refunded', charge, previous);
  return made;
}

export const refunds: Route[] = [
  post('/v1/refunds', ({ account, params }) => refund(account, params)),
  get('/v1/refunds', ({ account, params }) => {
    const own = matching(account.store.all('refund'), 'charge', params.text('charge'));
    return page(params, '/v1/refunds', matching(own, 'payment_intent', params.text('payment_intent')));
  }),
  get('/v1/refunds/:id', ({ account, id }) => account.need('refund', id)),
];
