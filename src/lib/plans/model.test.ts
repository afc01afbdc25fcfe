import { describe, expect, it, test } from 'vitest';
import { productOf, visitorKinds } from '../accounts/products.ts';
import { formatSum } from '../money.ts';
import {
  comparison,
  dailyRate,
  dueOnJoining,
  intervalName,
  kindsAbove,
  linksOf,
  offerIn,
  offerOf,
  planBy,
  planById,
  planName,
  plansOf,
  priceInWords,
  priceLabel,
  printSurcharge,
  promotionOf,
  textsIn,
  tier,
  tiers,
  yearlySaving,
  yearlySavingText,
} from './model.ts';
import { catalog, price } from './testing.ts';

const offer = offerOf(catalog);

test('the tiers have the names and order of the spec', () => {
  expect(tiers.map(({ id, name }) => [id, name])).toEqual([
    ['sun-reader', 'Sun Reader'],
    ['sun-member', 'Sun Member'],
    ['sun-founder', 'Sun Founder'],
  ]);
  expect(() => tier('sun-king' as never)).toThrow(RangeError);
});

describe('the offer of plans', () => {
  it('has the catalog’s plans in a fixed order', () => {
    expect(offer.open).toBe(true);
    const labels = (of: 'sun-reader' | 'sun-member') => plansOf(offer, of).map(priceLabel);
    expect(labels('sun-reader')).toEqual(['$12/month', '$120/year']);
    expect(labels('sun-member')).toEqual(['$20/month', '$200/year', '$280/year']);
    expect(plansOf(offer, 'sun-founder')).toEqual([]);
  });

  it('omits products that are not tiers', () => {
    const { plans } = offerOf([price('mug', 'coffee-mug'), price('reader-yearly', 'sun-reader')]);
    expect(plans.map(({ id }) => id)).toEqual(['reader-yearly']);
  });

  it.each([
    ['nothing is sold', []],
    ['only products other than tiers are sold', [price('mug', 'coffee-mug')]],
  ])('is closed and shows the standard plans when %s', (_when, prices) => {
    const closed = offerOf(prices);
    expect(closed.open).toBe(false);
    expect(plansOf(closed, 'sun-reader').map(priceLabel)).toEqual(['$12/month', '$120/year']);
    expect(planBy(closed, 'sun-member', 'year', true)?.amount).toBe(28_000);
    expect(promotionOf(closed)).toBeNull();
  });

  it('finds a plan by its id, and none called “constructor”', () => {
    expect(planById(offer, 'reader-penny')?.promotion?.days).toBe(60);
    expect(planById(offer, 'constructor')).toBeNull();
  });
});

describe('the promotional price', () => {
  const penny = promotionOf(offer);

  it('has the heading, daily rate, subheading and first payment of the spec', () => {
    expect(penny?.promotion.heading).toBe('Read the Sun for a PENNY A DAY');
    expect(penny && dailyRate(penny, penny.promotion)).toBe('$0.01/Day');
    expect(penny?.promotion.subheading).toBe('Full dues ($120/year) billed after 60 days');
    expect(penny && formatSum(dueOnJoining(penny), penny.currency)).toBe('$0.60');
  });

  it('has a default heading, and says when full dues are billed, if the catalog has no texts', () => {
    const promotion = { offer: 'to_1', next: 'price_1', days: 60, amount: 60 };
    const silent = promotionOf(offerOf([price('p', 'sun-reader', { promotion })]));
    expect(silent?.promotion.subheading).toBe('Full dues ($120/year) billed after 60 days');
    expect(silent?.promotion.heading).toBe('Sun Reader');
  });

  it('is not listed among the regular plans', () => {
    expect(plansOf(offer, 'sun-reader').some(({ promotion }) => promotion !== null)).toBe(false);
  });
});

test('the yearly saving is twelve monthly payments minus the yearly price, or 0 if there is none', () => {
  expect(yearlySaving(offer, 'sun-reader')).toBe(2400);
  expect(yearlySaving(offer, 'sun-member')).toBe(4000);
  expect(yearlySaving(offer, 'sun-founder')).toBe(0);
  const dear = [
    price('y', 'sun-reader', { unit_amount: 20_000 }),
    ...catalog.filter((each) => each.unit_amount < 2000),
  ];
  expect(yearlySaving(offerOf(dear), 'sun-reader')).toBe(0);
  const mixed = [price('y', 'sun-reader', { currency: 'eur' }), ...catalog.filter((each) => each.unit_amount < 2000)];
  expect(yearlySaving(offerOf(mixed), 'sun-reader')).toBe(0);
});

test('the surcharge for print is the difference between plans with and without it', () => {
  expect(printSurcharge(offer, 'sun-member')).toBe(8000);
  expect(printSurcharge(offer, 'sun-reader')).toBeNull();
});

