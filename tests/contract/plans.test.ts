/**
 * The pages of plans over HTTP, on the built site: what they show of the catalog, what they say when nothing is sold, and the
 * form of the shipping address without a script. Tests set the catalog and the saved addresses.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Price, Shipping } from '../../src/lib/billing/schema.ts';
import type { Billing } from '../../src/lib/billing/service.ts';
import { catalog } from '../../src/lib/plans/testing.ts';
import { type AccountSite, type Browser, startAccountSite } from '../fixtures/account-site.ts';
import { wirePost } from '../fixtures/wordpress.ts';

const pages = ['/pricing', '/print', '/membership', '/founder'];

const shop = {
  prices: catalog as readonly Price[],
  saved: new Map<string, Shipping>(),
  failing: null as 'refused' | 'thrown' | null,
};
const billing: Partial<Billing> = {
  prices: () => shop.prices,
  currency: async () => ({ currency: 'usd', own: false }),
  entitlements: async () => [],
  shipping: async ({ userId }) => shop.saved.get(userId) ?? null,
  async saveShipping({ userId }, shipping) {
    if (shop.failing === 'thrown') throw new Error('The database is away');
    if (shop.failing) return { ok: false, status: 400, error: { message: 'This address is not known.' } };
    shop.saved.set(userId, shipping);
    return { ok: true, value: shipping };
  },
};

let open: AccountSite;
let closed: AccountSite;
beforeAll(async () => {
  open = await startAccountSite({
    services: { billing: billing as Billing },
    write: (wordpress) => wordpress.put('articles', { ...wirePost({ id: 9, slug: 'metered', category: [2] }), id: 9 }),
  });
  closed = await startAccountSite({ services: { billing: null } });
});
afterAll(async () => {
  await open.stop();
  await closed.stop();
});
beforeEach(() => {
  shop.prices = catalog;
  shop.failing = null;
});

/** The text of a page, without its markup. */
const words = (html: string): string =>
  html
    .replace(/<(script|style)[\s\S]*?<\/\1>/g, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&#39;|&rsquo;/g, '’')
    .replace(/\s+/g, ' ');
const plansIn = (html: string): string[] =>
  [...html.matchAll(/href="\/subscribe\?plan=([\w-]+)"/g)].map((match) => match[1] ?? '');

describe('pages with prices', () => {
  it.each([...pages, '/fragments/paywall-offer'])('%s may be cached, and carries the tag “prices”', async (path) => {
    const before = await open.browser().get(path);
    expect(before.status).toBe(200);
    expect(String(before.headers['cache-tag']).split(/[ ,]+/)).toContain('prices');
    expect(before.headers['cache-control']).not.toMatch(/no-store|private/);
  });

  it('do not include metered stories, whose paywall fetches the prices', async () => {
    const story = await open.browser().get('/article/metered');
    expect(story.text).toContain('data-metered="9"');
    expect(story.text).toContain('data-offer="/fragments/paywall-offer"');
    expect(String(story.headers['cache-tag']).split(/[ ,]+/)).not.toContain('prices');
  });

  it('show the new prices when the catalog changes', async () => {
    expect(words((await open.browser().get('/pricing')).text)).toContain('$120 /year');
    shop.prices = catalog.map((price) => (price.unit_amount === 12_000 ? { ...price, unit_amount: 13_050 } : price));
    await open.sitePress.press.invalidate(['prices']);
    await expect
      .poll(async () => words((await open.browser().get('/pricing')).text))
      .toContain('$130.50 /year Billed once a year. $13.50 less than twelve months at $12.');
    shop.prices = catalog;
    await open.sitePress.press.invalidate(['prices']);
    await expect.poll(async () => words((await open.browser().get('/pricing')).text)).toContain('$120 /year');
  });

  it('state everything that the penny promotion costs', async () => {
    const text = words((await open.browser().get('/pricing')).text);
    for (const sentence of [
      'Read the Sun for a PENNY A DAY',
      '$0.01/Day',
      'Full dues ($120/year) billed after 60 days',
      'On the day you join $0.60 is charged, for 60 days.',
      'You may cancel your subscription at any time.',
    ])
      expect(text).toContain(sentence);
  });

  it('link to every plan, for readers without JavaScript', async () => {
    const { text } = await open.browser().get('/pricing');
    expect([...new Set(plansIn(text))].toSorted()).toEqual(catalog.map(({ zephrPlanId }) => zephrPlanId).toSorted());
    expect(text).toContain('data-paywall="{&quot;planId&quot;:&quot;reader-yearly&quot;}"');
    expect(text).not.toMatch(/\bchecked\b|countdown/i);
  });
});

describe('without billing', () => {
  it.each(['/pricing', '/print', '/membership'])(
    '%s says that nothing is on sale, and shows standard prices without links to plans',
    async (path) => {
      const { status, text } = await closed.browser().get(path);
      expect(status).toBe(200);
      expect(words(text)).toContain('Subscriptions aren’t on sale right now.');
      expect(words(text)).toContain('$280 /year');
      expect(plansIn(text)).toEqual([]);
      expect(text.includes('data-paywall=')).toBe(false);
      expect(text.includes('PENNY')).toBe(false);
    },
  );

  it('/subscribe says that nothing is on sale', async () => {
    const { status, text } = await closed.browser().get('/subscribe?plan=reader-yearly');
    expect(status).toBe(200);
    expect(words(text)).toContain('Subscriptions aren’t on sale right now.');
    expect(text.includes('data-paywall=')).toBe(false);
  });

  it('/shipping says that print delivery is not available yet', async () => {
    const browser = closed.browser();
    await browser.signIn(closed, 'closed@example.com');
    const page = await browser.get('/shipping');
    expect(words(page.text)).toContain('You can set up print delivery here once subscriptions go on sale.');
    expect((await browser.submit('/shipping', address)).status).toBe(200);
  });
});

describe('/subscribe without JavaScript', () => {
  it('shows the chosen plan and how to order by phone, and is not cached', async () => {
    const { status, text, headers } = await open.browser().get('/subscribe?plan=member-print-yearly');
    expect([status, headers['cache-control']]).toEqual([200, 'private, no-store']);
    for (const sentence of [
      'Sun Member with the print edition, $280/year',
      'On the day you join $280',
      'card form needs JavaScript',
      '+1 212 555 0183',
      'weekdays 9 a.m. to 5 p.m. ET',
    ])
      expect(words(text)).toContain(sentence);
    expect(text).toContain('href="/socialLogin?return=%2Fsubscribe%3Fplan%3Dmember-print-yearly"');
    expect(text).toContain('Subscription%3A%20Sun%20Member%20with%20the%20print%20edition');
  });

  it('shows who is signed in', async () => {
    const browser = open.browser();
    await browser.signIn(open, 'ann@example.com');
    const { text } = await browser.get('/subscribe?plan=reader-penny');
    expect(words(text)).toContain('Signed in as ann@example.com');
    expect(words(text)).toContain('On the day you join $0.60 for 60 days');
  });

  it('redirects to /pricing without a plan, and answers 404 to an unknown plan', async () => {
    const nowhere = await open.browser().get('/subscribe');
    expect([nowhere.status, nowhere.headers.location]).toEqual([303, '/pricing']);
    for (const plan of ['no-such-plan', '%22%3E%3Cscript%3Ealert(1)%3C/script%3E', '']) {
      const { status, text } = await open.browser().get(`/subscribe?plan=${plan}`);
      expect(status).toBe(404);
      expect(words(text)).toContain('We no longer offer that plan');
      expect(text).not.toContain('<script>alert');
    }
  });
});

const address = {
  name: 'Benjamin Day',
  line1: '222 William Street',
  line2: '',
  city: 'New York',
  state: 'NY',
  postal_code: '10038',
  phone: '212 555 0183',
};

describe('the shipping form without JavaScript', () => {
  let browser: Browser;
  let count = 0;
  beforeEach(async () => {
    browser = open.browser();
    await browser.signIn(open, `paper-${++count}@example.com`);
  });
  const value = (html: string, name: string) =>
    new RegExp(`<input(?=[^>]* name="${name}")[^>]* value="([^"]*)"`).exec(html)?.[1];

  it('requires the reader to be signed in', async () => {
    for (const answer of [await open.browser().get('/shipping'), await open.browser().submit('/shipping', address)]) {
      expect([answer.status, answer.headers.location]).toEqual([303, '/socialLogin?return=%2Fshipping']);
      expect(answer.headers['cache-control']).toBe('private, no-store');
    }
  });

  it('saves, shows and changes the address', async () => {
    const empty = await browser.get('/shipping');
    expect(empty.headers['cache-control']).toBe('private, no-store');
    expect(/<form(?=[^>]* method="post")[^>]* action="\/shipping"/.test(empty.text)).toBe(true);

    const saved = await browser.submit('/shipping', address);
    expect([saved.status, saved.headers.location]).toEqual([303, '/shipping?state=saved']);
    const shown = words((await browser.get('/shipping?state=saved')).text);
    expect(shown).toContain('Your shipping address has been saved.');
    expect(shown).toContain('Benjamin Day 222 William Street New York, NY 10038 +12125550183');
    expect(shown).toContain('Update Shipping Address');
    expect([...shop.saved.values()].at(-1)).toEqual({
      name: 'Benjamin Day',
      address: { line1: '222 William Street', city: 'New York', state: 'NY', postal_code: '10038', country: 'US' },
      phone: '+12125550183',
    });

    const form = (await browser.get('/shipping?edit=yes')).text;
    expect([value(form, 'name'), value(form, 'postal_code')]).toEqual(['Benjamin Day', '10038']);
    await browser.submit('/shipping', { ...address, line2: 'Attic' });
    expect(words((await browser.get('/shipping')).text)).toContain('222 William Street Attic New York');
  });

  it('keeps what was typed, and explains each wrong field', async () => {
    const answer = await browser.submit('/shipping', {
      ...address,
      city: '',
      postal_code: '90210',
      name: '<b>Ann</b>',
    });
    expect(answer.status).toBe(422);
    expect(answer.headers['cache-control']).toBe('private, no-store');
    expect(value(answer.text, 'name')).toBe('&lt;b&gt;Ann&lt;/b&gt;');
    expect(value(answer.text, 'line1')).toBe('222 William Street');
    expect(value(answer.text, 'postal_code')).toBe('90210');
    expect(answer.text).toMatch(/<option[^>]*(?:value="NY"[^>]* selected|selected[^>]* value="NY")/);
    expect(words(answer.text)).toContain('Please enter your city.');
    expect(words(answer.text)).toContain('90210 is not in New York.');
  });

  it.each([
    ['is refused', 'refused', 422, 'This address is not known.'],
    ['fails with an error', 'thrown', 503, 'Something went wrong. Please try again.'],
  ] as const)('keeps what was typed when saving %s', async (_, failing, status, sentence) => {
    shop.failing = failing;
    const answer = await browser.submit('/shipping', address);
    expect(answer.status).toBe(status);
    expect(words(answer.text)).toContain(sentence);
    expect(value(answer.text, 'line1')).toBe('222 William Street');
  });

  it('is accepted only from this site’s own pages', async () => {
    for (const headers of [
      { origin: 'https://elsewhere.example', 'sec-fetch-site': 'cross-site' },
      { origin: null, 'sec-fetch-site': null },
    ]) {
      const answer = await browser.submit('/shipping', address, { headers });
      expect(answer.status).toBe(403);
    }
    const json = await browser.post('/shipping', address);
    expect(json.status).toBe(415);
    expect(words((await browser.get('/shipping')).text)).not.toContain('William');
  });
});
