/** Paying with a card: each plan, each card, the bank's question, coupons, the printed paper (spec sections 2 and 4). */
import {
  answerBank,
  applyCoupon,
  cardFields,
  cards,
  enterEmail,
  expectPaidOnce,
  expectThanks,
  failure,
  fillAddress,
  fillCard,
  join,
  openPaywall,
  payButton,
  sheet,
  step,
  stripeAccount,
} from '../world/checkout.ts';
import { expect, newEmail, signIn, test } from '../world/readers.ts';

for (const [plan, sum, cents] of [
  ['reader-monthly', '$12', 1200],
  ['reader-yearly', '$120', 12_000],
  ['member-monthly', '$20', 2000],
  ['member-yearly', '$200', 20_000],
] as const) {
  test(`a new reader pays for ${plan}`, async ({ page }) => {
    const email = newEmail();
    await openPaywall(page, plan, plan.startsWith('member') ? '/membership' : '/pricing');
    await enterEmail(page, email);
    await expect(step(page, 'payment').getByText('You may cancel your subscription at any time.')).toBeVisible();
    await expect(step(page, 'payment').getByText('Total due after renewal')).toBeVisible();
    await expect(step(page, 'payment').getByText('Renewal date')).toBeVisible();
    await expect(payButton(page)).toBeDisabled();
    await fillCard(page, cards.good);
    await join(page, sum);
    await expectThanks(page);
    await expectPaidOnce(email, cents);
    const session = await page.context().request.get('/api/v1/me/subscription');
    expect(await session.json()).toMatchObject({ subscription: { planId: plan, status: 'active' } });
  });
}

test('the penny promotion states its terms word for word, and charges 60 cents', async ({ page }) => {
  const email = newEmail();
  await openPaywall(page, 'reader-penny');
  await expect(page.getByRole('dialog', { name: 'Read the Sun for a PENNY A DAY' })).toBeVisible();
  await expect(sheet(page).getByText('$0.01/Day', { exact: true })).toBeVisible();
  await expect(sheet(page).getByText('Full dues ($120/year) billed after 60 days', { exact: true })).toBeVisible();
  await enterEmail(page, email);
  await fillCard(page, cards.good);
  await join(page, '$0.60');
  await expectThanks(page);
  await expectPaidOnce(email, 60);
});

test('the print plan asks for a shipping address first, in three steps', async ({ page }) => {
  const email = newEmail();
  await openPaywall(page, 'member-print-yearly', '/print');
  await enterEmail(page, email);
  await expect(page.getByRole('heading', { name: 'Step 2 of 3: Shipping' })).toBeFocused();
  await expect(step(page, 'shipping').locator('button[type="submit"]')).toBeDisabled();
  await fillAddress(page);
  await step(page, 'shipping').getByRole('button', { name: 'Continue' }).click();
  await expect(page.getByRole('heading', { name: 'Step 3 of 3: Payment' })).toBeFocused();
  await expect(step(page, 'shipping').getByText('Benjamin Day, 222 William Street, New York')).toBeVisible();
  await fillCard(page, cards.mastercard);
  await join(page, '$280');
  await expectThanks(page);
  await expectPaidOnce(email, 28_000);
  const { shipping } = (await (await page.context().request.get('/api/v1/me/shipping')).json()) as {
    shipping: { address: object };
  };
  expect(shipping.address).toMatchObject({ line1: '222 William Street', city: 'New York', state: 'NY', country: 'US' });
});

test.describe('a refused card', () => {
  for (const [name, card, said] of [
    ['declined', cards.declined, 'Your card was declined.'],
    ['insufficient funds', cards.empty, 'Your card has insufficient funds.'],
    ['expired', cards.expired, 'Your card has expired.'],
    ['wrong security code', cards.wrongCode, /security code is incorrect/],
    ['processing error', cards.broken, /error occurred while processing your card/],
  ] as const) {
    test(`shows a message, and another card then pays once (${name})`, async ({ context, page }) => {
      const email = await signIn(context);
      await openPaywall(page, 'reader-monthly');
      await expect(page.getByRole('heading', { name: 'Step 2 of 2: Payment' })).toBeFocused();
      await fillCard(page, card);
      await join(page, '$12');
      await expect(step(page, 'payment').getByRole('alert').filter({ hasText: failure })).toBeVisible();
      await expect(step(page, 'payment').getByRole('alert').filter({ hasText: said })).toBeVisible();
      await fillCard(page, cards.good);
      await join(page, '$12');
      await expectThanks(page);
      await expectPaidOnce(email, 1200);
    });
  }

  test('with an invalid number cannot be submitted', async ({ context, page }) => {
    await signIn(context);
    await openPaywall(page, 'reader-monthly');
    await fillCard(page, cards.noCard);
    await expect(cardFields(page).getByText(/card number is invalid/i)).toBeVisible();
    await expect(payButton(page)).toBeDisabled();
  });
});

