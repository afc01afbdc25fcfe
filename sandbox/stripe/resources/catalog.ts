/** Products, prices, coupons and promotion codes. */

import type { StripeAccount } from '../core/account.ts';
import { ApiError, invalid, noSuch } from '../core/errors.ts';
import { token } from '../core/ids.ts';
import type { Coupon, Interval, PromotionCode } from '../core/model.ts';
import type { Params } from '../core/params.ts';
import { promotionActive } from '../core/present.ts';
import { del, deleted, get, matching, ofCustomer, page, post, type Route, setTexts } from './route.ts';

const alreadyExists = (what: string, id: string) =>
  new ApiError(400, {
    type: 'invalid_request_error',
    code: 'resource_already_exists',
    message: `${what} already exists.`,
    param: 'id',
    id,
  });

interface NewProduct {
  readonly id?: string | undefined;
  readonly active?: boolean;
  readonly name: string;
  readonly description?: string | null;
  readonly metadata: Record<string, string>;
}

export const addProduct = (account: StripeAccount, product: NewProduct) =>
  account.add('product', {
    object: 'product',
    active: true,
    default_price: null,
    description: null,
    images: [],
    livemode: false,
    marketing_features: [],
    package_dimensions: null,
    shippable: null,
    statement_descriptor: null,
    tax_code: null,
    tax_details: null,
    type: 'service',
    unit_label: null,
    updated: account.now(),
    url: null,
    ...product,
  });

interface NewPrice {
  readonly id?: string;
  readonly active?: boolean;
  readonly currency: string;
  readonly lookup_key: string | null;
  readonly metadata: Record<string, string>;
  readonly nickname: string | null;
  readonly product: string;
  readonly recurring: { readonly interval: Interval; readonly interval_count: number } | null;
  readonly unit_amount: number;
  /** Minor units in other currencies. */
  readonly _amounts: Record<string, number>;
}

export const addPrice = (account: StripeAccount, { recurring, ...price }: NewPrice) =>
  account.add('price', {
    object: 'price',
    active: true,
    billing_scheme: 'per_unit',
    custom_unit_amount: null,
    livemode: false,
    recurring: recurring && { ...recurring, meter: null, trial_period_days: null, usage_type: 'licensed' },
    tax_behavior: 'unspecified',
    tiers_mode: null,
    transform_quantity: null,
    type: recurring ? 'recurring' : 'one_time',
    unit_amount_decimal: String(price.unit_amount),
    ...price,
  });

type NewCoupon = Pick<Coupon, 'id'> & Partial<Coupon>;

export const addCoupon = (account: StripeAccount, coupon: NewCoupon) =>
  account.add('coupon', {
    object: 'coupon',
    amount_off: null,
    currency: null,
    duration: 'once',
    duration_in_months: null,
    livemode: false,
    max_redemptions: null,
    metadata: {},
    name: null,
    percent_off: null,
    redeem_by: null,
    times_redeemed: 0,
    valid: true,
    _products: [],
    ...coupon,
  });

type NewPromotionCode = Pick<PromotionCode, 'code' | 'promotion'> & Partial<PromotionCode>;

export const addPromotionCode = (account: StripeAccount, code: NewPromotionCode) =>
  account.add('promotion_code', {
    object: 'promotion_code',
    active: true,
    customer: null,
    customer_account: null,
    expires_at: null,
    livemode: false,
    max_redemptions: null,
    metadata: {},
    restrictions: { first_time_transaction: false, minimum_amount: null, minimum_amount_currency: null },
    times_redeemed: 0,
    ...code,
  });

export const products: Route[] = [
  post('/v1/products', ({ account, params }) => {
    params.allow(
      'expand',
      'tax_code',
      'shippable',
      'package_dimensions',
      'unit_label',
      'type',
      'url',
      'statement_descriptor',
    );
    params.allow('images', 'marketing_features', 'default_price_data');
    const id = params.text('id') ?? `prod_${token(14)}`;
    if (account.store.find('product', id)) throw alreadyExists('Product', id);
    return addProduct(account, {
      id,
      active: params.bool('active') ?? true,
      name: params.need('name'),
      description: params.text('description') ?? null,
      metadata: params.metadata(),
    });
  }),
  get('/v1/products', ({ account, params }) => {
    const ids = params.texts('ids');
    const all = matching(account.store.all('product'), 'active', params.bool('active'));
    return page(params, '/v1/products', ids ? all.filter(({ id }) => ids.includes(id)) : all);
  }),
  get('/v1/products/:id', ({ account, id }) => account.need('product', id)),
  post('/v1/products/:id', ({ account, params, id }) => {
    const product = account.need('product', id);
    account.store.touch(product);
    params.allow('expand', 'tax_code', 'images', 'shippable', 'url');
    setTexts(product, params, 'name', 'description', 'default_price', 'statement_descriptor');
    product.active = params.bool('active') ?? product.active;
    product.metadata = params.metadata(product.metadata);
    product.updated = account.now();
    return product;
  }),
  del('/v1/products/:id', ({ account, id }) => {
    const product = account.need('product', id);
    if ([...account.store.all('price')].some((price) => price.product === id)) {
      throw invalid('This product cannot be deleted because it has one or more user-created prices.');
    }
    account.store.remove('product', id);
    return deleted(product);
  }),
];

