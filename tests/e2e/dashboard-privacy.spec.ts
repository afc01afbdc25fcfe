/** Delivery of newsletters, sessions, stored data and its deletion (spec sections 2, 6 and 7; RFC 8058). */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { root } from '../../scripts/setup/places.mjs';
import { violationsOn } from '../world/axe.ts';
import { intercept } from '../world/intercept.ts';
import { expect, lettersTo, newEmail, signIn, signInByMail, test } from '../world/readers.ts';
import { siteData, testSandbox, testSite } from '../world/world.ts';

/** Runs `npm run newsletter -- morning` on the site's data, as cron does while the site runs. */
async function sendMorning(): Promise<string> {
  // A newsletter is sent once a day, and an earlier run may have sent today's.
  const accounts = new DatabaseSync(join(siteData, 'accounts.sqlite'), { timeout: 60_000 });
  accounts.exec("DELETE FROM newsletter_issues WHERE letter = 'morning'");
  accounts.close();
  const { smtpUrl } = testSandbox().mailbox;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    // Without `npm run`'s entry script, which would first check whether everything is installed.
    ['--input-type=module', '-e', "process.exit(await (await import('./scripts/newsletter.ts')).run(['morning']))"],
    {
      cwd: root,
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        SITE_URL: testSite(),
        DATA_DIR: siteData,
        SMTP_URL: smtpUrl,
        MAIL_FROM: 'The Sun <news@thesun.example>',
      },
    },
  );
  return stdout;
}

test('a reader chooses a newsletter, receives it, and unsubscribes with one click in the mail program', async ({
  context,
  page,
}) => {
  const email = await signIn(context, newEmail('morning'));
  await page.goto('/dashboard/newsletters');
  expect(await violationsOn(page)).toEqual([]);
  await page.getByLabel('Morning Sun').click();
  await expect(page.getByLabel('Morning Sun')).toBeChecked();
  await expect(page.getByText('Not saved yet.')).toBeVisible();
  await intercept(page, '**/api/v1/me/newsletters', (route) => route.abort());
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('alert').filter({ hasText: 'couldn’t reach the server' })).toBeVisible();
  await page.unroute('**/api/v1/me/newsletters');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Your choices are saved.')).toBeVisible();

  expect(await sendMorning()).toMatch(/\d+ readers?: sent/);
  await expect.poll(async () => (await lettersTo(email))[0]?.subject, { timeout: 60_000 }).toMatch(/^Morning Sun: /);
  const [summary] = await lettersTo(email);
  const whole = await fetch(`${testSandbox().mailbox.url}/api/messages/${summary?.number}`);
  const { headers } = (await whole.json()) as { headers: readonly { name: string; value: string }[] };
  const header = (wanted: string) => headers.find(({ name }) => name.toLowerCase() === wanted)?.value ?? '';
  expect(header('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
  const [, way = ''] = /^<(http[^>]+)>$/.exec(header('list-unsubscribe')) ?? [];

  await page.goto(way);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Unsubscribe from Morning Sun?');
  expect(await violationsOn(page)).toEqual([]);
  const choices = async () => (await context.request.get('/api/v1/me/newsletters')).json();
  expect(await choices()).toEqual({ choices: ['morning'] });
  // The mail program sends no cookies and no origin.
  const ended = await fetch(way, { method: 'POST', body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) });
  expect([ended.status, await choices()]).toEqual([200, { choices: [] }]);
  await page.getByRole('button', { name: 'Unsubscribe' }).click();
  await page.getByRole('button', { name: /^That was a mistake/ }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('You’re subscribed again');
  expect(await choices()).toEqual({ choices: ['morning'] });
});

test('signing out everywhere ends the sessions on all devices', async ({ context, page, newDevice }) => {
  const email = await signIn(context, newEmail('devices'));
  const phone = await newDevice();
  await signInByMail(phone, email, 'login');
  await page.goto('/dashboard/privacy');
  const sessions = page.locator('#sessions');
  await expect(sessions.getByRole('listitem')).toHaveCount(2);
  await expect(sessions.getByText('This device')).toHaveCount(1);
  expect(await violationsOn(page)).toEqual([]);
  await intercept(page, '**/blaize/logout', (route) => route.abort());
  await sessions.getByRole('button', { name: 'Sign out everywhere' }).click();
  await expect(sessions.getByRole('alert').filter({ hasText: 'couldn’t reach the server' })).toBeVisible();
  await page.unroute('**/blaize/logout');
  const asked = page.waitForRequest('**/blaize/logout');
  await sessions.getByRole('button', { name: 'Sign out everywhere' }).click();
  expect((await asked).postDataJSON()).toEqual({ where: 'EVERYWHERE' });
  await expect(page).toHaveURL(/\/account\/signed-out$/);
  expect((await phone.request.get('/blaize/account')).status()).toBe(401);
});

test('an account is deleted only when its address is typed, and the page says what happens to the subscription', async ({
  context,
  page,
}) => {
  const email = await signIn(context, newEmail('leaving'));
  const bought = await context.request.post('/blaize/payment/stripe/subscribe', {
    headers: { origin: testSite() },
    data: { payment_method: 'pm_card_visa', product_id: 'sun-reader', plan_id: 'reader-monthly' },
  });
  expect(bought.status(), await bought.text()).toBe(200);
  await page.goto('/dashboard/privacy');
  const end = page.locator('#delete');
  await expect(end).toContainText('ends at once. Nothing more is charged');
  await expect(end.getByRole('link', { name: 'Cancel the subscription first' })).toHaveAttribute('href', '/cancel');
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download my data' }).click(),
  ]);
  expect(file.suggestedFilename()).toBe('your-account.json');

  await end.getByRole('textbox').fill('somebody@example.com');
  await page.keyboard.press('Enter');
  await expect(end.getByRole('alert').filter({ hasText: 'Nothing was deleted.' })).toBeVisible();
  expect(await violationsOn(page)).toEqual([]);
  await end.getByRole('textbox').fill(email);
  await end.getByRole('button', { name: 'Delete my account' }).click();
  await expect(page).toHaveURL(/\/account\/deleted$/);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Your account is deleted');
  expect((await context.request.get('/blaize/account')).status()).toBe(401);
  expect(await violationsOn(page)).toEqual([]);
});
