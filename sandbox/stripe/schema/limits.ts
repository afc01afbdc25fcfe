/** Limits that Stripe's documentation states and no declaration tells, each with its place. */
import { invalid } from '../core/errors.ts';
import type { Fields as Form } from '../core/params.ts';

/** Longest texts, by the end of the parameter's path; docs.stripe.com/api states them at each parameter. */
const texts: readonly (readonly [RegExp, number])[] = [
  // docs.stripe.com/api/metadata
  [/^metadata$|\[metadata\]\[/, 500],
  [/^email$/, 512],
  // docs.stripe.com/get-started/account/statement-descriptors
  [/statement_descriptor(?:_suffix)?$/, 22],
  [/^lookup_key$/, 200],
  // docs.stripe.com/api/idempotent_requests states 255 for keys, docs.stripe.com/api/coupons 40 for names.
  [/^name$/, 256],
];

/** Any other text may have so many characters: the bound of Stripe's published schema. */
const usual = 5000;

export const longestText = (path: string, name: string): number =>
  path.includes('metadata[') ? 500 : (texts.find(([pattern]) => pattern.test(name))?.[1] ?? usual);

/** Longest lists: `items` of subscriptions, schedules and previews (docs.stripe.com/api/subscriptions/create). */
const lists: Readonly<Record<string, number>> = {
  ...{ items: 20, add_invoice_items: 20, discounts: 20, default_tax_rates: 20 },
  // docs.stripe.com/billing/subscriptions/subscription-schedules: ten current or future phases.
  phases: 10,
};

/** @throws {ApiError} 400 */
export function checkLimits(call: string, form: Form): void {
  walk(form, '');
  const percent = form.percent_off;
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

/** Amounts end at 99999999 (docs.stripe.com/currencies#minimum-and-maximum-charge-amounts); counts and days begin at 0. */
function checkRange(name: string, value: string, path: string): void {
  if (!/^-?\d+$/.test(value)) return;
  const number = Number(value);
  const least = { amount: 1, quantity: 0, trial_period_days: 1, limit: 1, max_redemptions: 1, duration_in_months: 1 }[
    name
  ];
  const most = { amount: 99_999_999, unit_amount: 99_999_999, trial_period_days: 730, limit: 100 }[name];
  // What is credited with an invoice item may be negative.
  if (least !== undefined && number < least && !(name === 'amount' && path === 'amount' && number < 0)) {
    throw invalid(
      `This value must be greater than or equal to ${least}.`,
      path,
      least === 1 && name === 'amount' ? 'parameter_invalid_integer' : undefined,
    );
  }
  if (most !== undefined && number > most) throw invalid(`This value must be less than or equal to ${most}.`, path);
}

/** docs.stripe.com/api/metadata: up to 50 keys of up to 40 characters, values of up to 500; no brackets in keys. */
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
