/**
 * The account's subscription page, leaving, and the retention widget's hash, against the built site over HTTP with the sandbox's Stripe:
 * everything here uses only links and forms, as without JavaScript.
 */
import { createHmac } from 'node:crypto';
import Stripe from 'stripe';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { type RunningStripe, startStripe } from '../../sandbox/stripe/stripe.ts';
import { apiVersion } from '../../src/lib/billing/engine/stripe.server.ts';
import type { Invoice, Subscription } from '../../src/lib/billing/schema.ts';
import { type AccountSite, type Browser, startAccountSite } from '../fixtures/account-site.ts';

let stripe: RunningStripe;
let site: AccountSite;
const apiKey = 'key_of_the_widget';

beforeAll(async () => {
  stripe = await startStripe({});
  const { apiUrl, scriptUrl, secretKey, publishableKey, webhookSecret } = stripe.access;
  site = await startAccountSite({
    settings: {
      STRIPE_SECRET_KEY: secretKey,
      STRIPE_PUBLISHABLE_KEY: publishableKey,
      STRIPE_WEBHOOK_SECRET: webhookSecret,
      STRIPE_API_URL: apiUrl,
      STRIPE_JS_URL: scriptUrl,
      CHURNKEY_APP_ID: 'app_1',
      CHURNKEY_API_KEY: apiKey,
      CHURNKEY_SCRIPT_URL: 'http://127.0.0.1:9/js/app.js',
    },
  });
});
afterAll(async () => {
  await site.stop();
  await stripe.stop();
});
afterEach(() => {
  vi.restoreAllMocks();
  stripe.state.faults.clear();
});

let count = 0;
async function reader(plan: string | null = 'reader-monthly'): Promise<{ browser: Browser; email: string }> {
  const browser = site.browser();
  const email = `leaver-${++count}@example.com`;
  expect((await browser.signIn(site, email)).status).toBe(303);
  if (plan !== null) {
    const product_id = plan.startsWith('reader') ? 'sun-reader' : 'sun-member';
    const bought = { payment_method: 'pm_card_visa', product_id, plan_id: plan };
    expect((await browser.post('/blaize/payment/stripe/subscribe', bought)).status).toBe(200);
  }
  return { browser, email };
}
const subscriptionOf = async (browser: Browser) =>
  (await browser.get('/api/v1/me/subscription')).json<{ subscription: Subscription }>().subscription;
