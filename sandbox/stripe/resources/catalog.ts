/** Products, prices, coupons and promotion codes. */
import { ApiError, invalid, noSuch } from '../core/errors.ts';
import { type Ledger, token } from '../core/ledger.ts';
import type { Interval } from '../core/model.ts';
import type { Params } from '../core/params.ts';
import { promotionActive } from '../core/present.ts';
import { del, deleted, get, matching, page, post, type Route, setTexts } from './route.ts';

const exists = (what: string, id: string) =>
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

export const addProduct = (ledger: Ledger, product: NewProduct) =>
  ledger.add('product', {
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
    updated: ledger.now(),
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

export const addPrice = (ledger: Ledger, { recurring, ...price }: NewPrice) =>
  ledger.add('price', {
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

export const products: Route[] = [
  post('/v1/products', ({ ledger, params }) => {
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
    if (ledger.store.find('product', id)) throw exists('Product', id);
    return addProduct(ledger, {
      id,
      active: params.bool('active') ?? true,
      name: params.need('name'),
      description: params.text('description') ?? null,
      metadata: params.metadata(),
    });
  }),
  get('/v1/products', ({ ledger, params }) => {
    const ids = params.texts('ids');
    const all = matching(ledger.store.all('product'), 'active', params.bool('active'));
    return page(params, '/v1/products', ids ? all.filter(({ id }) => ids.includes(id)) : all);
  }),
  get('/v1/products/:id', ({ ledger, id }) => ledger.need('product', id)),
  post('/v1/products/:id', ({ ledger, params, id }) => {
    const product = ledger.need('product', id);
    ledger.store.touch(product);
    params.allow('expand', 'tax_code', 'images', 'shippable', 'url');
    setTexts(product, params, 'name', 'description', 'default_price', 'statement_descriptor');
    product.active = params.bool('active') ?? product.active;
    product.metadata = params.metadata(product.metadata);
    product.updated = ledger.now();
    return product;
  }),
  del('/v1/products/:id', ({ ledger, id }) => {
    const product = ledger.need('product', id);
    if ([...ledger.store.all('price')].some((price) => price.product === id)) {
      throw invalid('This product cannot be deleted because it has one or more user-created prices.');
    }
    ledger.store.remove('product', id);
    return deleted(product);
  }),
];

const intervals: readonly Interval[] = ['day', 'week', 'month', 'year'];

/** The amounts of `currency_options`. */
function amountsOf(params: Params): Record<string, number> {
  const options = params.object('currency_options');
  return Object.fromEntries(
    (options?.keys() ?? []).map((currency) => [currency, options?.object(currency)?.int('unit_amount') ?? 0]),
  );
}

export const prices: Route[] = [
  post('/v1/prices', ({ ledger, params }) => {
    params.allow('expand', 'billing_scheme', 'tax_behavior', 'transfer_lookup_key', 'custom_unit_amount');
    const data = params.object('product_data');
    const product = data
      ? addProduct(ledger, { name: data.need('name'), metadata: data.metadata() })
      : ledger.need('product', params.need('product'), 'product');
    const recurring = params.object('recurring');
    recurring?.allow('usage_type', 'meter', 'trial_period_days');
    const amount = params.int('unit_amount') ?? Number(params.text('unit_amount_decimal') ?? Number.NaN);
    if (!Number.isInteger(amount) || amount < 0) throw invalid('Invalid non-negative integer', 'unit_amount');
    const lookupKey = params.text('lookup_key') ?? null;
    if (lookupKey && [...ledger.store.all('price')].some(({ lookup_key }) => lookup_key === lookupKey)) {
      throw invalid(`A price (\`${lookupKey}\`) already uses that lookup key.`, 'lookup_key');
    }
    const interval = recurring?.one('interval', intervals);
    return addPrice(ledger, {
      active: params.bool('active') ?? true,
      currency: params.need('currency'),
      lookup_key: lookupKey,
      metadata: params.metadata(),
      nickname: params.text('nickname') ?? null,
      product: product.id,
      recurring: interval ? { interval, interval_count: recurring?.int('interval_count') ?? 1 } : null,
      unit_amount: amount,
      _amounts: amountsOf(params),
    });
  }),
  get('/v1/prices', ({ ledger, params }) => {
    const recurring = params.object('recurring');
    recurring?.allow('usage_type', 'meter');
    const interval = recurring?.text('interval');
    const [keys, type] = [params.texts('lookup_keys'), params.text('type')];
    let found = matching(ledger.store.all('price'), 'active', params.bool('active'));
    found = matching(matching(found, 'product', params.text('product')), 'currency', params.text('currency'));
    found = matching(found, 'type', type).filter((price) => !interval || price.recurring?.interval === interval);
    return page(params, '/v1/prices', keys ? found.filter((price) => keys.includes(price.lookup_key ?? '')) : found);
  }),
  get('/v1/prices/:id', ({ ledger, id }) => ledger.need('price', id)),
  post('/v1/prices/:id', ({ ledger, params, id }) => {
    const price = ledger.need('price', id);
    ledger.store.touch(price);
    params.allow('expand', 'tax_behavior', 'transfer_lookup_key');
    setTexts(price, params, 'nickname', 'lookup_key');
    price.active = params.bool('active') ?? price.active;
    price.metadata = params.metadata(price.metadata);
    return price;
  }),
];

export const coupons: Route[] = [
  post('/v1/coupons', ({ ledger, params }) => {
    params.allow('expand', 'currency_options');
    const id = params.text('id') ?? token(8);
    if (ledger.store.find('coupon', id)) throw exists('Coupon', id);
    const [amount, percent] = [params.int('amount_off') ?? null, params.number('percent_off') ?? null];
    if ((amount === null) === (percent === null)) {
      throw invalid('You must pass exactly one of `amount_off` and `percent_off`.', 'percent_off');
    }
    if (percent !== null && (percent <= 0 || percent > 100))
      throw invalid('Invalid percent_off: must be between 0 and 100', 'percent_off');
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
    return ledger.add('coupon', {
      id,
      object: 'coupon',
      amount_off: amount,
      currency: amount === null ? null : currency,
      duration,
      duration_in_months: months,
      livemode: false,
      max_redemptions: params.int('max_redemptions') ?? null,
      metadata: params.metadata(),
      name: params.text('name') ?? null,
      percent_off: percent,
      redeem_by: params.int('redeem_by') ?? null,
      times_redeemed: 0,
      valid: true,
      _products: params.object('applies_to')?.texts('products') ?? [],
    });
  }),
  get('/v1/coupons', ({ ledger, params }) => page(params, '/v1/coupons', ledger.store.all('coupon'))),
  get('/v1/coupons/:id', ({ ledger, id }) => ledger.need('coupon', id)),
  post('/v1/coupons/:id', ({ ledger, params, id }) => {
    const coupon = ledger.need('coupon', id);
    ledger.store.touch(coupon);
    params.allow('expand', 'currency_options');
    setTexts(coupon, params, 'name');
    coupon.metadata = params.metadata(coupon.metadata);
    return coupon;
  }),
  del('/v1/coupons/:id', ({ ledger, id }) => {
    const coupon = ledger.need('coupon', id);
    ledger.store.remove('coupon', id);
    return deleted(coupon);
  }),
];

export const promotionCodes: Route[] = [
  post('/v1/promotion_codes', ({ ledger, params }) => {
    params.allow('expand', 'customer_account');
    const promotion = params.object('promotion');
    promotion?.one('type', ['coupon']);
    const couponId = promotion?.text('coupon');
    if (!couponId)
      throw invalid('Missing required param: promotion[coupon].', 'promotion[coupon]', 'parameter_missing');
    const coupon = ledger.store.find('coupon', couponId);
    if (!coupon) throw noSuch('coupon', couponId, 'promotion[coupon]', 400);
    const code = params.text('code') ?? token(8).toUpperCase();
    const taken = [...ledger.store.all('promotion_code')].some(
      (one) =>
        one.code.toLowerCase() === code.toLowerCase() &&
        promotionActive(one, ledger.store.find('coupon', one.promotion.coupon), ledger.now()),
    );
    if (taken) throw invalid(`An active promotion code with \`code: ${code}\` already exists.`, 'code');
    const restrictions = params.object('restrictions');
    restrictions?.allow('currency_options');
    const customer = params.text('customer');
    return ledger.add('promotion_code', {
      object: 'promotion_code',
      active: params.bool('active') ?? true,
      code,
      customer_account: null,
      customer: customer ? ledger.need('customer', customer, 'customer').id : null,
      expires_at: params.int('expires_at') ?? null,
      livemode: false,
      max_redemptions: params.int('max_redemptions') ?? null,
      metadata: params.metadata(),
      promotion: { coupon: couponId, type: 'coupon' as const },
      restrictions: {
        first_time_transaction: restrictions?.bool('first_time_transaction') ?? false,
        minimum_amount: restrictions?.int('minimum_amount') ?? null,
        minimum_amount_currency: restrictions?.text('minimum_amount_currency') ?? null,
      },
      times_redeemed: 0,
    });
  }),
  get('/v1/promotion_codes', ({ ledger, params }) => {
    const [code, active, coupon] = [params.text('code'), params.bool('active'), params.text('coupon')];
    let found = matching(ledger.store.all('promotion_code'), 'customer', params.text('customer'));
    if (code) found = found.filter((one) => one.code.toLowerCase() === code.toLowerCase());
    if (coupon) found = found.filter((one) => one.promotion.coupon === coupon);
    if (active !== undefined) {
      found = found.filter(
        (one) => promotionActive(one, ledger.store.find('coupon', one.promotion.coupon), ledger.now()) === active,
      );
    }
    return page(params, '/v1/promotion_codes', found);
  }),
  get('/v1/promotion_codes/:id', ({ ledger, id }) => ledger.need('promotion_code', id)),
  post('/v1/promotion_codes/:id', ({ ledger, params, id }) => {
    const code = ledger.need('promotion_code', id);
    ledger.store.touch(code);
    params.allow('expand', 'restrictions');
    code.active = params.bool('active') ?? code.active;
    code.metadata = params.metadata(code.metadata);
    return code;
  }),
];
