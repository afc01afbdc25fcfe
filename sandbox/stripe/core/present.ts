/** Objects as they go over the wire: without the sandbox's own fields, and with what `expand[]` asks for. */
import { invalid } from './errors.ts';
import type { Coupon, Invoice, InvoicePayment, Kind, Price, PromotionCode, SubscriptionItem, Thing } from './model.ts';
import type { Store } from './store.ts';

export type Wire = Record<string, unknown>;
type Tree = { [name: string]: Tree };

export interface Presenter {
  /** @throws {ApiError} 400 when something cannot be expanded */
  present(thing: Thing, expand?: readonly string[]): Wire;
  place(address: string): void;
}

const prefixes: readonly (readonly [string, Kind])[] = [
  ['sub_sched_', 'subscription_schedule'],
  ['sub_', 'subscription'],
  ['cus_', 'customer'],
  ['pm_', 'payment_method'],
  ['prod_', 'product'],
  ['price_', 'price'],
  ['promo_', 'promotion_code'],
  ['di_', 'discount'],
  ['in_', 'invoice'],
  ['ii_', 'invoiceitem'],
  ['inpay_', 'invoice_payment'],
  ['pi_', 'payment_intent'],
  ['seti_', 'setup_intent'],
  ['ch_', 'charge'],
  ['re_', 'refund'],
  ['dp_', 'dispute'],
  ['clock_', 'test_helpers.test_clock'],
];

/** Whether a coupon can be used at a moment. */
export const couponValid = (coupon: Coupon, now: number): boolean =>
  (coupon.redeem_by === null || now < coupon.redeem_by) &&
  (coupon.max_redemptions === null || coupon.times_redeemed < coupon.max_redemptions);

export const promotionActive = (code: PromotionCode, coupon: Coupon | undefined, now: number): boolean =>
  code.active &&
  (code.expires_at === null || now < code.expires_at) &&
  (code.max_redemptions === null || code.times_redeemed < code.max_redemptions) &&
  coupon !== undefined &&
  couponValid(coupon, now);

/** The older object that items still carry beside their price. */
const planOf = (price: Price): Wire => ({
  id: price.id,
  object: 'plan',
  active: price.active,
  amount: price.unit_amount,
  amount_decimal: String(price.unit_amount),
  billing_scheme: 'per_unit',
  created: price.created,
  currency: price.currency,
  interval: price.recurring?.interval,
  interval_count: price.recurring?.interval_count,
  livemode: false,
  metadata: price.metadata,
  meter: null,
  nickname: price.nickname,
  product: price.product,
  tiers_mode: null,
  transform_usage: null,
  trial_period_days: null,
  usage_type: 'licensed',
});

const listOf = (data: readonly unknown[], url: string) => ({ object: 'list', data, has_more: false, url });

