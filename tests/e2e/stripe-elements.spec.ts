/**
 * The sandbox's stand-in for Stripe.js under `@stripe/react-stripe-js`, in a page with a content security policy as strict as
 * the site's. It needs no site: a small shop replaces it.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import AxeBuilder from '@axe-core/playwright';
import type { FrameLocator, Page } from '@playwright/test';
import Stripe from 'stripe';
import { build } from 'vite';
import { type RunningStripe, startStripe } from '../../sandbox/stripe/stripe.ts';
import { expect, test } from '../world/readers.ts';

// In one worker, so that the page's script is built once.
test.describe.configure({ mode: 'default' });

let running: RunningStripe;
let shop: Server;
let address = '';

test.beforeAll(async () => {
  running = await startStripe({});
  const { apiUrl, secretKey, publishableKey, scriptUrl } = running.access;
  const { hostname, port } = new URL(apiUrl);
  const stripe = new Stripe(secretKey, { host: hostname, port, protocol: 'http' });
  const script = await bundle();
  const origin = new URL(apiUrl).origin;
  const policy = `default-src 'none'; script-src 'self' ${origin}; frame-src ${origin}; connect-src 'self' ${origin}; base-uri 'none'`;
  const page = `<!doctype html><html lang="en"><title>Shop</title><body data-key="${publishableKey}" data-script="${scriptUrl}"><main><h1>Shop</h1><div id="root"></div></main><script type="module" src="/page.js"></script>`;
  shop = createServer(async (request, response) => {
    if (request.url === '/page.js') {
      response.writeHead(200, { 'content-type': 'text/javascript' }).end(script);
    } else if (request.url === '/subscribe') {
      let method = '';
      for await (const part of request) method += part;
      response.end(JSON.stringify(await subscribe(stripe, method)));
    } else {
      response.writeHead(200, { 'content-type': 'text/html', 'content-security-policy': policy }).end(page);
    }
  });
  await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(shop.address() as AddressInfo).port}/`;
});

test.afterAll(async () => {
  shop?.closeAllConnections();
  shop?.close();
  await running?.stop();
});

async function bundle(): Promise<string> {
  const made = await build({
    configFile: false,
    logLevel: 'error',
    define: { 'process.env.NODE_ENV': '"development"' },
    build: {
      write: false,
      minify: false,
      lib: { entry: join(import.meta.dirname, '../fixtures/elements-page.ts'), formats: ['es'], fileName: 'page' },
    },
  });
  const [result] = [made].flat();
  if (!result || !('output' in result)) throw new Error('The page could not be bundled.');
  return result.output[0].code;
}

/** As the newspaper's server does it. */
async function subscribe(stripe: Stripe, payment_method: string): Promise<Record<string, unknown>> {
  const { id: customer } = await stripe.customers.create({});
  const subscription = await stripe.subscriptions.create({
    customer,
    items: [{ price: 'price_reader_monthly' }],
    payment_behavior: 'default_incomplete',
    expand: ['latest_invoice.confirmation_secret'],
  });
  const invoice = subscription.latest_invoice as Stripe.Invoice;
  const clientSecret = invoice.confirmation_secret?.client_secret ?? '';
  try {
    const intent = await stripe.paymentIntents.confirm(clientSecret.split('_secret')[0] ?? '', { payment_method });
    return { status: intent.status, clientSecret };
  } catch (error) {
    return { message: (error as Error).message };
  }
}

const paymentFrame = (page: Page): FrameLocator => page.frameLocator('iframe[title="Secure payment input frame"]');
const addressFrame = (page: Page): FrameLocator => page.frameLocator('iframe[title="Secure address input frame"]');

async function fillAddress(page: Page): Promise<void> {
  const fields = addressFrame(page);
  await fields.getByLabel('Full name').fill('Benjamin Day');
  await fields.getByLabel('Address line 1').fill('222 William Street');
  await fields.getByLabel('City').fill('New York');
  await fields.getByLabel('State').selectOption('NY');
  await fields.getByLabel('ZIP code').fill('10038');
  await fields.getByLabel('Phone number').fill('212 555 0133');
}

async function fillCard(page: Page, number: string): Promise<void> {
  const fields = paymentFrame(page);
  await fields.getByLabel('Card number').fill(number);
  await fields.getByLabel('Expiration date').fill('12/34');
  await fields.getByLabel('Security code').fill('123');
  await fields.getByLabel('ZIP code').fill('10038');
}

const result = (page: Page) => page.locator('output');
const payButton = (page: Page) => page.getByRole('button', { name: 'Join the Sun' });

