/** The contact tab and the support form (spec sections 2, 4, 5, 7, 8 and 9). */
import { violationsOn } from '../world/axe.ts';
import { intercept } from '../world/intercept.ts';
import { dialog, expect, newEmail, signIn, test } from '../world/readers.ts';
import { testSandbox } from '../world/world.ts';

interface Letter {
  readonly subject: string;
  readonly text: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
}

/** Waits for the letter to the support inbox that contains this text. */
async function mailToInbox(words: string): Promise<Letter> {
  const query = new URLSearchParams({ to: 'support@thesun.example' });
  let found: Letter | undefined;
  await expect
    .poll(
      async () => {
        const answer = await fetch(`${testSandbox().mailbox.url}/api/messages?${query}`);
        const { messages } = (await answer.json()) as { messages: readonly Letter[] };
        found = messages.find(({ text }) => text.includes(words));
        return found !== undefined;
      },
      { timeout: 90_000 },
    )
    .toBe(true);
  return found as Letter;
}

test('the support form opens by keyboard, keeps its text when sending fails, and reaches the inbox on retry', async ({
  context,
  page,
}) => {
  const email = await signIn(context, newEmail('inbox'));
  // A Friday in New York, ten minutes before closing time.
  await page.clock.install({ time: '2026-11-20T21:50:00Z' });
  await page.goto('/dashboard/contact');
  const main = page.locator('main');
  for (const words of ['support@thesun.example', '+1 212 555 0183', 'Tips & Corrections', 'Jobs', 'YouTube'])
    await expect(main).toContainText(words);
  const here = page.locator('[data-support-hours]');
  // The last minute doesn't pass by itself, however long a check takes.
  await page.clock.pauseAt('2026-11-20T21:59:00Z');
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  await expect(here).toHaveText('We’re online now, until 5 p.m. ET.');
  await page.clock.runFor('01:00');
  await expect(here).toHaveText('We’re offline until Monday at 9 a.m. ET.');
  await page.clock.resume();
  expect(await violationsOn(page)).toEqual([]);

  const opener = page.getByRole('link', { name: 'Premium Support' });
  await opener.focus();
  await page.keyboard.press('Enter');
  await expect(dialog(page)).toContainText('How can we help?');
  await expect(dialog(page)).toContainText('Online weekdays 9 a.m. to 5 p.m. ET');
  await expect(dialog(page).getByLabel('Email')).toHaveValue(email);
  await dialog(page).getByRole('button', { name: 'Send' }).click();
  await expect(dialog(page).getByText('Please enter your name.')).toBeVisible();
  await expect(dialog(page).getByLabel('Name')).toBeFocused();
  expect(await violationsOn(page, 'dialog[open]')).toEqual([]);
  await page.keyboard.press('Escape');
  await expect(dialog(page)).toBeHidden();
  await expect(opener).toBeFocused();

  await opener.click();
  const words = `Where is my paper, ${email}?\n<script>alert(1)</script>`;
  await dialog(page).getByLabel('Name').fill('Ada Whitlock');
  await dialog(page).getByLabel('Phone').fill('212 555 0183');
  await dialog(page).getByLabel('Message').fill(words);
  await intercept(page, '**/api/forms/support', (route) => route.fulfill({ status: 503, json: { message: 'x' } }));
  await dialog(page).getByRole('button', { name: 'Send' }).click();
  await expect(dialog(page).getByText('There was an error submitting your message. Please try again.')).toBeVisible();
  await expect(dialog(page).getByLabel('Message')).toHaveValue(words);
  await page.unroute('**/api/forms/support');
  await dialog(page).getByRole('button', { name: 'Send' }).click();
  await expect(dialog(page).getByRole('status')).toHaveText(
    'Thank you. We’ve received your message, and a person will answer it.',
  );
  await expect(dialog(page).getByRole('button', { name: 'Send' })).toHaveCount(0);
  expect(await violationsOn(page, 'dialog[open]')).toEqual([]);

  const letter = await mailToInbox(`Where is my paper, ${email}?`);
  expect(letter.subject).toBe('Support: Ada Whitlock');
  expect(letter.headers.find(({ name }) => name.toLowerCase() === 'reply-to')?.value).toContain(email);
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('the support form works as a page, signed out too, and the dashboard’s Premium Support links to it', async ({
    context,
    page,
  }) => {
    await page.goto('/contact');
    await page.getByLabel('Name').fill('Ada Whitlock');
    await page.getByLabel('Email').fill('ada@example.com');
    await page.getByLabel('Phone').fill('12');
    await page.getByLabel('Message').fill('Where is my paper?');
    await page.getByRole('button', { name: 'Send' }).click();
    await expect(page.getByText('Invalid phone number')).toBeVisible();
    await expect(page.getByLabel('Message')).toHaveValue('Where is my paper?');
    await page.getByLabel('Phone').fill('212 555 0183');
    await page.getByRole('button', { name: 'Send' }).click();
    await expect(page.getByText('Thank you. We’ve received your message')).toBeVisible();
    await expect(page.getByRole('button', { name: 'Send' })).toHaveCount(0);

    await signIn(context, newEmail('inbox'));
    await page.goto('/dashboard/contact');
    await page.getByRole('link', { name: 'Premium Support' }).click();
    await expect(page).toHaveURL(/\/contact$/);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('How can we help?');
  });
});