test.describe('the bank’s confirmation', () => {
  for (const [name, card] of [
    ['a card that always requires it', cards.asks],
    ['a card that requires it unless it was set up before', cards.asksUnlessKept],
  ] as const) {
    test(`completes the payment with ${name}`, async ({ context, page }) => {
      const email = await signIn(context);
      await openPaywall(page, 'reader-yearly');
      await fillCard(page, card);
      await join(page, '$120');
      await answerBank(page, 'Complete');
      await expectThanks(page);
      await expectPaidOnce(email, 12_000);
    });
  }

  test('when it fails leaves nothing charged, and another card then pays', async ({ context, page }) => {
    const email = await signIn(context);
    await openPaywall(page, 'reader-yearly');
    await fillCard(page, cards.asks);
    await join(page, '$120');
    await answerBank(page, 'Fail');
    await expect(step(page, 'payment').getByRole('alert').filter({ hasText: failure })).toBeVisible();
    expect((await stripeAccount(email)).charges).toEqual([]);
    await fillCard(page, cards.good);
    await join(page, '$120');
    await expectThanks(page);
    await expectPaidOnce(email, 12_000);
  });

  for (const [name, card] of [
    ['a decline', cards.asksThenDeclined],
    ['a decline for insufficient funds', cards.asksThenEmpty],
  ] as const) {
    test(`followed by ${name} leaves nothing charged`, async ({ context, page }) => {
      const email = await signIn(context);
      await openPaywall(page, 'reader-yearly');
      await fillCard(page, card);
      await join(page, '$120');
      await answerBank(page, 'Complete');
      await expect(step(page, 'payment').getByRole('alert').filter({ hasText: failure })).toBeVisible();
      expect((await stripeAccount(email)).charges).toEqual([]);
    });
  }
});

test.describe('a coupon', () => {
  test('that is valid lowers the price, and can be removed', async ({ context, page }) => {
    const email = await signIn(context);
    await openPaywall(page, 'reader-yearly');
    const apply = step(page, 'payment').getByRole('button', { name: 'Apply' });
    await expect(apply).toBeDisabled();
    await applyCoupon(page, 'SUNSHINE20');
    await expect(step(page, 'payment').getByText('SUNSHINE20 takes 20% off')).toBeVisible();
    await expect(step(page, 'payment').getByRole('button', { name: 'Remove' })).toBeFocused();
    await expect(payButton(page)).toHaveText('Join the Sun$96');
    await step(page, 'payment').getByRole('button', { name: 'Remove' }).click();
    await expect(payButton(page)).toHaveText('Join the Sun$120');
    await applyCoupon(page, 'SUNSHINE20');
    await fillCard(page, cards.good);
    await join(page, '$96');
    await expectThanks(page);
    await expectPaidOnce(email, 9600);
  });

  test('that is unknown or expired shows an error and does not lower the price', async ({ context, page }) => {
    await signIn(context);
    await openPaywall(page, 'reader-yearly');
    for (const [code, said] of [
      ['NOSUCHCODE', 'We don’t recognize this coupon. Check the spelling and try again.'],
      ['EXPIRED', 'This coupon has expired.'],
    ] as const) {
      await applyCoupon(page, code);
      await expect(step(page, 'payment').getByRole('alert').filter({ hasText: said })).toBeVisible();
      await expect(step(page, 'payment').getByLabel('Coupon')).toHaveValue(code);
      await expect(payButton(page)).toHaveText('Join the Sun$120');
    }
  });

  test('of 100 % charges nothing today, and saves the card', async ({ context, page }) => {
    const email = await signIn(context);
    await openPaywall(page, 'reader-yearly');
    await applyCoupon(page, 'FREEYEAR');
    await expect(step(page, 'payment').locator('[data-due]')).toHaveText('$0');
    await fillCard(page, cards.good);
    await join(page, '$0');
    await expectThanks(page);
    await expectPaidOnce(email, 0);
    const saved = async () => (await stripeAccount(email)).subscriptions.map((one) => one.default_payment_method);
    await expect.poll(saved).toEqual([expect.stringMatching(/^pm_/)]);
  });

  test('of 100 % also works with a card that needs the bank’s confirmation', async ({ context, page }) => {
    const email = await signIn(context);
    await openPaywall(page, 'reader-yearly');
    await applyCoupon(page, 'FREEYEAR');
    await fillCard(page, cards.asks);
    await join(page, '$0');
    await answerBank(page, 'Complete');
    await expectThanks(page);
    await expectPaidOnce(email, 0);
  });
});
