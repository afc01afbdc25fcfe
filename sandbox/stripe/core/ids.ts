/** Stripe's ids: a prefix that names the kind, and random letters and digits. */
import { randomBytes } from 'node:crypto';
import type { Kind } from './model.ts';

const prefixOf: Partial<Record<Kind, string>> = {
  customer: 'cus_',
  payment_method: 'pm_',
  product: 'prod_',
  price: 'price_',
  'product_catalog.trial_offer': 'to_',
  promotion_code: 'promo_',
  discount: 'di_',
  subscription: 'sub_',
  subscription_schedule: 'sub_sched_',
  invoice: 'in_',
  invoiceitem: 'ii_',
  invoice_payment: 'inpay_',
  payment_intent: 'pi_',
  setup_intent: 'seti_',
  charge: 'ch_',
  refund: 're_',
  dispute: 'dp_',
  'test_helpers.test_clock': 'clock_',
  event: 'evt_',
};

/** Objects that Stripe doesn't expand. */
const notExpandable: ReadonlySet<string> = new Set<Kind>(['product_catalog.trial_offer', 'event']);

/** Longest prefix first: `sub_sched_` begins with `sub_`. */
const expandable = (Object.entries(prefixOf) as [Kind, string][])
  .filter(([kind]) => !notExpandable.has(kind))
  .sort(([, one], [, other]) => other.length - one.length);

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Random letters and digits. */
export function token(length: number): string {
  let text = '';
  for (const byte of randomBytes(length)) text += alphabet[byte % alphabet.length];
  return text;
}

export const newId = (kind: Kind): string => `${prefixOf[kind] ?? `${kind}_`}${token(24)}`;

/** The kind of an id that `expand[]` may replace by its object. */
export const expandableKind = (id: string): Kind | undefined =>
  expandable.find(([, prefix]) => id.startsWith(prefix))?.[0];