test('the sandbox’s Stripe.js takes a card payment under a strict content security policy', async ({ page }) => {
  const refused: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') refused.push(message.text());
  });
  await page.goto(address);
  await expect(payButton(page)).toBeDisabled();
  await fillAddress(page);
  await fillCard(page, '4242424242424242');
  await expect(paymentFrame(page).getByLabel('Card number')).toHaveValue('4242 4242 4242 4242');
  await payButton(page).click();
  await expect(result(page)).toHaveText('succeeded');
  expect(refused).toEqual([]);
  const events = (await page.evaluate(() => window.events)) as Record<string, unknown>[];
  expect(events.findLast((event) => event.elementType === 'payment')).toEqual({
    elementType: 'payment',
    empty: false,
    complete: true,
    collapsed: false,
    value: { type: 'card' },
  });
  expect(events.findLast((event) => event.elementType === 'address')).toEqual({
    elementType: 'address',
    elementMode: 'shipping',
    empty: false,
    complete: true,
    isNewAddress: true,
    value: {
      name: 'Benjamin Day',
      address: {
        line1: '222 William Street',
        line2: null,
        city: 'New York',
        state: 'NY',
        postal_code: '10038',
        country: 'US',
      },
      phone: '212 555 0133',
    },
  });
});

test('the sandbox’s payment form works by keyboard alone, and Enter submits it', async ({ page }) => {
  await page.goto(address);
  await fillAddress(page);
  await paymentFrame(page).getByRole('button', { name: 'Pay with a wallet' }).focus();
  for (const text of ['4242424242424242', '1234', '123']) {
    await page.keyboard.press('Tab');
    await page.keyboard.type(text);
  }
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.type('10038');
  await expect(payButton(page)).toBeEnabled();
  await page.keyboard.press('Enter');
  await expect(result(page)).toHaveText('succeeded');
});

test('the sandbox’s payment form shows an error in a card before anything is sent', async ({ page }) => {
  await page.goto(address);
  const fields = paymentFrame(page);
  await fillCard(page, '4242424242424241');
  await expect(fields.getByRole('alert').filter({ hasText: 'Your card number is invalid.' })).toBeVisible();
  await fields.getByLabel('Expiration date').fill('01/20');
  await fields.getByLabel('Security code').focus();
  await expect(fields.getByText("Your card's expiration year is in the past.")).toBeVisible();
  await expect(payButton(page)).toBeDisabled();
});

for (const [name, number, message] of [
  ['a declined card', '4000000000000002', 'Your card was declined.'],
  ['a card without funds', '4000000000009995', 'Your card has insufficient funds.'],
  ['a wrong security code', '4000000000000127', "Your card's security code is incorrect."],
] as const) {
  test(`the sandbox’s Stripe passes on the bank’s message for ${name}`, async ({ page }) => {
    await page.goto(address);
    await fillAddress(page);
    await fillCard(page, number);
    await payButton(page).click();
    await expect(result(page)).toHaveText(`server: ${message}`);
  });
}

for (const [button, message] of [
  ['Complete', 'after action: succeeded'],
  [
    'Fail',
    'action: We are unable to authenticate your payment method. Please choose a different payment method and try again.',
  ],
] as const) {
  test(`the sandbox’s Stripe.js asks for 3-D Secure in a dialog, answered with “${button}”`, async ({ page }) => {
    await page.goto(address);
    await fillAddress(page);
    await fillCard(page, '4000000000003220');
    await payButton(page).click();
    await expect(page.getByRole('dialog')).toBeVisible();
    await page.keyboard.press('Escape');
    const bank = page.frameLocator('iframe[title="Secure payment authentication frame"]');
    await bank.getByRole('button', { name: button }).click();
    await expect(result(page)).toHaveText(message);
    await expect(page.getByRole('dialog')).toHaveCount(0);
  });
}

test('the sandbox’s payment form pays with a wallet', async ({ page }) => {
  await page.goto(address);
  await fillAddress(page);
  await paymentFrame(page).getByRole('button', { name: 'Pay with a wallet' }).click();
  await payButton(page).click();
  await expect(result(page)).toHaveText('succeeded');
});

test('the sandbox’s payment form takes the page’s style, fits a phone, and has no axe violations', async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto(address);
  const number = paymentFrame(page).getByLabel('Card number');
  await expect(number).toHaveCSS('font-size', '17px');
  await fillAddress(page);
  const frame = page.locator('iframe[title="Secure payment input frame"]');
  await expect.poll(() => frame.evaluate((element) => element.clientHeight)).toBeGreaterThan(200);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  const { violations } = await new AxeBuilder({ page }).exclude('form > button').analyze();
  expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
});

