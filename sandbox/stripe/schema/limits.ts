/**
 * Limits that aren't in the declared types, each with the page that states it. "Declarations" are the comments of the pinned SDK,
 * "OpenAPI" is github.com/stripe/openapi. A value marked "not verified" is from memory: no published page was found that states it.
 */
import { invalid } from '../core/errors.ts';
import type { Fields as Form } from '../core/params.ts';

/** Longest texts, by the end of the parameter's path. */
const texts: readonly (readonly [RegExp, number])[] = [
  // docs.stripe.com/metadata
  [/^metadata$|\[metadata\]\[/, 500],
  // Declarations: CustomerCreateParams.email.
  [/^email$/, 512],
  // docs.stripe.com/get-started/account/statement-descriptors
  [/statement_descriptor(?:_suffix)?$/, 22],
  // OpenAPI: POST /v1/prices.
  [/^lookup_key$/, 200],
  // OpenAPI: POST /v1/promotion_codes.
  [/^code$/, 500],
  // Not verified.
  [/^name$/, 256],
];

/** Any other text: `maxLength` of nearly every string in OpenAPI. */
const defaultLongestText = 5000;

export const maxTextLength = (path: string, name: string): number =>
  path.includes('metadata[') ? 500 : (texts.find(([pattern]) => pattern.test(name))?.[1] ?? defaultLongestText);

/** Longest lists. */
const lists: Readonly<Record<string, number>> = {
  // Declarations: InvoiceCreatePreviewParams, "a list of up to 20 subscription items".
  items: 20,
  // Declarations: SubscriptionCreateParams, "you may pass up to 20 items".
  add_invoice_items: 20,
  // Not verified.
  discounts: 20,
  // Not verified.
  default_tax_rates: 20,
  // Declarations: EventListParams, "an array of up to 20 strings".
  types: 20,
  // Declarations: InvoiceCreatePreviewParams, "up to 250".
  invoice_items: 250,
  // docs.stripe.com/billing/subscriptions/subscription-schedules: "up to 10 current or future phases".
  phases: 10,
};

/** OpenAPI: POST /v1/coupons. */
const longestCouponName = 40;

/** @throws {ApiError} 400 */
export function checkLimits(call: string, form: Form): void {
  walk(form, '');
  const { name, percent_off: percent } = form;
  if (/^POST \/v1\/coupons/.test(call) && typeof name === 'string' && name.length > longestCouponName) {
    throw invalid(`Invalid string: ${name}; must be at most ${longestCouponName} characters`, 'name');
  }
  // docs.stripe.com/api/coupons/create
  if (call === 'POST /v1/coupons' && typeof percent === 'string' && !(Number(percent) > 0 && Number(percent) <= 100)) {
    throw invalid('Invalid decimal: must be greater than 0 and less than or equal to 100', 'percent_off');
  }
}

function walk(form: Form, path: string): void {
  for (const [name, value] of Object.entries(form)) {
    const at = path ? `${path}[${name}]` : name;
    if (typeof value === 'string') {
      checkRange(name, value, at);
      continue;
    }
    if (name === 'metadata') checkMetadata(value, at);
    const most = lists[name];
    const count = Object.keys(value).length;
    if (most !== undefined && count > most) {
      throw invalid(`Array exceeded maximum ${most} allowed elements.`, at, 'array_too_long');
    }
    walk(value, at);
  }
}

/**
 * Amounts have eight digits at most (declarations: PaymentIntentCreateParams.amount), pages hold 1 to 100 (declarations: `limit`), a trial
 * lasts 730 days at most (docs.stripe.com/billing/subscriptions/trials/free-trials), months and redemptions are positive
 * (docs.stripe.com/api/coupons/create). That a quantity may be 0 and no less is not verified.
 */
function checkRange(name: string, value: string, path: string): void {
  if (!/^-?\d+$/.test(value)) return;
  const number = Number(value);
  const least = { amount: 1, quantity: 0, trial_period_days: 1, limit: 1, max_redemptions: 1, duration_in_months: 1 }[
    name
  ];
  const most = { amount: 99_999_999, unit_amount: 99_999_999, trial_period_days: 730, limit: 100 }[name];
  // An invoice item that is a credit may be negative.
  if (least !== undefined && number < least && !(name === 'amount' && path === 'amount' && number < 0)) {
    throw invalid(
      `This value must be greater than or equal to ${least}.`,
      path,
      least === 1 && name === 'amount' ? 'parameter_invalid_integer' : undefined,
    );
  }
  if (most !== undefined && number > most) throw invalid(`This value must be less than or equal to ${most}.`, path);
}

/** docs.stripe.com/metadata: up to 50 keys of up to 40 characters, values of up to 500. */
function checkMetadata(metadata: Form, path: string): void {
  const keys = Object.keys(metadata);
  if (keys.length > 50) {
    throw invalid(`You can specify up to 50 metadata keys. You specified ${keys.length}.`, path);
  }
  for (const key of keys) {
    if (key.length > 40) {
      throw invalid(
        `Metadata keys can have up to 40 characters. You specified a key of ${key.length}: ${key.slice(0, 40)}…`,
        path,
      );
    }
    const value = metadata[key];
    if (typeof value === 'string' && value.length > 500) {
      throw invalid(
        `Metadata values can have up to 500 characters, but you passed in a value that is ${value.length} characters.`,
        `${path}[${key}]`,
      );
    }
  }
}
