/** What may go wrong on the way to a subscription: two tabs, going back, broken connections, timeouts. No reader pays twice. */
import type { Page, Route } from '@playwright/test';
import {
  applyCoupon,
  cardFields,
  cards,
  enterEmail,
  expectPaidOnce,
  expectThanks,
  failure,
  fillCard,
  join,
  openPaywall,
  payButton,
  sheet,
  step,
  stripeAccount,
} from '../world/checkout.ts';
import { intercept } from '../world/intercept.ts';
import { expect, newEmail, signIn, test } from '../world/readers.ts';

const subscribe = '**/blaize/payment/stripe/subscribe';
const alert = (page: Page, text: string | RegExp) => step(page, 'payment').getByRole('alert').filter({ hasText: text });
const unreachable = 'We couldn’t reach the server. Check your connection and try again.';

test('a double click followed by Enter makes one payment', async ({ context, page }) => {
  const email = await signIn(context);
  await openPaywall(page, 'reader-monthly');
  await fillCard(page, cards.good);
  await expect(payButton(page)).toHaveText('Join the Sun$12');
  let sent = 0;
  page.on('request', (request) => {
    if (request.url().endsWith('/stripe/subscribe')) sent++;
  });
  await payButton(page).dblclick();
  await page.keyboard.press('Enter');
  await expectThanks(page);
  expect(sent).toBe(1);
  await expectPaidOnce(email, 1200);
});

test('two tabs that pay at the same moment charge once, and both thank the reader', async ({ context, page }) => {
  const email = await signIn(context);
  const other = await context.newPage();
  for (const tab of [page, other]) {
    await openPaywall(tab, 'reader-monthly');
    await fillCard(tab, cards.good);
    await expect(payButton(tab)).toHaveText('Join the Sun$12');
    await expect(payButton(tab)).toBeEnabled();
  }
  // Pressed at the same moment, although only one tab has the focus.
  await Promise.all([page, other].map((tab) => payButton(tab).evaluate((button: HTMLElement) => button.click())));
  await Promise.all([expectThanks(page), expectThanks(other)]);
  await expectPaidOnce(email, 1200);
});

test('a tab that was left open thanks the reader, too, when another tab has paid', async ({ context, page }) => {
  const email = await signIn(context);
  const other = await context.newPage();
  await openPaywall(other, 'reader-monthly');
  await openPaywall(page, 'reader-monthly');
  await fillCard(page, cards.good);
  await join(page, '$12');
  await expectThanks(page);
  await expectThanks(other);
  await expectPaidOnce(email, 1200);
});

test('going back after a payment does not open the paywall again', async ({ context, page }) => {
  const email = await signIn(context);
  await openPaywall(page, 'reader-monthly');
  await fillCard(page, cards.good);
  await join(page, '$12');
  await expectThanks(page);
  await page.goBack();
  await expect(page).toHaveURL(/\/pricing/);
  // What the page does at its start is done.
  await page.waitForLoadState('networkidle');
  await expect(sheet(page)).toHaveCount(0);
  await expectPaidOnce(email, 1200);
});

test('a page that was left during a payment finds the payment when the paywall is opened again', async ({
  context,
  page,
}) => {
  const email = await signIn(context);
  await openPaywall(page, 'reader-monthly');
  await fillCard(page, cards.good);
  await expect(payButton(page)).toHaveText('Join the Sun$12');
  // The call takes effect, but its response never arrives.
  const done = Promise.withResolvers<void>();
  await intercept(page, subscribe, async (route) => {
    await route.fetch();
    done.resolve();
  });
  await payButton(page).click();
  await done.promise;
  await page.unroute(subscribe);
  await page.goto('/pricing');
  await page
    .locator('a[data-paywall]')
    .first()
    .evaluate((link) => {
      link.setAttribute('data-paywall', '{"planId":"reader-monthly"}');
      (link as HTMLElement).click();
    });
  await expectThanks(page);
  await expectPaidOnce(email, 1200);
});