test.describe('the sandbox’s wallet buttons', () => {
  const buttons = (page: Page): FrameLocator => page.frameLocator('iframe[title="Secure express checkout frame"]');
  const wallet = (page: Page): FrameLocator => page.frameLocator('iframe[title="Wallet"]');
  const control = (method: string, path: string, body: object) =>
    fetch(`${running.access.apiUrl}/_sandbox/${path}`, { method, body: JSON.stringify(body) });
  const open = async (page: Page, how = '') => {
    await page.goto(`${address}?express=${how}`);
    await expect.poll(() => page.evaluate(() => JSON.stringify(window.events))).toContain('"ready":"express"');
  };
  const told = (page: Page) => page.evaluate(() => window.events) as Promise<Record<string, unknown>[]>;

  test('pay through the wallet sheet, and report the billing details to the page', async ({ page }) => {
    await open(page);
    await buttons(page).getByRole('button', { name: 'Google Pay' }).click();
    await expect(wallet(page).getByText('Total $12.00')).toBeVisible();
    await wallet(page).getByRole('button', { name: 'Pay' }).click();
    await expect(result(page)).toHaveText('succeeded');
    await expect(page.getByRole('dialog')).toHaveCount(0);
    expect((await told(page)).at(-1)).toMatchObject({
      type: 'google_pay',
      billingDetails: {
        name: 'Benjamin Day',
        email: 'day@example.com',
        address: { postal_code: '10038', country: 'US' },
      },
    });
    const [method] = [...running.state.account.store.all('payment_method')].slice(-1);
    expect(method?.card.wallet).toMatchObject({ type: 'google_pay' });
  });

  test('open the bank’s confirmation after the wallet sheet', async ({ page }) => {
    await open(page);
    await buttons(page).getByRole('button', { name: 'Link' }).click();
    await wallet(page).getByLabel('Card').selectOption('Visa •••• 3184, authentication required');
    await wallet(page).getByRole('button', { name: 'Pay' }).click();
    const bank = page.frameLocator('iframe[title="Secure payment authentication frame"]');
    await bank.getByRole('button', { name: 'Complete' }).click();
    await expect(result(page)).toHaveText('after action: succeeded');
  });

  test('show a failure in the wallet sheet, and tell the page when it is dismissed', async ({ page }) => {
    await open(page, 'fail');
    await buttons(page).getByRole('button', { name: 'Google Pay' }).click();
    await wallet(page).getByRole('button', { name: 'Pay' }).click();
    await expect(wallet(page).getByRole('alert').filter({ hasText: 'No such luck.' })).toBeVisible();
    await wallet(page).getByRole('button', { name: 'Close' }).click();
    await expect(page.getByRole('dialog')).toHaveCount(0);
    expect((await told(page)).at(-1)).toEqual({ elementType: 'expressCheckout' });
  });

  test('open no wallet sheet when the page rejects the click', async ({ page }) => {
    await open(page, 'reject');
    await buttons(page).getByRole('button', { name: 'Google Pay' }).click();
    await expect.poll(() => told(page)).toContainEqual({ click: 'google_pay' });
    await expect(page.getByRole('dialog')).toHaveCount(0);
  });

  for (const [name, how, message] of [
    ['a page that doesn’t answer a click within a second', 'silent', 'within 1 second'],
    ['line items that add up to more than the amount', 'dear', 'The amount 1200 is less than the total amount'],
  ] as const) {
    test(`refuse ${name}`, async ({ page }) => {
      const error = page.waitForEvent('pageerror');
      await open(page, how);
      await buttons(page).getByRole('button', { name: 'Google Pay' }).click();
      expect((await error).message).toContain(message);
      await expect(page.getByRole('dialog')).toHaveCount(0);
    });
  }

  test('refuse a payment method that is created before elements.submit()', async ({ page }) => {
    await open(page, 'hasty');
    await buttons(page).getByRole('button', { name: 'Google Pay' }).click();
    await wallet(page).getByRole('button', { name: 'Pay' }).click();
    await expect(result(page)).toContainText('elements.submit() must be called');
  });

  test('match the browser’s wallets, and are absent on an unregistered domain', async ({ page }) => {
    const ready = async () => (await told(page)).find((event) => event.ready === 'express')?.availablePaymentMethods;
    const none = { amazonPay: false, klarna: false, paypal: false };
    await open(page);
    expect(await ready()).toEqual({ ...none, applePay: false, googlePay: true, link: true });
    await control('PUT', 'wallets', { applePay: true, googlePay: false });
    await open(page);
    await expect(buttons(page).getByRole('button')).toHaveText(['Apple\u00a0Pay', 'Link']);
    await control('DELETE', 'domains', { name: '127.0.0.1' });
    await open(page);
    expect(await ready()).toBeUndefined();
    await expect(buttons(page).getByRole('button')).toHaveCount(0);
    await control('POST', 'domains', { name: '127.0.0.1' });
    await control('PUT', 'wallets', {});
  });
});
