/**
 * What the declarations of `@stripe/stripe-js` allow: every other option is refused. The shapes come from schema/stripe-js.json,
 * the comparison from schema/check.ts; both are prepended to this script.
 */
import { IntegrationError } from './calls.js';

/** Refuses arguments that fit none of a function's overloads. */
export function checkCall(name, given) {
  const problems = declared.functions[name].map((shapes) => {
    for (const [index, shape] of shapes.entries()) {
      const found = difference(given[index], shape, declared);
      if (found) return found;
    }
    return null;
  });
  if (problems.includes(null)) return;
  // The intended overload is the one that the arguments resemble most.
  const like = (shapes) => shapes.reduce((sum, shape, index) => sum + likeness(given[index], shape, declared), 0);
  const scores = declared.functions[name].map(like);
  refuse(name, problems[scores.indexOf(Math.max(...scores))]);
}

/** Options of an element, at its creation or at an update. */
export function checkOptions(type, when, options) {
  const name = when === 'create' ? `elements.create("${type}")` : `${type}Element.update`;
  const shape = declared.elements[type]?.[when];
  const found = shape && options !== undefined && difference(options, shape, declared);
  if (found) refuse(name, found);
  if (type !== 'expressCheckout') return;
  const { buttonHeight: height = 44, layout } = options ?? {};
  if (!(height >= 40 && height <= 55)) refuse(name, `buttonHeight: ${height} is not between 40 and 55`);
  if (layout?.overflow === 'never' && layout.maxRows > 0) refuse(name, 'layout.maxRows: has to be 0 without overflow');
}

/** An event that an element sends to the page. */
export function checkEvent(type, event) {
  const known = declared.elements[type]?.events;
  if (known && !known.includes(event)) {
    throw new IntegrationError(`${type}Element.on(): "${event}" is not one of ${known.join(', ')}.`);
  }
}

/** Line items of a wallet's sheet: whole minor units, in total no more than is charged. */
export function checkLineItems(items, amount) {
  items?.forEach((item, index) => {
    if (Number.isInteger(item.amount)) return;
    throw new IntegrationError(
      `Missing value for click event resolve callback: lineItems.${index}.amount should be an amount in the currency's subunit.`,
    );
  });
  const sum = (items ?? []).reduce((total, item) => total + item.amount, 0);
  if (amount && amount < sum) {
    throw new IntegrationError(`The amount ${amount} is less than the total amount of the line items provided.`);
  }
}

function refuse(name, problem) {
  throw new IntegrationError(`Invalid value for ${name}(): ${problem}.`);
}

/**
 * Elements created without an intent must match the intent that they confirm: Stripe.js compares mode, amount, currency,
 * payment methods and future use (docs.stripe.com/payments/accept-a-payment-deferred).
 */
export function checkIntent(options, intent, setup) {
  if (!options?.mode) return;
  const wanted = setup ? ['setup', 'subscription'] : ['payment', 'subscription'];
  const name = setup ? 'SetupIntent' : 'PaymentIntent';
  const differs = (what, own, other) => {
    throw new IntegrationError(
      `The ${what} that was given to elements() (${own}) does not match the ${what} of the ${name} (${other}).`,
    );
  };
  if (!wanted.includes(options.mode)) differs('mode', options.mode, wanted[0]);
  if (!setup && options.amount !== intent.amount) differs('amount', options.amount, intent.amount);
  if (!setup && options.currency !== intent.currency) differs('currency', options.currency, intent.currency);
  const [own, other] = [options.allowedPaymentMethodTypes, intent.allowed_payment_method_types].map(
    (types) => types && [...types].sort().join(', '),
  );
  if ((own ?? null) !== (other ?? null)) differs('allowedPaymentMethodTypes', own ?? 'any', other ?? 'any');
  const usage = setup ? intent.usage : intent.setup_future_usage;
  const planned = options.setupFutureUsage ?? (setup || options.mode === 'subscription' ? 'off_session' : null);
  if (planned !== (usage ?? null)) differs('setupFutureUsage', planned ?? 'none', usage ?? 'none');
}
