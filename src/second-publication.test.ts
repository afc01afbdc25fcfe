/** What depends on the publication, with a second newspaper in place of the first. */
import { expect, it, vi } from 'vitest';

vi.mock('./publication.ts', () => import('../tests/fixtures/second-publication.ts'));

const { publication } = await import('./publication.ts');
const { dateAndTime, isoInZone, longDate, mastheadDay } = await import('./lib/dates.ts');
const { dayInZone, hourInZone } = await import('./lib/day-in-zone.ts');
const { formatMoney, formatSum } = await import('./lib/money.ts');
const { currencies, currencyOf, priceIn } = await import('./lib/billing/currency.ts');
const { price } = await import('./lib/plans/testing.ts');
const { comparison, lowestTier, offerOf, tiers } = await import('./lib/plans/model.ts');
const { mayUpgrade, membershipLabel } = await import('./lib/plans/membership.ts');
const { isOfferedPrint, seenBy } = await import('./lib/accounts/products.ts');
const { billingMail } = await import('./lib/mail/messages/billing.ts');
const { extraItems } = await import('./lib/layout-rules.ts');
const { fixedPages } = await import('./lib/http/fixed-pages.ts');
const { dashboardTabs } = await import('./lib/dashboard/model.ts');
const { houseAdFor, offeredAd } = await import('./components/ads/slots.ts');
const { supportHours } = await import('./lib/support/hours.ts');
const { supportMessages } = await import('./lib/support/schema.ts');
const { asOfText } = await import('./lib/ticker/model.ts');
const { builtinPage } = await import('./lib/static/builtin.ts');

it('a second publication’s dates use its time zone and language, including southern daylight saving time', () => {
  expect(mastheadDay('2026-11-20T12:00:00Z')).toBe('Saturday, 21 November 2026');
  expect(longDate('2026-11-20T10:59:59Z')).toBe('20 November 2026');
  expect(dateAndTime('2026-11-20T20:05:00Z')).toBe('21 November 2026, 9:05 a.m. NZT');
  expect(asOfText('2026-11-20T02:41:00Z')).toBe('As of 3:41 p.m. NZT');
  // Summer ends on April 5 and begins on September 27, 2026.
  expect(['2026-04-04T13:30:00Z', '2026-04-04T14:30:00Z'].map(isoInZone)).toEqual([
    '2026-04-05T02:30:00+13:00',
    '2026-04-05T02:30:00+12:00',
  ]);
  expect(['2026-09-26T13:59:00Z', '2026-09-26T14:00:00Z'].map((at) => hourInZone(Date.parse(at)))).toEqual([1, 3]);
  expect(['2026-07-01T11:59:59Z', '2026-07-01T12:00:00Z'].map(dayInZone)).toEqual(['2026-07-01', '2026-07-02']);
  expect(hourInZone(Date.parse('2026-07-01T12:00:00Z'))).toBe(0);
});

it('a second publication’s amounts use its notation, without cents in a currency that has none', () => {
  expect(currencies).toEqual(['nzd', 'usd', 'jpy']);
  expect(['NZ', 'US', 'JP', 'GB', null].map(currencyOf)).toEqual(['nzd', 'usd', 'jpy', 'nzd', 'nzd']);
  expect([formatSum(1990, 'nzd'), formatSum(1200, 'usd'), formatSum(1800, 'jpy')]).toEqual([
    '$19.90',
    'US$12',
    'JP¥1,800',
  ]);
  expect(formatMoney(1800, { currency: 'jpy', cents: true })).toBe('JP¥1,800');
});