test('everything typed except the card is restored after a reload', async ({ page }) => {
  const email = newEmail();
  await openPaywall(page, 'reader-yearly');
  await step(page, 'account').getByLabel('Email address').fill('nobody');
  await step(page, 'account').getByRole('button', { name: 'Continue' }).click();
  await expect(step(page, 'account').getByRole('alert')).not.toBeEmpty();
  await openPaywall(page, 'reader-yearly');
  await expect(step(page, 'account').getByLabel('Email address')).toHaveValue('nobody');
  await enterEmail(page, email);
  await applyCoupon(page, 'SUNSHINE20');
  await expect(payButton(page)).toHaveText('Join the Sun$96');
  await openPaywall(page, 'reader-yearly');
  await expect(step(page, 'account')).toContainText(email);
  await expect(payButton(page)).toHaveText('Join the Sun$96');
  await expect(cardFields(page).getByLabel('Card number')).toHaveValue('');
});

test.describe('a lost connection', () => {
  /** Breaks the connection of the next call to a path, after or before the call took effect. */
  const cut = (page: Page, path: string, after = false) =>
    intercept(
      page,
      path,
      async (route: Route) => {
        if (after) await route.fetch();
        await route.abort('connectionreset');
      },
      { times: 1 },
    );

  test('while the plans load shows a message, and the plans can be requested again', async ({ page }) => {
    await cut(page, '**/api/v1/checkout/plans');
    await page.goto('/pricing');
    await page.locator(`a[data-paywall*='"reader-yearly"']:visible`).first().click();
    await expect(page.getByRole('dialog').getByText(unreachable)).toBeVisible();
    await page.getByRole('dialog').getByRole('button', { name: 'Try again' }).click();
    await expect(step(page, 'account')).toBeVisible();
  });

  test('while the email address is sent leaves the address in the field', async ({ page }) => {
    const email = newEmail();
    await openPaywall(page, 'reader-yearly');
    await cut(page, '**/api/zephr-create');
    await enterEmail(page, email);
    await expect(step(page, 'account').getByRole('alert')).toHaveText(unreachable);
    await expect(step(page, 'account').getByLabel('Email address')).toHaveValue(email);
    await step(page, 'account').getByRole('button', { name: 'Continue' }).click();
    await expect(payButton(page)).toBeVisible();
  });

  test('while the total loads disables payment until the total is known', async ({ context, page }) => {
    await signIn(context);
    await cut(page, '**/api/v1/checkout/quote');
    await openPaywall(page, 'reader-yearly');
    await expect(alert(page, unreachable)).toBeVisible();
    await expect(payButton(page)).toBeDisabled();
    await step(page, 'payment').getByRole('button', { name: 'Try again' }).click();
    await expect(payButton(page)).toHaveText('Join the Sun$120');
  });

  test('while the card form’s script loads shows a message, and the script can be loaded again', async ({
    context,
    page,
  }) => {
    await signIn(context);
    await cut(page, '**/stripe.js');
    await openPaywall(page, 'reader-yearly');
    await expect(alert(page, 'The card form didn’t load.')).toBeVisible();
    await step(page, 'payment').getByRole('button', { name: 'Try again' }).click();
    await expect(cardFields(page).getByLabel('Card number')).toBeVisible();
  });

  for (const after of [false, true]) {
    test(`${after ? 'after' : 'before'} the payment took effect leads to a single charge`, async ({
      context,
      page,
    }) => {
      const email = await signIn(context);
      await openPaywall(page, 'reader-monthly');
      await fillCard(page, cards.good);
      await cut(page, subscribe, after);
      await join(page, '$12');
      if (!after) {
        await expect(alert(page, 'Your payment hasn’t gone through yet.')).toBeVisible();
        await expect(alert(page, 'you won’t be charged twice')).toBeVisible();
        await join(page, '$12');
      }
      await expectThanks(page);
      await expectPaidOnce(email, 1200);
    });
  }

  test('that lasts after the payment took effect shows a message, and there is one charge when it is back', async ({
    context,
    page,
  }) => {
    const email = await signIn(context);
    await openPaywall(page, 'reader-monthly');
    await fillCard(page, cards.good);
    await cut(page, subscribe, true);
    const away = (route: Route) => route.abort('internetdisconnected');
    await intercept(page, '**/api/v1/me/subscription', away);
    await join(page, '$12');
    await expect(alert(page, unreachable)).toBeVisible();
    await page.unroute('**/api/v1/me/subscription', away);
    await join(page, '$12');
    await expectThanks(page);
    await expectPaidOnce(email, 1200);
  });

  test('shows that the browser is offline, until it is online again', async ({ context, page }) => {
    await signIn(context);
    await openPaywall(page, 'reader-monthly');
    await expect(payButton(page)).toHaveText('Join the Sun$12');
    await context.setOffline(true);
    await expect(sheet(page).getByText('You’re offline. Everything you typed is saved.')).toBeVisible();
    await context.setOffline(false);
    await expect(sheet(page).getByText('You’re offline.')).toHaveCount(0);
  });

  test('while the paywall opens shows a message, and the paywall opens when the browser is online again', async ({
    context,
    page,
  }) => {
    await page.goto('/pricing');
    const asked = Promise.withResolvers<void>();
    const offline = Promise.withResolvers<void>();
    await intercept(
      page,
      '**/api/v1/checkout/plans',
      async (route) => {
        asked.resolve();
        await offline.promise;
        await route.abort('internetdisconnected');
      },
      { times: 1 },
    );
    await page.locator(`a[data-paywall*='"reader-yearly"']:visible`).first().click();
    await asked.promise;
    await context.setOffline(true);
    offline.resolve();
    const dialog = page.getByRole('dialog');
    await expect(dialog.getByText('You’re offline.')).toBeVisible();
    await expect(dialog.getByRole('button', { name: 'Try again' })).toBeVisible();
    await context.setOffline(false);
    await expect(step(page, 'account').getByLabel('Email address')).toBeVisible();
    await expect(dialog.getByText('You’re offline.')).toHaveCount(0);
  });
});