test.each([
  [{ interval: 'month', count: 1 }, 'month'],
  [{ interval: 'month', count: 3 }, '3 months'],
  [{ interval: 'year', count: 2 }, '2 years'],
] as const)('an interval of %o is called "%s"', (interval, name) => {
  expect(intervalName(interval)).toBe(name);
});

test('money shows cents only if there are any', () => {
  expect([formatSum(12_000, 'usd'), formatSum(1250, 'USD'), formatSum(0, 'usd')]).toEqual(['$120', '$12.50', '$0']);
});

test('a plan is named after its tier, and says if it includes print', () => {
  expect(planName({ tier: 'sun-member', print: true })).toBe('Sun Member with the print edition');
  expect(planName({ tier: 'sun-reader', print: false })).toBe('Sun Reader');
});

test('every tier adds a benefit to the comparison', () => {
  for (const { id } of tiers) expect(comparison.some(({ from }) => from === id)).toBe(true);
});

describe('prices in other currencies', () => {
  const abroad = catalog.map((price) => ({ ...price, currencies: { gbp: price.unit_amount - 200 } }));
  const offer = offerOf(abroad);

  it('come from the catalog, with the standard currency as fallback', () => {
    expect(planBy(offer, 'sun-reader', 'month')).toMatchObject({ amount: 1200, currency: 'usd' });
    expect(planBy(offerIn(offer, 'gbp'), 'sun-reader', 'month')).toMatchObject({ amount: 1000, currency: 'gbp' });
    expect(planBy(offerIn(offer, 'eur'), 'sun-reader', 'month')).toMatchObject({ amount: 1200, currency: 'usd' });
    expect(offerIn(offer, 'jpy')).toBe(offer);
    expect(offerOf([]).abroad).toBeUndefined();
  });

  it('get one text for each wording, with the currencies that share it', () => {
    expect(textsIn(offer, yearlySavingText('sun-reader'))).toEqual([
      { text: '$24', currencies: ['usd', 'eur'] },
      { text: '£2', currencies: ['gbp'] },
    ]);
    expect(textsIn(offer, () => 'x')).toEqual([{ text: 'x', currencies: ['usd', 'gbp', 'eur'] }]);
  });
});

const reader = { tier: 'sun-reader', print: false } as const;
const member = { tier: 'sun-member', print: false } as const;
const paper = { tier: 'sun-member', print: true } as const;

/** What a kind of reader sees next to a plan; `Change` with a star waits. */
const seen = (plan: Parameters<typeof linksOf>[0], kind: string) =>
  linksOf(plan)
    .filter((door) => door.seenBy.split(' ').includes(kind))
    .map(({ words, waits }) => (waits ? `${words}*` : words));

describe('the link next to a plan', () => {
  it.each([
    ['anonymous', ['Join Today'], ['Join Today'], ['Join Today']],
    ['registered', ['Join Today'], ['Join Today'], ['Join Today']],
    ['subscriber', ['Upgrade'], ['Upgrade'], ['Upgrade']],
    ['reader', ['Change*'], ['Upgrade'], ['Upgrade']],
    ['member', ['Change'], ['Change*'], ['Upgrade']],
    ['founder', [], [], []],
  ])(
    'says “Join Today”, “Upgrade”, “Change” or nothing, as fits the kind of reader “%s”',
    (kind, atReader, atMember, atPaper) => {
      expect([seen(reader, kind), seen(member, kind), seen(paper, kind)]).toEqual([atReader, atMember, atPaper]);
    },
  );

  it('is at most one for each kind of reader', () => {
    for (const plan of [reader, member, paper, { tier: 'sun-founder', print: false } as const])
      for (const kind of ['anonymous', ...visitorKinds]) expect(seen(plan, kind).length).toBeLessThan(2);
  });
});

test('each tier maps to a kind of reader, and to the kinds above it', () => {
  expect(productOf('sun-member')).toBe('member');
  expect(kindsAbove('sun-reader')).toEqual(['member', 'founder']);
  expect(kindsAbove('sun-founder')).toEqual([]);
});

describe('prices and daily rates', () => {
  it('are worded as in spec section 9', () => {
    const rate = { amount: 12_000, currency: 'usd', interval: 'year', count: 1 } as const;
    expect(priceInWords(rate)).toBe('$120 a year');
    expect(priceInWords({ ...rate, amount: 1200, interval: 'month', count: 3 })).toBe('$12 every 3 months');
    expect(priceInWords({ ...rate, amount: 60 })).toBe('$0.60 a year');
    expect(dailyRate(rate, { amount: 60, days: 60 })).toBe('$0.01/Day');
  });
});