it('a promotion’s text names the amount in each currency', () => {
  const sold = price('reader-penny', 'sun-reader', {
    currency: 'nzd',
    currencies: { usd: 9000, jpy: 15_000 },
    pennySubheading: 'Full dues ($120/year)',
    promotion: { offer: 'to_1', next: 'price_1', days: 60, amount: 60, currencies: { usd: 60, jpy: 120 } },
  });
  const words = ['nzd', 'usd', 'jpy'].map((currency) => priceIn(sold, currency).pennySubheading);
  expect(words).toEqual(['Full dues ($120/year)', 'Full dues (US$90/year)', 'Full dues (JP¥15,000/year)']);
  const abroad = { ...sold, currency: 'usd', currencies: { nzd: 12_000 }, unit_amount: 9000 };
  const dollars = { ...abroad, promotion: sold.promotion && { ...sold.promotion, currencies: { nzd: 60 } } };
  expect(priceIn({ ...dollars, pennySubheading: 'US$90 a year' }, 'nzd').pennySubheading).toBe('$120 a year');
  const francs = { ...dollars, currency: 'chf', pennySubheading: 'CHF 90 a year' };
  expect(priceIn(francs, 'nzd').pennySubheading).toBe('$120 a year');
});

it('support uses the second publication’s hours and holidays', () => {
  expect(supportMessages.hours).toBe('Online weekdays 8 a.m. to noon NZT');
  const words = (at: string): string => supportHours(Date.parse(at)).words;
  expect(words('2027-02-04T19:00:00Z')).toBe('We’re online now, until noon NZT.');
  expect(words('2027-02-05T00:00:00Z')).toBe('We’re offline until Tuesday at 8 a.m. NZT.');
  // A holiday of the United States.
  expect(words('2026-11-25T19:30:00Z')).toBe('We’re online now, until noon NZT.');
  expect(builtinPage('cancel').bodyHtml).toContain('weekdays 8 a.m. to noon NZT');
});

it('a second publication’s only tier is the lowest, and is offered in its own currency', () => {
  expect(tiers.map(({ id, name }) => `${id} ${name}`)).toEqual(['courier-digital Courier Reader']);
  expect(lowestTier).toBe('courier-digital');
  const { open, plans } = offerOf([]);
  expect([open, ...plans.map(({ id, tier, amount, currency }) => [id, tier, amount, currency])]).toEqual([
    false,
    ['digital-monthly', 'courier-digital', 1990, 'nzd'],
  ]);
  expect(comparison.map(({ from }) => from)).toEqual([null, 'courier-digital', 'courier-digital']);
  const sold = price('digital-monthly', 'courier-digital', { currency: 'nzd' });
  const retired = price('plus-monthly', 'courier-plus', { currency: 'nzd' });
  expect(offerOf([sold, retired]).plans.map(({ id }) => id)).toEqual(['digital-monthly']);
});

it('readers with the highest tier are not asked to upgrade, and print is not offered where there is none', () => {
  expect(seenBy.upgradable).toBe('subscriber');
  const held = [{ product: 'courier-digital', print: false }];
  expect([mayUpgrade(held), mayUpgrade([{ product: 'other', print: false }])]).toEqual([false, true]);
  expect(membershipLabel(held)).toBe('Courier Reader');
  expect(isOfferedPrint('reader')).toBe(false);
});

it('features that a publication does not have get no page, link, tab, or ad', () => {
  expect(extraItems.map(({ href }) => href)).toEqual(['/media']);
  const paths = fixedPages.map(({ path }) => path);
  for (const path of ['/events', '/founder', '/games', '/membership', '/print']) expect(paths).not.toContain(path);
  for (const path of ['/pricing', '/media', '/newsletter']) expect(paths).toContain(path);
  expect(dashboardTabs.map(({ slug }) => slug)).not.toContain('shipping');
  expect([offeredAd('print'), offeredAd('crossword'), offeredAd('join')]).toEqual(['newsletter', 'newsletter', 'join']);
  for (const slot of ['home-1', 'home-2', 'home-3', 'home-4']) {
    for (const shape of ['billboard', 'box'] as const) expect(houseAdFor(slot, shape)).toBe('newsletter');
  }
});

it('a tier’s welcome email uses the tier’s name', () => {
  const { email: contact, postalAddress } = publication.contact;
  const paper = { ...publication, siteUrl: 'https://courier.example', contact, postalAddress };
  const mail = billingMail(
    { kind: 'welcome-tier', to: 'ada@example.com', product: 'courier-digital', plan: 'Monthly', print: false } as never,
    paper,
  );
  expect(mail.subject).toBe('Welcome to The Lakeland Courier: you’re a Courier Reader');
});