const intervals: readonly Interval[] = ['day', 'week', 'month', 'year'];

/** The amounts of `currency_options`, by the name of their field. */
function amountsOf(params: Params | undefined | null, field: string): Record<string, number> {
  const options = params?.object('currency_options');
  return Object.fromEntries(
    (options?.keys() ?? []).map((currency) => [currency, options?.object(currency)?.int(field) ?? 0]),
  );
}

export const prices: Route[] = [
  post('/v1/prices', ({ account, params }) => {
    params.allow('expand', 'billing_scheme', 'tax_behavior', 'transfer_lookup_key', 'custom_unit_amount');
    const data = params.object('product_data');
    const product = data
      ? addProduct(account, { name: data.need('name'), metadata: data.metadata() })
      : account.need('product', params.need('product'), 'product');
    const recurring = params.object('recurring');
    recurring?.allow('usage_type', 'meter', 'trial_period_days');
    const amount = params.int('unit_amount') ?? Number(params.text('unit_amount_decimal') ?? Number.NaN);
    if (!Number.isInteger(amount) || amount < 0) throw invalid('Invalid non-negative integer', 'unit_amount');
    const lookupKey = params.text('lookup_key') ?? null;
    if (lookupKey && [...account.store.all('price')].some(({ lookup_key }) => lookup_key === lookupKey)) {
      throw invalid(`A price (\`${lookupKey}\`) already uses that lookup key.`, 'lookup_key');
    }
    const interval = recurring?.one('interval', intervals);
    return addPrice(account, {
      active: params.bool('active') ?? true,
      currency: params.need('currency'),
      lookup_key: lookupKey,
      metadata: params.metadata(),
      nickname: params.text('nickname') ?? null,
      product: product.id,
      recurring: interval ? { interval, interval_count: recurring?.int('interval_count') ?? 1 } : null,
      unit_amount: amount,
      _amounts: amountsOf(params, 'unit_amount'),
    });
  }),
  get('/v1/prices', ({ account, params }) => {
    const recurring = params.object('recurring');
    recurring?.allow('usage_type', 'meter');
    const interval = recurring?.text('interval');
    const [keys, type] = [params.texts('lookup_keys'), params.text('type')];
    let found = matching(account.store.all('price'), 'active', params.bool('active'));
    found = matching(matching(found, 'product', params.text('product')), 'currency', params.text('currency'));
    found = matching(found, 'type', type).filter((price) => !interval || price.recurring?.interval === interval);
    return page(params, '/v1/prices', keys ? found.filter((price) => keys.includes(price.lookup_key ?? '')) : found);
  }),
  get('/v1/prices/:id', ({ account, id }) => account.need('price', id)),
  post('/v1/prices/:id', ({ account, params, id }) => {
    const price = account.need('price', id);
    account.store.touch(price);
    params.allow('expand', 'tax_behavior', 'transfer_lookup_key');
    setTexts(price, params, 'nickname', 'lookup_key');
    price.active = params.bool('active') ?? price.active;
    price.metadata = params.metadata(price.metadata);
    return price;
  }),
];

