/** Readers who pay, in the browser tests: the paywall as a reader sees it, and the sandbox's Stripe behind it. */
import { expect, type FrameLocator, type Locator, type Page } from '@playwright/test';
import { waitLonger } from './intercept.ts';
import { testSandbox } from './world.ts';

/** Test cards (docs/services/stripe.md). */
export const cards = {
  good: '4242424242424242',
  mastercard: '5555555555554444',
  /** The bank asks each time. */
  asks: '4000002760003184',
  asksUnlessKept: '4000002500003155',
  /** The bank asks, and still refuses the payment. */
  asksThenDeclined: '4000008400001629',
  asksThenEmpty: '4000008260003178',
  declined: '4000000000000002',
  empty: '4000000000009995',
  expired: '4000000000000069',
  wrongCode: '4000000000000127',
  broken: '4000000000000119',
  /** Can be saved, and is refused when it is charged. */
  laterFails: '4000000000000341',
  noCard: '4242424242424241',
} as const;

export const failure = 'Payment has failed - please check your card details, or try another payment method.';

export const sheet = (page: Page): Locator => page.getByRole('dialog').filter({ has: page.locator('[data-step]') });
export const step = (page: Page, name: 'account' | 'shipping' | 'payment'): Locator =>
  page.locator(`[data-step="${name}"]`);
export const cardFields = (page: Page): FrameLocator => page.frameLocator('iframe[title="Secure payment input frame"]');
const addressFields = (page: Page): FrameLocator => page.frameLocator('iframe[title="Secure address input frame"]');
const bank = (page: Page): FrameLocator => page.frameLocator('iframe[title="Secure payment authentication frame"]');
/** The wallets' buttons above the card form: Apple Pay, Google Pay and Link. */
export const express = (page: Page): FrameLocator => page.frameLocator('iframe[title="Secure express checkout frame"]');
/** The sheet of a wallet over the page. */
export const walletSheet = (page: Page): FrameLocator => page.frameLocator('iframe[title="Wallet"]');
/** The button to pay, with any text. */
export const payButton = (page: Page): Locator => step(page, 'payment').locator('button[type="submit"]');

/** Makes a page wait longer for the wallets' buttons: Stripe's frames may need more than the seconds after which the form omits them. */
export const waitForWallets = (page: Page) => waitLonger(page, 2000, 8000);

/** Opens the paywall for a plan on the page of plans. */
export async function openPaywall(page: Page, plan: string, path = '/pricing'): Promise<void> {
  await page.goto(path);
  await page.locator(`a[data-paywall*='"${plan}"']:visible`).first().click();
  await expect(sheet(page)).toBeVisible();
}

/** Step 1 for a new reader. */
export async function enterEmail(page: Page, email: string): Promise<void> {
  await step(page, 'account').getByLabel('Email address').fill(email);
  await step(page, 'account').getByRole('button', { name: 'Continue' }).click();
}

export async function fillCard(page: Page, number: string): Promise<void> {
  const fields = cardFields(page);
  await fields.getByLabel('Card number').fill(number);
  await fields.getByLabel('Expiration date').fill('12/34');
  await fields.getByLabel('Security code').fill('123');
  await fields.getByLabel('ZIP code').fill('10038');
}

export async function fillAddress(page: Page): Promise<void> {
  const fields = addressFields(page);
  await fields.getByLabel('Full name').fill('Benjamin Day');
  await fields.getByLabel('Address line 1').fill('222 William Street');
  await fields.getByLabel('City').fill('New York');
  await fields.getByLabel('State').selectOption('NY');
  await fields.getByLabel('ZIP code').fill('10038');
  await fields.getByLabel('Phone number').fill('212 555 0133');
}

/** Answers the bank's challenge in its window. */
export const answerBank = (page: Page, answer: 'Complete' | 'Fail'): Promise<void> =>
  bank(page).getByRole('button', { name: answer }).click();

export async function applyCoupon(page: Page, code: string): Promise<void> {
  await step(page, 'payment').getByLabel('Coupon').fill(code);
  await step(page, 'payment').getByRole('button', { name: 'Apply' }).click();
}

/** Presses the button once it shows the amount. @param sum the amount on the button */
export async function join(page: Page, sum: string): Promise<void> {
  await expect(payButton(page)).toHaveText(`Join the Sun${sum}`);
  await expect(payButton(page)).toBeEnabled();
  await payButton(page).click();
}

export const expectThanks = (page: Page): Promise<void> => expect(page).toHaveURL(/\/thankyou$/);

interface Kept {
  readonly id: string;
  readonly [field: string]: unknown;
}

/** What the sandbox's Stripe stores about a reader. */
export interface Account {
  readonly customer: Kept;
  readonly subscriptions: readonly Kept[];
  /** Charges that went through. */
  readonly charges: readonly Kept[];
  readonly invoices: readonly Kept[];
}

/** @param stripe address of its API; the world's unless given */
export async function stripeAccount(email: string, stripe = testSandbox().stripe.apiUrl): Promise<Account> {
  const state = (await (await fetch(`${stripe}/_sandbox/state`)).json()) as Record<string, Kept[]>;
  const customers = (state.customer ?? []).filter((one) => one.email === email);
  expect(customers, 'customers with this address').toHaveLength(1);
  const [customer] = customers as [Kept];
  const of = (kind: string) => (state[kind] ?? []).filter((one) => one.customer === customer.id);
  return {
    customer,
    subscriptions: of('subscription').filter(({ status }) => status !== 'incomplete_expired'),
    charges: of('charge').filter(({ status }) => status === 'succeeded'),
    invoices: of('invoice'),
  };
}

/** Expects that the reader paid this amount, once, and has one subscription. @param cents the total charged */
export async function expectPaidOnce(email: string, cents: number): Promise<void> {
  const { subscriptions, charges } = await stripeAccount(email);
  const running = subscriptions.filter(({ status }) => status === 'active' || status === 'trialing');
  expect(running).toHaveLength(1);
  expect(charges.map(({ amount }) => amount)).toEqual(cents === 0 ? [] : [cents]);
}

/** Makes a call to the sandbox's Stripe outside its API (sandbox/stripe/controls.ts). */
export async function controlStripe(
  path: string,
  body: object,
  stripe = testSandbox().stripe.apiUrl,
  method = 'POST',
): Promise<unknown> {
  const answer = await fetch(`${stripe}/_sandbox/${path}`, { method, body: JSON.stringify(body) });
  expect(answer.ok, await answer.clone().text()).toBe(true);
  return answer.json();
}
