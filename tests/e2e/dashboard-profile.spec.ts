/** What readers tell about themselves, and where the printed paper goes (spec sections 2 to 5, "Account dashboard"). */
import { violationsOn } from '../world/axe.ts';
import { intercept } from '../world/intercept.ts';
import { expect, newEmail, profileOf, signIn, test } from '../world/readers.ts';
import { testSite } from '../world/world.ts';

test('the profile is saved and copied to localStorage until sign-out, and a failed save shows a notice', async ({
  context,
  page,
}) => {
  const email = await signIn(context, newEmail('profile'));
  await page.goto('/dashboard/profile');
  expect(await violationsOn(page)).toEqual([]);
  await page.getByLabel('First name').fill('Ada');
  await page.getByLabel('Last name').fill('Whitlock');
  await page.getByLabel('Date of birth').fill('1990-05-04');
  const phone = page.getByLabel('Phone');
  await phone.click();
  await page.keyboard.type('212555018');
  await expect(phone).toHaveValue('+1 (212) 555-018');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('alert').filter({ hasText: 'Invalid phone number' })).toBeVisible();
  await expect(phone).toBeFocused();
  expect(await violationsOn(page, 'main')).toEqual([]);
  await page.keyboard.press('End');
  await page.keyboard.type('3');
  await expect(phone).toHaveValue('+1 (212) 555-0183');
  // In the middle of the text the caret stays in place.
  for (let step = 0; step < 4; step++) await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('Backspace');
  await page.keyboard.type('6');
  await expect(phone).toHaveValue('+1 (212) 556-0183');

  await intercept(page, '**/blaize/profile', (route) => route.abort());
  await page.keyboard.press('Enter');
  await expect(page.getByRole('status').filter({ hasText: /(couldn’t|didn’t) save your profile/ })).toBeVisible();
  await expect(page.getByRole('alert').filter({ hasText: /\S/ })).toHaveCount(0);
  expect(await page.evaluate(() => localStorage.getItem('trackingId'))).toBeNull();
  await page.unroute('**/blaize/profile');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('status').filter({ hasText: 'Your profile has been saved.' })).toBeVisible();
  expect(await profileOf(context)).toMatchObject({
    first_name: 'Ada',
    last_name: 'Whitlock',
    'phone-number': '12125560183',
    date_of_birth: '1990-05-04',
  });
  const account = (await (await context.request.get('/blaize/account')).json()) as { tracking_id: string };
  const copies = () => page.evaluate(() => ({ ...localStorage }));
  expect(await copies()).toMatchObject({
    address: '',
    firstName: 'Ada',
    lastName: 'Whitlock',
    email,
    username: 'Ada',
    phone: '12125560183',
    birthday: '1990-05-04',
    token: account.tracking_id,
    trackingId: account.tracking_id,
  });

  // The next person at this browser may be another reader.
  await page.locator('main').getByRole('button', { name: 'Sign out' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('You’re signed out');
  await expect.poll(async () => Object.keys(await copies())).not.toContain('email');
});

test('the Shipping tab appears only for plans with the print edition, and the address is changed in place', async ({
  context,
  page,
}) => {
  await signIn(context, newEmail('paper'));
  await page.goto('/dashboard/profile');
  const tabs = page.getByRole('navigation', { name: 'Account' });
  await expect(tabs.getByRole('link', { name: 'Newsletters' })).toBeVisible();
  await expect(tabs.getByRole('link', { name: 'Shipping' })).toHaveCount(0);
  await page.goto('/dashboard/shipping');
  await expect(page.locator('main')).toContainText('doesn’t include the print edition');

  const headers = { origin: testSite() };
  const address = { line1: '222 William Street', city: 'New York', state: 'NY', postal_code: '10038', country: 'US' };
  await context.request.post('/api/v1/me/shipping', { headers, data: { name: 'Benjamin Day', address } });
  const bought = await context.request.post('/blaize/payment/stripe/subscribe', {
    headers,
    data: { payment_method: 'pm_card_visa', product_id: 'sun-member', plan_id: 'member-print-yearly' },
  });
  expect(bought.status(), await bought.text()).toBe(200);

  await page.goto('/dashboard/account');
  await tabs.getByRole('link', { name: 'Shipping' }).click();
  await expect(page.locator('main address')).toContainText('222 William Street');
  await page.getByRole('button', { name: 'Update Shipping Address' }).click();
  await expect(page.getByLabel('Name')).toBeFocused();
  await page.getByLabel(/^Apartment/).fill('Attic');
  await page.getByRole('button', { name: 'Save address' }).click();
  await expect(page.getByRole('status').filter({ hasText: 'Your shipping address has been saved.' })).toBeVisible();
  await expect(page.locator('main address')).toContainText('Attic');
  await expect(page).toHaveURL(/\/dashboard\/shipping$/);
  expect(await violationsOn(page)).toEqual([]);
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('the profile and the newsletter choices are saved with plain forms', async ({ context, page }) => {
    await signIn(context, newEmail('profile'));
    await page.goto('/dashboard/profile');
    await page.getByLabel('First name').fill('Ada');
    await page.getByLabel('Phone').fill('2125550183');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByText('Invalid phone number')).toBeVisible();
    await page.getByLabel('First name').fill('Ada');
    await page.getByLabel('Phone').fill('1 212 555 0183');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByText('Your profile has been saved.')).toBeVisible();
    await expect(page.getByLabel('Phone')).toHaveValue('+1 (212) 555-0183');

    await page.getByRole('navigation', { name: 'Account' }).getByRole('link', { name: 'Newsletters' }).click();
    await page.getByLabel('Morning Sun').check();
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByText('Your choices are saved.')).toBeVisible();
    await expect(page.getByLabel('Morning Sun')).toBeChecked();
    await expect(page.getByLabel('Receipts and renewal notices')).toBeDisabled();
  });
});