export const coupons: Route[] = [
  post('/v1/coupons', ({ account, params }) => {
    params.allow('expand');
    const id = params.text('id') ?? token(8);
    if (account.store.find('coupon', id)) throw alreadyExists('Coupon', id);
    const [amount, percent] = [params.int('amount_off') ?? null, params.number('percent_off') ?? null];
    if ((amount === null) === (percent === null)) {
      throw invalid('You must pass exactly one of `amount_off` and `percent_off`.', 'percent_off');
    }
    const currency = params.text('currency') ?? null;
    if (amount !== null && !currency) throw invalid('You must pass `currency` when passing `amount_off`.', 'currency');
    const duration = params.one('duration', ['once', 'repeating', 'forever']) ?? 'once';
    const months = params.int('duration_in_months') ?? null;
    if ((duration === 'repeating') !== (months !== null)) {
      throw invalid(
        'You must pass `duration_in_months` if, and only if, `duration` is `repeating`.',
        'duration_in_months',
      );
    }
    return addCoupon(account, {
      id,
      amount_off: amount,
      currency: amount === null ? null : currency,
      duration,
      duration_in_months: months,
      max_redemptions: params.int('max_redemptions') ?? null,
      metadata: params.metadata(),
      name: params.text('name') ?? null,
      percent_off: percent,
      redeem_by: params.int('redeem_by') ?? null,
      _products: params.object('applies_to')?.texts('products') ?? [],
      _amounts: amountsOf(params, 'amount_off'),
    });
  }),
  get('/v1/coupons', ({ account, params }) => page(params, '/v1/coupons', account.store.all('coupon'))),
  get('/v1/coupons/:id', ({ account, id }) => account.need('coupon', id)),
  post('/v1/coupons/:id', ({ account, params, id }) => {
    const coupon = account.need('coupon', id);
    account.store.touch(coupon);
    params.allow('expand', 'currency_options');
    setTexts(coupon, params, 'name');
    coupon.metadata = params.metadata(coupon.metadata);
    return coupon;
  }),
  del('/v1/coupons/:id', ({ account, id }) => {
    const coupon = account.need('coupon', id);
    account.store.remove('coupon', id);
    return deleted(coupon);
  }),
];

export const promotionCodes: Route[] = [
  post('/v1/promotion_codes', ({ account, params }) => {
    params.allow('expand', 'customer_account');
    const promotion = params.object('promotion');
    promotion?.one('type', ['coupon']);
    const couponId = promotion?.text('coupon');
    if (!couponId)
      throw invalid('Missing required param: promotion[coupon].', 'promotion[coupon]', 'parameter_missing');
    const coupon = account.store.find('coupon', couponId);
    if (!coupon) throw noSuch('coupon', couponId, 'promotion[coupon]', 400);
    const code = params.text('code') ?? token(8).toUpperCase();
    const customer = params.text('customer') ?? null;
    // A code is unique for each customer: different customers' codes may have the same text.
    const taken = [...account.store.all('promotion_code')].some(
      (one) =>
        one.code.toLowerCase() === code.toLowerCase() &&
        (one.customer === null || customer === null || one.customer === customer) &&
        promotionActive(one, account.store.find('coupon', one.promotion.coupon), account.now()),
    );
    if (taken) throw invalid(`An active promotion code with \`code: ${code}\` already exists.`, 'code');
    const restrictions = params.object('restrictions');
    return addPromotionCode(account, {
      active: params.bool('active') ?? true,
      code,
      customer: customer ? account.need('customer', customer, 'customer').id : null,
      expires_at: params.int('expires_at') ?? null,
      max_redemptions: params.int('max_redemptions') ?? null,
      metadata: params.metadata(),
      promotion: { coupon: couponId, type: 'coupon' as const },
      restrictions: {
        first_time_transaction: restrictions?.bool('first_time_transaction') ?? false,
        minimum_amount: restrictions?.int('minimum_amount') ?? null,
        minimum_amount_currency: restrictions?.text('minimum_amount_currency') ?? null,
        _minimums: amountsOf(restrictions, 'minimum_amount'),
      },
    });
  }),
  get('/v1/promotion_codes', ({ account, params }) => {
    const [code, active, coupon] = [params.text('code'), params.bool('active'), params.text('coupon')];
    let found = ofCustomer({ account, params }, account.store.all('promotion_code'));
    if (code) found = found.filter((one) => one.code.toLowerCase() === code.toLowerCase());
    if (coupon) found = found.filter((one) => one.promotion.coupon === coupon);
    if (active !== undefined) {
      found = found.filter(
        (one) => promotionActive(one, account.store.find('coupon', one.promotion.coupon), account.now()) === active,
      );
    }
    return page(params, '/v1/promotion_codes', found);
  }),
  get('/v1/promotion_codes/:id', ({ account, id }) => account.need('promotion_code', id)),
  post('/v1/promotion_codes/:id', ({ account, params, id }) => {
    const code = account.need('promotion_code', id);
    account.store.touch(code);
    params.allow('expand', 'restrictions');
    code.active = params.bool('active') ?? code.active;
    code.metadata = params.metadata(code.metadata);
    return code;
  }),
];
