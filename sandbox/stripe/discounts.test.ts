import type Stripe from 'stripe';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { day, errorOf, type Fixture, openFixture } from './testing.ts';

let fixture: Fixture;
let stripe: Stripe;
beforeEach(async () => {
  fixture = await openFixture();
  stripe = fixture.stripe;
});
afterEach(() => fixture.stop());

const invoicesOf = async (customer: string) => (await stripe.invoices.list({ customer })).data;

describe('discounts', () => {
  const first = async (code: string, price = 'price_reader_yearly') => {
    const { id } = await fixture.createPayingCustomer();
    return fixture.subscribe(id, price, {
      discounts: [{ promotion_code: `promo_${code}` }],
      expand: ['latest_invoice', 'discounts'],
    });
  };

  it('apply once or forever, as the coupon says', async () => {
    const once = await first('sunshine_20');
    expect(once.latest_invoice.amount_paid).toBe(9600);
    expect(once.discounts).toEqual([]);
    const forever = await first('ten_off');
    expect(forever.latest_invoice.amount_paid).toBe(11_000);
    expect(forever.discounts).toMatchObject([
      { source: { type: 'coupon', coupon: 'ten-off' }, promotion_code: 'promo_ten_off' },
    ]);
    fixture.state.advance(366 * day);
    expect((await invoicesOf(String(once.customer)))[0]?.amount_paid).toBe(12_000);
    expect((await invoicesOf(String(forever.customer)))[0]?.amount_paid).toBe(11_000);
  });

  it('apply for the coupon’s number of months', async () => {
    await stripe.coupons.create({ id: 'two', percent_off: 50, duration: 'repeating', duration_in_months: 2 });
    const { id } = await fixture.createPayingCustomer();
    await fixture.subscribe(id, 'price_reader_monthly', { discounts: [{ coupon: 'two' }] });
    fixture.state.advance(92 * day);
    expect((await invoicesOf(id)).map(({ amount_paid }) => amount_paid)).toEqual([1200, 1200, 600, 600]);
  });

  it('are found by promotion code, together with their coupon', async () => {
    const { data } = await stripe.promotionCodes.list({
      code: 'sunshine20',
      active: true,
      expand: ['data.promotion.coupon'],
    });
    expect(data[0]?.promotion.coupon).toMatchObject({ id: 'sunshine-20', percent_off: 20, valid: true });
    expect((await stripe.promotionCodes.list({ code: 'EXPIRED', active: true })).data).toEqual([]);
    expect((await stripe.promotionCodes.list({ code: 'NOSUCH' })).data).toEqual([]);
  });

  it('are refused when they are expired, used up, unknown or another customer’s', async () => {
    expect(await errorOf(first('expired'))).toMatchObject({ statusCode: 400, code: 'coupon_expired' });
    expect(await errorOf(first('nonesuch'))).toMatchObject({
      code: 'resource_missing',
      param: 'discounts[0][promotion_code]',
    });
    await first('once_only');
    expect(await errorOf(first('once_only'))).toMatchObject({ statusCode: 400, param: 'discounts[0][promotion_code]' });
    expect((await stripe.promotionCodes.retrieve('promo_once_only')).active).toBe(false);
    const { id } = await stripe.customers.create({});
    const own = await stripe.promotionCodes.create({
      customer: id,
      code: 'MINE',
      promotion: { type: 'coupon', coupon: 'ten-off' },
    });
    const other = await fixture.createPayingCustomer();
    const foreign = fixture.subscribe(other.id, 'price_reader_yearly', { discounts: [{ promotion_code: own.id }] });
    expect((await errorOf(foreign)).statusCode).toBe(400);
  });

  it('respect a promotion code’s minimum amount, first-purchase rule and expiration', async () => {
    const code = (restrictions: Stripe.PromotionCodeCreateParams.Restrictions, name: string) =>
      stripe.promotionCodes.create({ code: name, promotion: { type: 'coupon', coupon: 'ten-off' }, restrictions });
    const { id } = await fixture.createPayingCustomer();
    const buy = (promotion_code: string, price = 'price_reader_monthly') =>
      fixture.subscribe(id, price, { discounts: [{ promotion_code }] });
    const dear = await code({ minimum_amount: 10_000, minimum_amount_currency: 'usd' }, 'DEAR');
    expect((await errorOf(buy(dear.id))).message).toContain('minimum amount');
    expect((await stripe.promotionCodes.retrieve(dear.id)).times_redeemed).toBe(0);
    const first = await code({ first_time_transaction: true }, 'FIRST');
    await stripe.subscriptions.cancel((await buy(dear.id, 'price_reader_yearly')).id);
    expect(await errorOf(buy(first.id))).toMatchObject({
      statusCode: 400,
      code: 'promotion_code_customer_not_first_time',
      message: 'This promotion code cannot be redeemed because the associated customer has prior transactions.',
    });
    const soon = await stripe.promotionCodes.create({
      code: 'SOON',
      promotion: { type: 'coupon', coupon: 'ten-off' },
      expires_at: fixture.state.now() + day,
    });
    fixture.state.advance(day);
    expect(await errorOf(buy(soon.id))).toMatchObject({ code: 'coupon_expired' });
  });

  it('take nothing off a product that the coupon does not cover', async () => {
    expect((await first('reader_only')).latest_invoice.total).toBe(8400);
    expect((await first('reader_only', 'price_member_yearly')).latest_invoice.total).toBe(20_000);
    const coupon = await stripe.coupons.retrieve('reader-only', { expand: ['applies_to'] });
    expect(coupon.applies_to).toEqual({ products: ['prod_reader'] });
    expect(await stripe.coupons.retrieve('reader-only')).not.toHaveProperty('applies_to');
  });
});