/** The text of a page, without its markup. */
const words = (html: string): string =>
  html
    .replace(/<(script|style|template)\b.*?<\/\1>/gs, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ');
const page = async (browser: Browser, path: string) => words((await browser.get(path)).text);

it('the account page shows the plan, the card and the invoices, and is not cached', async () => {
  const { browser } = await reader('member-yearly');
  const answer = await browser.get('/dashboard/account');
  expect(answer.headers['cache-control']).toBe('private, no-store');
  const said = words(answer.text);
  for (const part of ['Sun Member (Digital Only)', 'Renewal date', 'Upgrade', 'Visa', '4242', '$200.00', 'PDF']) {
    expect(said).toContain(part);
  }
  expect(answer.text).toContain('href="/cancel"');
  // The address of an invoice at Stripe is secret: it isn't in a page.
  expect(answer.text).not.toMatch(/\/invoices\/\w+\/pdf/);
});

it('a free account is labeled as free, and has nothing to cancel', async () => {
  const { browser } = await reader(null);
  const said = await page(browser, '/dashboard/account');
  expect(said).toContain('Free Account');
  expect(said).not.toContain('Cancel your subscription');
  expect(await page(browser, '/cancel')).toContain('You have no active subscription');
});

it('invoices are shown only to their reader: others get 404', async () => {
  const [ada, eve] = [await reader(), await reader()];
  const { bills } = (await ada.browser.get('/api/v1/me/invoices')).json<{ bills: Invoice[] }>();
  const own = await ada.browser.get(`/account/invoice?id=${bills[0]?.id}`);
  expect([own.status, own.headers['cache-control']]).toEqual([303, 'private, no-store']);
  const file = await fetch(String(own.headers.location));
  expect(file.headers.get('content-type')).toBe('application/pdf');
  expect((await eve.browser.get(`/account/invoice?id=${bills[0]?.id}`)).status).toBe(404);
  expect((await site.browser().get(`/account/invoice?id=${bills[0]?.id}`)).headers.location).toMatch(/^\/socialLogin/);
  expect((await eve.browser.get('/api/v1/me/invoices')).text).not.toContain(String(bills[0]?.id));
});

it('while Stripe is down, the invoices and the card say so, and the plan is still shown', async () => {
  const { browser } = await reader();
  stripe.state.faults.add({ status: 500, times: 100 });
  const said = await page(browser, '/dashboard/account');
  expect(said).toContain('We can’t load your invoices right now.');
  expect(said).toContain('We can’t show your payment method right now.');
  expect(said).toContain('Sun Reader');
  expect(said).toContain('Renewal date');
});

it('the account page shows "Failed to fetch subscriptions" (spec section 8) if they cannot be read, and still the invoices', async () => {
  const { browser } = await reader();
  vi.spyOn(site.billing as NonNullable<typeof site.billing>, 'subscriptions').mockRejectedValue(new Error('away'));
  const said = await page(browser, '/dashboard/account');
  expect(said).toContain('Failed to fetch subscriptions');
  expect(said).toContain('$12.00');
});

it('canceling takes an optional question and one click, and resuming takes one click', async () => {
  const { browser } = await reader();
  expect(await page(browser, '/cancel')).toContain('Why are you leaving?');
  const asked = await browser.submit('/cancel', { step: 'why' });
  expect([asked.status, asked.headers.location]).toEqual([303, '/cancel?step=confirm']);
  const confirm = await page(browser, '/cancel?step=confirm');
  expect(confirm).toMatch(/You keep full access until/);
  expect(confirm).toContain('Stay for $6 instead of $12?');
  const done = await browser.submit('/cancel', { step: 'cancel' });
  expect(done.headers.location).toBe('/cancel?state=cancelled');
  expect((await browser.submit('/cancel', { step: 'cancel' })).headers.location).toBe('/cancel?state=cancelled');
  expect(await page(browser, '/cancel?state=cancelled')).toContain('You won’t be charged again');
  expect(await subscriptionOf(browser)).toMatchObject({ cancelAtPeriodEnd: true, nextBillingDate: null });
  expect(await page(browser, '/dashboard/account')).toContain('Resume subscription');
  const back = await browser.submit('/account/subscription', {});
  expect(back.headers.location).toBe('/dashboard/account?state=resumed#plan');
  expect(await subscriptionOf(browser)).toMatchObject({ cancelAtPeriodEnd: false });
  // No subscription is running anymore, which isn't an error.
  const late = await (await reader(null)).browser.submit('/account/subscription', {});
  expect(late.headers.location).toBe('/dashboard/account#plan');
});

/** A reader for whom the publisher has made a second, higher subscription, which is the one that is shown. */
async function readerOfTwo() {
  const { browser } = await reader();
  const { id } = await subscriptionOf(browser);
  const { hostname: host, port } = new URL(stripe.access.apiUrl);
  const dashboard = new Stripe(stripe.access.secretKey, { apiVersion, host, port, protocol: 'http' });
  const { customer, default_payment_method: card } = await dashboard.subscriptions.retrieve(id);
  const member = { default_payment_method: String(card), items: [{ price: 'price_member_monthly' }] };
  const { id: other } = await dashboard.subscriptions.create({ customer: String(customer), ...member });
  await site.billing?.compare();
  await site.billing?.drain();
  expect(await subscriptionOf(browser)).toMatchObject({ id: other });
  return { browser, id, other };
}

it('of two subscriptions, the smaller one is canceled and resumed without the other, and the page says which', async () => {
  const { browser, id, other } = await readerOfTwo();
  const address = `/cancel?subscription=${id}`;
  expect((await browser.get('/dashboard/account')).text).toContain(`href="${address}"`);
  const asked = await page(browser, address);
  expect(asked).toMatch(/This is about Sun Reader, Monthly ?\. You keep what it includes/);
  expect(asked).toContain('and you won’t be charged for it again.');
  const why = await browser.submit(address, { step: 'why', subscription: id });
  expect(why.headers.location).toBe(`/cancel?step=confirm&subscription=${id}`);
  const confirm = `/cancel?step=confirm&subscription=${id}`;
  const { text } = await browser.get(confirm);
  expect(text).toContain(`name="subscription" value="${id}"`);
  expect(text).not.toContain(other);
  const facts = await page(browser, confirm);
  expect(facts).toMatch(/You’re canceling Sun Reader, Monthly ?\. Your other subscription stays as it is\./);
  const pressed = await browser.submit(address, { step: 'cancel', subscription: id });
  expect(pressed.headers.location).toBe('/dashboard/account?state=cancelled#plan');
  expect(await subscriptionOf(browser)).toMatchObject({ id: other, cancelAtPeriodEnd: false });
  expect(await page(browser, '/dashboard/account')).toContain('You also have Sun Reader, Monthly. It ends on');
  expect(await page(browser, address)).toContain('You won’t be charged for it again');
  const resumed = await browser.submit(address, { step: 'resume', subscription: id });
  const account = `/dashboard/account?state=resumed&subscription=${id}`;
  expect(resumed.headers.location).toBe(`${account}#plan`);
  const continued = await page(browser, account);
  expect(continued).toContain('Done. Sun Reader, Monthly continues.');
  expect(continued).toContain('You also have Sun Reader, Monthly. Its next bill is');
});

it('of two subscriptions, the one that was shown is canceled once, and the account page shows both', async () => {
  const { browser, id, other } = await readerOfTwo();
  const beside = 'You also have Sun Reader, Monthly. Its next bill is $12 on';
  expect(await page(browser, '/dashboard/account')).toContain(beside);
  const { text } = await browser.get('/cancel?step=confirm');
  expect(text).toContain(`name="subscription" value="${other}"`);
  for (let press = 0; press < 2; press++) {
    const pressed = await browser.submit('/cancel', { step: 'cancel', subscription: other });
    expect(pressed.headers.location).toBe('/dashboard/account?state=cancelled#plan');
  }
  const said = await page(browser, '/dashboard/account?state=cancelled');
  expect(said).toContain('That subscription is canceled. You have another one, which continues.');
  expect(said).toContain('You also have Sun Member, Monthly. It ends on');
  expect(await subscriptionOf(browser)).toMatchObject({ id, cancelAtPeriodEnd: false });
  const list = (await browser.get('/blaize/payment/stripe/subscriptions')).json<{ externalId: string }[]>();
  expect(list.map(({ externalId }) => externalId)).toEqual([id, other]);
});

it('the retention offer can be accepted once, and is not made again', async () => {
  const { browser } = await reader();
  await browser.submit('/cancel', { step: 'why', reason: 'too-expensive', words: '<script>alert(1)</script>' });
  expect((await browser.submit('/cancel', { step: 'stay' })).headers.location).toBe('/cancel?state=stayed');
  expect(await page(browser, '/cancel?state=stayed')).toContain('is $6.');
  expect(await subscriptionOf(browser)).toMatchObject({ price: 600, preDiscountPrice: 1200 });
  await browser.submit('/cancel', { step: 'why' });
  expect(await page(browser, '/cancel?step=confirm')).not.toContain('Stay for');
});

it('a signed-out reader must sign in to cancel, and a form from another site gets 403', async () => {
  const visitor = site.browser();
  const answer = await visitor.get('/cancel');
  expect(answer.headers['cache-control']).toBe('private, no-store');
  expect(answer.text).toContain('href="/socialLogin?return=%2Fcancel"');
  expect((await visitor.submit('/cancel', { step: 'cancel' })).headers.location).toBe('/cancel');
  const { browser } = await reader();
  const elsewhere: Record<string, string | null> = {
    origin: 'https://elsewhere.example',
    'sec-fetch-site': 'cross-site',
  };
  for (const headers of [elsewhere, { origin: null }]) {
    const sent = await browser.submit('/cancel', { step: 'cancel' }, { headers });
    expect(sent.status).toBe(403);
  }
  expect(await subscriptionOf(browser)).toMatchObject({ cancelAtPeriodEnd: false });
});

it('when canceling fails, the page shows a message and the button, and the subscription continues', async () => {
  const { browser } = await reader();
  stripe.state.faults.add({ method: 'POST', path: '/v1/subscriptions', status: 500, times: 100 });
  const failed = await browser.submit('/cancel', { step: 'cancel' });
  expect([failed.status, words(failed.text)]).toEqual([503, expect.stringContaining('Something went wrong.')]);
  stripe.state.faults.clear();
  expect(words(failed.text)).toContain('Cancel subscription');
  expect(await subscriptionOf(browser)).toMatchObject({ cancelAtPeriodEnd: false });
});

it('the form for changing the plan shows what is due before it is charged', async () => {
  const { browser } = await reader('reader-yearly');
  const shown = await browser.get('/account/plan?plan=member-yearly');
  expect(words(shown.text)).toContain('Due today $80');
  const hidden = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(shown.text)?.[1] ?? '';
  const names = ['attempt', 'expected', 'prorationDate', 'subscription'];
  const form = Object.fromEntries(names.map((name) => [name, hidden(name)]));
  expect(form.subscription).toBe((await subscriptionOf(browser)).id);
  const wrong = await browser.submit('/account/plan?plan=member-yearly', { ...form, expected: '1' });
  expect(wrong.status).toBe(409);
  expect(await subscriptionOf(browser)).toMatchObject({ planId: 'reader-yearly' });
  const changed = await browser.submit('/account/plan?plan=member-yearly', form);
  expect(changed.headers.location).toBe('/dashboard/account?state=switched#plan');
  expect(await subscriptionOf(browser)).toMatchObject({ planId: 'member-yearly' });
  const later = await browser.get('/account/plan?plan=reader-monthly');
  expect(words(later.text)).toContain('Due today $0');
  await browser.submit('/account/plan?plan=reader-monthly', { expected: '0' });
  expect(await page(browser, '/dashboard/account')).toMatch(/Your plan changes to Sun Reader, Monthly on \w+ \d+, \d+/);
  await browser.submit('/account/subscription', {});
  expect(await subscriptionOf(browser)).not.toHaveProperty('next');
});

it('the retention widget’s hash is for the signed-in reader, whatever address is posted (spec section 7)', async () => {
  const [ada, eve] = [await reader(), await reader()];
  const customerOf = (email: string) =>
    [...stripe.state.account.store.all('customer')].find((one) => one.email === email)?.id ?? '';
  const answer = await eve.browser.post('/api/churnkey', { email: ada.email });
  const customerId = customerOf(eve.email);
  expect(answer.status).toBe(200);
  expect(answer.headers['cache-control']).toContain('no-store');
  expect(answer.json()).toEqual({
    hash: createHmac('sha256', apiKey).update(customerId).digest('hex'),
    customerId,
    subscriptionId: (await subscriptionOf(eve.browser)).id,
  });
  expect(answer.text).not.toContain(customerOf(ada.email));
  expect((await site.browser().post('/api/churnkey', { email: ada.email })).status).toBe(401);
  const free = await reader(null);
  expect((await free.browser.post('/api/churnkey', { email: ada.email })).json()).toEqual({
    hash: null,
    customerId: null,
    subscriptionId: null,
  });
  vi.spyOn(site.billing as NonNullable<typeof site.billing>, 'customerOf').mockRejectedValueOnce(new Error('away'));
  const failed = await eve.browser.post('/api/churnkey', { email: eve.email });
  expect([failed.status, failed.json()]).toEqual([500, { message: 'Error generating user hash' }]);
  const leaving = await eve.browser.get('/cancel');
  expect(String(leaving.headers['content-security-policy'])).toContain('http://127.0.0.1:9');
  expect(leaving.text).not.toContain(apiKey);
});

it('an account is not deleted while a payment of its reader is in progress', async () => {
  const { browser, email } = await reader(null);
  const card = { payment_method: 'pm_card_threeDSecure2Required', product_id: 'sun-reader', plan_id: 'reader-monthly' };
  expect((await browser.post('/blaize/payment/stripe/subscribe', card)).status).toBe(200);
  const refused = await browser.post('/blaize/forget-me', { email });
  expect([refused.status, refused.headers['retry-after']]).toEqual([409, '60']);
  expect(refused.json()).toMatchObject({ message: expect.stringContaining('still processing a payment of yours') });
  const byForm = await browser.submit('/account/delete', { email });
  expect(byForm.headers.location).toBe('/dashboard/privacy?problem=paying#delete');
  expect(await page(browser, '/dashboard/privacy?problem=paying')).toContain('nothing was deleted');
  expect((await browser.get('/blaize/account')).status).toBe(200);
});
