/** Objects as the API sends them: without the sandbox's own fields, and with what `expand[]` asks for. */
import { invalid } from './errors.ts';
import { expandableKind } from './ids.ts';
import type { Coupon, Invoice, Price, PromotionCode, StripeObject, SubscriptionItem } from './model.ts';
import type { Store } from './store.ts';

export type Wire = Record<string, unknown>;
type Tree = { [name: string]: Tree };

export interface Presenter {
  /** @throws {ApiError} 400 when something cannot be expanded */
  present(thing: StripeObject, expand?: readonly string[]): Wire;
  /** Sets the base address of pages, such as that of an invoice. */
  setAddress(address: string): void;
}

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

/** The legacy `plan` object, which items have in addition to their price. */
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

/** Stripe's limit (docs.stripe.com/api/expanding_objects). */
const maxExpandLevels = 4;

interface State {
  readonly store: Store;
  /** Unix seconds. */
  readonly now: () => number;
  address: string;
}

export function makePresenter(store: Store, now: () => number): Presenter {
  const state: State = { store, now, address: '' };
  return {
    setAddress(address) {
      state.address = address;
    },
    present: (thing, expand = []) => copy(state, thing, treeOf(expand), '') as Wire,
  };
}

function treeOf(paths: readonly string[]): Tree {
  const tree: Tree = {};
  for (const path of paths) {
    const parts = path.split('.');
    if (parts.length > maxExpandLevels) {
      throw invalid(`You cannot expand more than ${maxExpandLevels} levels of a property: ${path}.`, 'expand');
    }
    let branch = tree;
    for (const part of parts) {
      branch[part] ??= {};
      branch = branch[part];
    }
  }
  return tree;
}

/** @param path of `value` in the whole object, with a dot at its end */
function copy(state: State, value: unknown, tree: Tree, path: string): unknown {
  if (Array.isArray(value)) return value.map((member) => copy(state, member, tree, path));
  if (value === null || typeof value !== 'object') return value;
  const thing = withComputedFields(state, value as StripeObject);
  const result: Wire = {};
  for (const [field, inner] of Object.entries(thing)) {
    if (field.startsWith('_') || inner === undefined) continue;
    // An event's data was presented when the event happened.
    if (thing.object === 'event' && field === 'data') {
      result[field] = inner;
      continue;
    }
    const branch = tree[field];
    result[field] = branch
      ? copy(state, expand(state, inner, field, `${path}${field}`), branch, `${path}${field}.`)
      : copy(state, inner, {}, '');
  }
  for (const [field, branch] of Object.entries(tree)) {
    if (field in result) continue;
    const onRequest = fieldsOnRequest['first_time_transaction' in thing ? 'restrictions' : thing.object]?.[field];
    if (!onRequest) throw invalid(`This property cannot be expanded (${path}${field}).`, 'expand');
    result[field] = copy(state, onRequest(thing, state.store), branch, `${path}${field}.`);
  }
  return result;
}

/** Replaces an id by its object; an object is returned unchanged. */
function expand(state: State, value: unknown, field: string, path: string): unknown {
  if (Array.isArray(value)) return value.map((member) => expand(state, member, field, path));
  if (value === null || typeof value === 'object') return value;
  const found = typeof value === 'string' ? findByField(state, field, value) : undefined;
  if (found) return found;
  throw invalid(`This property cannot be expanded (${path}).`, 'expand');
}

/** Coupons, products and prices may have ids without a prefix, so their kind follows from the field's name. */
function findByField({ store }: State, field: string, id: string): StripeObject | undefined {
  if (field === 'coupon' || field === 'product' || field === 'price') return store.find(field, id);
  if (field === 'default_price') return store.find('price', id);
  const kind = expandableKind(id);
  return kind && store.find(kind, id);
}

/** Adds the fields that are computed when the object is read. */
function withComputedFields({ store, now, address }: State, thing: StripeObject): StripeObject {
  if (thing.object === 'customer' && thing.deleted) return { id: thing.id, object: 'customer', deleted: true };
  if (thing.object === 'subscription_item') {
    const price = store.find('price', (thing as SubscriptionItem).price);
    return price ? { ...thing, price, plan: planOf(price) } : thing;
  }
  if (thing.object === 'invoice' && thing.hosted_invoice_url) {
    return {
      ...thing,
      hosted_invoice_url: `${address}${thing.hosted_invoice_url}`,
      invoice_pdf: `${address}${thing.invoice_pdf}`,
    };
  }
  if (thing.object === 'payment_intent' || thing.object === 'setup_intent') {
    const action = thing.next_action as { redirect_to_url?: { url: string } } | null;
    if (!action?.redirect_to_url) return thing;
    const redirect_to_url = { ...action.redirect_to_url, url: `${address}${action.redirect_to_url.url}` };
    return { ...thing, next_action: { ...action, redirect_to_url } };
  }
  if (thing.object === 'coupon') return { ...thing, valid: couponValid(thing as Coupon, now()) };
  if (thing.object === 'promotion_code') {
    const code = thing as PromotionCode;
    return { ...code, active: promotionActive(code, store.find('coupon', code.promotion.coupon), now()) };
  }
  return thing;
}

/** Fields that Stripe includes only if `expand[]` names them, by kind of object. */
const fieldsOnRequest: Record<string, Record<string, (thing: StripeObject, store: Store) => unknown>> = {
  invoice: { confirmation_secret: confirmationSecret, payments: paymentsOf },
  price: { currency_options: priceInCurrencies },
  coupon: {
    currency_options(thing) {
      const { currency, amount_off: amount, _amounts: others } = thing as Coupon;
      if (amount === null) return undefined;
      const amounts = Object.entries({ [currency ?? 'usd']: amount, ...others });
      return Object.fromEntries(amounts.map(([name, amount_off]) => [name, { amount_off }]));
    },
    // Without a restriction the field is absent.
    applies_to(thing) {
      const { _products: products } = thing as Coupon;
      return products.length > 0 ? { products } : undefined;
    },
  },
  /** Restrictions of a promotion code, which have no `object`. */
  restrictions: {
    currency_options(thing) {
      const restrictions = thing as unknown as PromotionCode['restrictions'];
      const { minimum_amount_currency: currency, minimum_amount: own, _minimums: others } = restrictions;
      if (currency === null || own === null) return undefined;
      const amounts = Object.entries({ [currency]: own, ...others });
      return Object.fromEntries(amounts.map(([name, minimum_amount]) => [name, { minimum_amount }]));
    },
  },
  customer: {
    subscriptions: (thing, store) =>
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
    refunds: (thing, store) =>
      listOf(
        [...store.all('refund')].filter(({ charge }) => charge === thing.id),
        `/v1/charges/${thing.id}/refunds`,
      ),
  },
};

function confirmationSecret(thing: StripeObject, store: Store): unknown {
  const { _intent: id, status } = thing as Invoice;
  const intent = id ? store.find('payment_intent', id) : null;
  return intent && status === 'open' ? { client_secret: intent.client_secret, type: 'payment_intent' } : null;
}

function paymentsOf(thing: StripeObject, store: Store): unknown {
  const payments = [...store.all('invoice_payment')].filter(({ invoice }) => invoice === thing.id);
  return listOf(payments, `/v1/invoice_payments?invoice=${thing.id}`);
}

function priceInCurrencies(thing: StripeObject): unknown {
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
}