export function makePresenter(store: Store, now: () => number): Presenter {
  let address = '';
  /** Fields that are not there before they are asked for. */
  const extras: Partial<Record<string, Record<string, (thing: Thing) => unknown>>> = {
    invoice: {
      confirmation_secret(thing) {
        const intent = (thing as Invoice)._intent
          ? store.find('payment_intent', (thing as Invoice)._intent ?? '')
          : null;
        return intent && thing.status === 'open'
          ? { client_secret: intent.client_secret, type: 'payment_intent' }
          : null;
      },
      payments: (thing) =>
        listOf(
          [...store.all('invoice_payment')].filter((payment: InvoicePayment) => payment.invoice === thing.id),
          `/v1/invoice_payments?invoice=${thing.id}`,
        ),
    },
    price: {
      currency_options(thing) {
        const { currency, unit_amount: own, _amounts: others = {} } = thing as Price;
        return Object.fromEntries(
          Object.entries({ [currency]: own, ...others }).map(([name, amount]) => [
            name,
            {
              custom_unit_amount: null,
              tax_behavior: 'unspecified',
              unit_amount: amount,
              unit_amount_decimal: String(amount),
            },
          ]),
        );
      },
    },
    coupon: {
      currency_options(thing) {
        const { currency, amount_off: amount } = thing as Coupon;
        return amount === null ? undefined : { [currency ?? 'usd']: { amount_off: amount } };
      },
      // Without a restriction there is no such field.
      applies_to(thing) {
        const { _products: products } = thing as Coupon;
        return products.length > 0 ? { products } : undefined;
      },
    },
    customer: {
      subscriptions: (thing) =>
        listOf(
          [...store.all('subscription')].filter(
            ({ customer, status }) => customer === thing.id && status !== 'canceled' && status !== 'incomplete_expired',
          ),
          `/v1/customers/${thing.id}/subscriptions`,
        ),
      sources: (thing) => listOf([], `/v1/customers/${thing.id}/sources`),
      tax_ids: (thing) => listOf([], `/v1/customers/${thing.id}/tax_ids`),
    },
    charge: {
      refunds: (thing) =>
        listOf(
          [...store.all('refund')].filter(({ charge }) => charge === thing.id),
          `/v1/charges/${thing.id}/refunds`,
        ),
    },
  };

  const lookUp = (field: string, id: string): Thing | undefined => {
    if (field === 'coupon') return store.find('coupon', id);
    if (field === 'product' || field === 'default_price' || field === 'price') {
      return store.find(field === 'product' ? 'product' : 'price', id);
    }
    const kind = prefixes.find(([prefix]) => id.startsWith(prefix))?.[1];
    return kind && store.find(kind, id);
  };

  function copy(value: unknown, tree: Tree, path: string): unknown {
    if (Array.isArray(value)) return value.map((member) => copy(member, tree, path));
    if (value === null || typeof value !== 'object') return value;
    const thing = completed(value as Thing);
    const result: Wire = {};
    for (const [field, inner] of Object.entries(thing)) {
      if (field.startsWith('_') || inner === undefined) continue;
      // What an event tells was presented when it happened.
      if (thing.object === 'event' && field === 'data') {
        result[field] = inner;
        continue;
      }
      const below = tree[field];
      result[field] = below
        ? copy(expanded(inner, field, `${path}${field}`), below, `${path}${field}.`)
        : copy(inner, {}, '');
    }
    for (const [field, below] of Object.entries(tree)) {
      if (field in result) continue;
      const extra = extras[thing.object]?.[field];
      if (extra) result[field] = copy(extra(thing), below, `${path}${field}.`);
      else throw invalid(`This property cannot be expanded (${path}${field}).`, 'expand');
    }
    return result;
  }

  /** The object of an id, and what holds objects as it is. */
  function expanded(value: unknown, field: string, path: string): unknown {
    if (Array.isArray(value)) return value.map((member) => expanded(member, field, path));
    if (value === null || typeof value === 'object') return value;
    const found = typeof value === 'string' ? lookUp(field, value) : undefined;
    if (found) return found;
    throw invalid(`This property cannot be expanded (${path}).`, 'expand');
  }

  function completed(thing: Thing): Thing {
    if (thing.object === 'customer' && thing.deleted) return { id: thing.id, object: 'customer', deleted: true };
    if (thing.object === 'subscription_item') {
      const price = store.find('price', (thing as SubscriptionItem).price);
      return price ? { ...thing, price, plan: planOf(price) } : thing;
    }
    if (thing.object === 'invoice' && thing.hosted_invoice_url) {
      const [hosted_invoice_url, invoice_pdf] = [thing.hosted_invoice_url, thing.invoice_pdf].map(
        (path) => `${address}${path}`,
      );
      return { ...thing, hosted_invoice_url, invoice_pdf };
    }
    if (thing.object === 'payment_intent' || thing.object === 'setup_intent') {
      const action = thing.next_action as { redirect_to_url?: { url: string } } | null;
      if (action?.redirect_to_url) {
        const redirect_to_url = { ...action.redirect_to_url, url: `${address}${action.redirect_to_url.url}` };
        return { ...thing, next_action: { ...action, redirect_to_url } };
      }
    }
    if (thing.object === 'coupon') return { ...thing, valid: couponValid(thing as Coupon, now()) };
    if (thing.object === 'promotion_code') {
      const code = thing as PromotionCode;
      return { ...code, active: promotionActive(code, store.find('coupon', code.promotion.coupon), now()) };
    }
    return thing;
  }

  return {
    place(given) {
      address = given;
    },
    present(thing, expand = []) {
      const tree: Tree = {};
      for (const path of expand) {
        const parts = path.split('.');
        if (parts.length > 4) {
          throw invalid(`You cannot expand more than 4 levels of a property: ${path}.`, 'expand');
        }
        let here = tree;
        for (const part of parts) {
          here[part] ??= {};
          here = here[part];
        }
      }
      return copy(thing, tree, '') as Wire;
    },
  };
}
