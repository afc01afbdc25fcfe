/** Prices in the reader's currency: amounts, the publisher's texts with them, and the hint that cached pages use. */
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { catalog } from '../plans/testing.ts';
import { currencies, currencyScript, currencyStyle, priceIn } from './currency.ts';
import { currencyHint, type Price, readCurrency } from './schema.ts';

const penny = catalog.find(({ zephrPlanId }) => zephrPlanId === 'reader-penny') as Price;
const sold: Price = {
  ...penny,
  currencies: { gbp: 10_000, eur: 11_050 },
  promotion: penny.promotion && { ...penny.promotion, currencies: { gbp: 60, eur: 60 } },
};

describe('the promotion text of a price in another currency', () => {
  it.each([
    ['gbp', 'Full dues (£100/year) billed after 60 days'],
    ['eur', 'Full dues (€110.50/year) billed after 60 days'],
    ['usd', 'Full dues ($120/year) billed after 60 days'],
    ['jpy', 'Full dues ($120/year) billed after 60 days'],
  ])('shows the amount in %s, or in dollars if the price is not sold in it', (currency, text) => {
    expect(priceIn(sold, currency).pennySubheading).toBe(text);
  });

  it.each([
    ['$120.00 a year, after 60 days', '£100 a year, after 60 days'],
    ['Half price, was $240', null],
    ['Sixty days for pennies', 'Sixty days for pennies'],
    [null, null],
  ])('turns %j into %j', (pennySubheading, text) => {
    expect(priceIn({ ...sold, pennySubheading }, 'gbp').pennySubheading).toBe(text);
  });
});

describe('the currency cookie', () => {
  it.each([
    [{ currency: 'gbp', own: false }, 'gbp'],
    [{ currency: 'eur', own: true }, 'eur.own'],
  ])('stores %o as %s and reads it back', (hint, value) => {
    expect(currencyHint(hint)).toBe(value);
    expect(readCurrency(`visitor=reader; currency=${value}; x=1`)).toEqual(hint);
  });

  it.each(['', 'mycurrency=gbp', 'currency=', 'currency=pounds', 'currency=gbp.x'])('is ignored in %j', (cookies) => {
    expect(readCurrency(cookies)).toBeNull();
  });

  it('makes the head script mark the page only with a sold currency other than dollars', () => {
    const marked = (cookie: string, dataset: Record<string, string> = {}) => {
      runInNewContext(currencyScript, { document: { cookie, documentElement: { dataset } } });
      return dataset;
    };
    expect(currencies).toEqual(['usd', 'gbp', 'eur']);
    expect(marked('a=b; currency=gbp')).toEqual({ currency: 'gbp' });
    expect(marked('currency=eur.own; a=b')).toEqual({ currency: 'eur' });
    for (const one of currencies) expect(currencyStyle).toContain(`html[data-currency=${one}] [data-in~=${one}]`);
    for (const cookie of ['', 'currency=usd', 'currency=jpy', 'xcurrency=gbp']) {
      expect(marked(cookie)).toEqual({});
      expect(marked(cookie, { currency: 'gbp' }), 'in a second run').toEqual({});
    }
    expect(marked('currency=eur', { currency: 'gbp' })).toEqual({ currency: 'eur' });
  });
});