test('a 502 from the server shows an error, and the second try charges once', async ({ context, page }) => {
  const email = await signIn(context);
  await openPaywall(page, 'reader-monthly');
  await fillCard(page, cards.good);
  await intercept(page, subscribe, (route) => route.fulfill({ status: 502, body: '<h1>Bad gateway</h1>' }), {
    times: 1,
  });
  await join(page, '$12');
  await expect(alert(page, failure)).toBeVisible();
  await join(page, '$12');
  await expectThanks(page);
  await expectPaidOnce(email, 1200);
});

test('Escape pressed twice during a payment leaves the paywall open', async ({ context, page }) => {
  await signIn(context);
  await openPaywall(page, 'reader-monthly');
  await fillCard(page, cards.good);
  const asked = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  await intercept(page, subscribe, async (route) => {
    asked.resolve();
    await gate.promise;
    await route.fulfill({ status: 502, body: '<h1>Bad gateway</h1>' });
  });
  await join(page, '$12');
  await asked.promise;
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  gate.resolve();
  await expect(alert(page, failure)).toBeVisible();
});

test('a total that has changed is shown and must be accepted before it is charged', async ({ context, page }) => {
  const email = await signIn(context);
  await openPaywall(page, 'reader-monthly');
  await fillCard(page, cards.good);
  await expect(payButton(page)).toHaveText('Join the Sun$12');
  // As if the page had been told another amount.
  await intercept(
    page,
    subscribe,
    (route) => route.continue({ postData: JSON.stringify({ ...route.request().postDataJSON(), expected: 1100 }) }),
    { times: 1 },
  );
  await payButton(page).click();
  await expect(step(page, 'payment').getByText('The total is now $12. Please check it')).toBeVisible();
  expect((await stripeAccount(email)).charges).toEqual([]);
  await join(page, '$12');
  await expectThanks(page);
  await expectPaidOnce(email, 1200);
});
