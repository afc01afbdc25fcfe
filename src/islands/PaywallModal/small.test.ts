import { describe, expect, it } from 'vitest';
import { choices, chosenPrice } from './choice.ts';
import { deviceType, metadataOf } from './metadata.ts';
import { dayOf, perDay, rate, sum } from './money.ts';
import { shippingOf } from './ShippingBody.tsx';
import { granted, monthly, penny, plansAnswer, printed, refusal, renewal, yearly } from './testing.ts';

describe('the price', () => {
  const { prices } = plansAnswer;
  it('is the one that is named, or none', () => {
    expect(chosenPrice(prices, { planId: 'member-print-yearly' }, undefined)).toBe(printed);
    expect(chosenPrice(prices, { planId: 'gone' }, undefined)).toBeNull();
    expect(chosenPrice(prices, { priceId: 'price_reader-penny' }, undefined)).toBe(penny);
    expect(chosenPrice(prices, { priceId: 'price_gone' }, undefined)).toBeNull();
    expect(chosenPrice(prices, { frequency: 'month' }, undefined)).toBe(monthly);
  });

  it('is the reader’s yearly one unless somebody chose', () => {
    expect(chosenPrice(prices, {}, undefined)).toBe(yearly);
    expect(chosenPrice(prices, {}, 'reader-monthly')).toBe(monthly);
    // A promotion is never slipped in.
    expect(chosenPrice(prices, {}, 'reader-penny')).toBe(yearly);
    expect(choices(prices, {})).toEqual([yearly, monthly]);
    expect(choices(prices, { planId: 'reader-yearly' })).toEqual([]);
    expect(chosenPrice([], {}, undefined)).toBeNull();
  });
});

describe('sums and dates', () => {
  it('print as spec section 9 says', () => {
    expect(sum(12_000, 'usd')).toBe('$120');
    expect(sum(60, 'usd')).toBe('$0.60');
    expect(perDay(1, 'usd')).toBe('$0.01/Day');
    expect(rate(yearly)).toBe('$120 a year');
    expect(rate({ ...monthly, recurring: { interval: 'month', interval_count: 3 } })).toBe('$12 every 3 months');
    expect(dayOf(renewal)).toBe('November 21, 2027');
    // Still the day before in New York.
    expect(dayOf(Date.UTC(2027, 10, 21, 3))).toBe('November 20, 2027');
  });
});

describe('the metadata of a subscription', () => {
  it('has the fields of spec section 3 and nothing that is empty', () => {
    const page = new URL(
      'https://paper.example/article/a?utm_campaign=autumn&utm_source=mail&recognized_email=b%40example.com#comments',
    );
    const geo = granted({ ip: '203.0.113.9', city: 'Albany', country: 'US' });
    expect(metadataOf(page, 'a@example.com', 390, geo as never)).toEqual({
      created_with: 'web',
      customer_email: 'a@example.com',
      query_url: 'https://paper.example/article/a?utm_campaign=autumn&utm_source=mail',
      query_utm_campaign: 'autumn',
      query_utm_source: 'mail',
      device_type: 'mobile',
      geo_city: 'Albany',
      geo_country: 'US',
    });
    const none = metadataOf(new URL('https://paper.example/pricing'), null, 1280, refusal(0));
    expect(none).toEqual({
      created_with: 'web',
      query_url: 'https://paper.example/pricing',
      device_type: 'desktop',
    });
    expect([767, 768, 1023, 1024].map(deviceType)).toEqual(['mobile', 'tablet', 'tablet', 'desktop']);
  });
});

describe('the address', () => {
  it('leaves out an empty second line and an empty phone', () => {
    const address = { line1: '1 Pearl St', city: 'New York', state: 'NY', postal_code: '10004', country: 'US' };
    expect(shippingOf({ name: 'Ada', address: { ...address, line2: null }, phone: '' })).toEqual({
      name: 'Ada',
      address,
    });
    expect(shippingOf({ name: 'Ada', address: { ...address, line2: '4B' }, phone: '+12125550183' })).toEqual({
      name: 'Ada',
      phone: '+12125550183',
      address: { ...address, line2: '4B' },
    });
  });
});
