/** A certified consent platform in place of our banner: IAB Tech Lab's CMP API, as a reader gives, changes and withdraws consent. */
import type { Page } from '@playwright/test';
import { banner, test as base, expect } from '../world/third-parties.ts';

const test = base.extend({ visited: ({ platform }, use) => use(platform) });
// In one worker, so that the file's site starts once.
test.describe.configure({ mode: 'default' });

const choiceOf = async (page: Page) =>
  (await page.context().cookies()).find(({ name }) => name === 'privacy-choices')?.value;
const dialog = (page: Page) => page.getByRole('dialog', { name: 'Consent platform' });
const answer = (page: Page, name: string) => dialog(page).getByRole('button', { name }).click();
const marketing = ['growsurf', 'onesignal'];
const measurement = ['gtm', 'marfeel'];

test('the consent platform asks instead of our banner, and nothing loads until the reader accepts', async ({
  page,
  vendors,
  troubles,
}) => {
  await page.goto('/about');
  await expect(dialog(page)).toBeVisible();
  await expect(banner(page)).toBeHidden();
  expect(await vendors.scripts()).toEqual(['cmp']);
  expect(await choiceOf(page)).toBeUndefined();
  await answer(page, 'Accept everything');
  await expect.poll(() => choiceOf(page)).toBe('1.measurement.marketing.advertising');
  await expect
    .poll(async () => (await vendors.scripts()).toSorted())
    .toEqual(['cmp', ...marketing, ...measurement].toSorted());
  // Since TCF 2.3 a TC string names the vendors that were disclosed to the reader.
  const told = async () => (await vendors.calls('cmp')).find(({ what }) => what === 'answered')?.details;
  await expect.poll(told).toMatchObject({ segments: 3 });
  // The next page doesn't ask, and knows the answer.
  await page.goto('/print');
  await page.goto('/about');
  await expect(page.getByRole('button', { name: 'Consent settings' })).toBeVisible();
  await expect(dialog(page)).toBeHidden();
  expect(await choiceOf(page)).toBe('1.measurement.marketing.advertising');
  expect(troubles.all).toEqual([]);
});

test('a refusal and a partial answer in the consent platform are obeyed', async ({ page, vendors }) => {
  await page.goto('/about');
  await answer(page, 'Refuse everything');
  await expect.poll(() => choiceOf(page)).toBe('1');
  expect(await vendors.scripts()).toEqual(['cmp']);
  await page.getByRole('button', { name: 'Consent settings' }).click();
  await answer(page, 'Statistics only');
  await expect.poll(() => choiceOf(page)).toBe('1.measurement');
  await expect.poll(async () => (await vendors.scripts()).toSorted()).toEqual(['cmp', ...measurement]);
});

test('consent withdrawn in the consent platform ends on this page and on the next', async ({ page, vendors }) => {
  await page.goto('/about');
  await answer(page, 'Accept everything');
  await expect.poll(async () => (await vendors.calls('gtm')).some(({ what }) => what === 'page_view')).toBe(true);
  // Waits for all scripts: those still loading when consent is withdrawn would arrive after it.
  await expect
    .poll(async () => (await vendors.scripts()).toSorted())
    .toEqual(['cmp', ...marketing, ...measurement].toSorted());
  await page.getByRole('button', { name: 'Consent settings' }).click();
  await answer(page, 'Refuse everything');
  await expect.poll(() => choiceOf(page)).toBe('1');
  const denied = async () => (await vendors.calls('gtm')).findLast(({ what }) => what === 'consent update')?.details;
  await expect.poll(denied).toMatchObject({ analytics_storage: 'denied', ad_storage: 'denied' });
  const before = (await vendors.scripts()).filter((vendor) => vendor !== 'cmp').length;
  await page.goto('/about');
  await expect(page.getByRole('button', { name: 'Consent settings' })).toBeVisible();
  expect((await vendors.scripts()).filter((vendor) => vendor !== 'cmp')).toHaveLength(before);
});

test('consent withdrawn on our page stays withdrawn until the reader answers the consent platform again', async ({
  page,
}) => {
  await page.goto('/about');
  await answer(page, 'Accept everything');
  await expect.poll(() => choiceOf(page)).toBe('1.measurement.marketing.advertising');
  await page.goto('/privacy-choices');
  await page.getByRole('checkbox', { name: 'Measurement' }).uncheck();
  await page.getByRole('button', { name: 'Save my choices' }).click();
  await expect(page.getByRole('status')).toBeVisible();
  await page.goto('/about');
  await expect(page.getByRole('button', { name: 'Consent settings' })).toBeVisible();
  expect(await choiceOf(page)).toBe('1.marketing.advertising');
  await page.getByRole('button', { name: 'Consent settings' }).click();
  await answer(page, 'Accept everything');
  await expect.poll(() => choiceOf(page)).toBe('1.measurement.marketing.advertising');
});

test('Global Privacy Control turns off marketing and advertising despite the consent platform’s answer', async ({
  context,
  page,
  vendors,
}) => {
  await context.addInitScript(() =>
    Object.defineProperty(Navigator.prototype, 'globalPrivacyControl', { value: true }),
  );
  await page.goto('/about');
  await answer(page, 'Accept everything');
  await expect.poll(() => choiceOf(page)).toBe('1.measurement.gpc');
  await expect.poll(async () => (await vendors.scripts()).toSorted()).toEqual(['cmp', ...measurement]);
});

test('our banner asks where the IAB consent framework does not apply', async ({ page, vendors }) => {
  await vendors.mode('cmp', 'empty');
  await page.goto('/about');
  await expect(banner(page)).toBeVisible();
  await expect(dialog(page)).toHaveCount(0);
  await banner(page).getByRole('button', { name: 'Accept all' }).click();
  await expect.poll(() => choiceOf(page)).toBe('1.measurement.marketing.advertising');
  await page.goto('/about');
  await expect.poll(async () => (await vendors.scripts()).filter((vendor) => vendor === 'cmp').length).toBe(2);
  expect(await choiceOf(page)).toBe('1.measurement.marketing.advertising');
});

for (const mode of ['blocked', 'error', 'slow'] as const) {
  test(`a consent platform that does not load (${mode}) allows nothing and breaks nothing`, async ({
    page,
    vendors,
    troubles,
  }) => {
    await vendors.mode('cmp', mode);
    await page.goto('/about');
    await expect.poll(() => vendors.scripts()).toEqual(['cmp']);
    await expect(banner(page)).toBeHidden();
    expect(await choiceOf(page)).toBeUndefined();
    await page.goto('/privacy-choices');
    await page.getByRole('button', { name: 'Accept all' }).click();
    await expect(page.getByRole('status')).toBeVisible();
    await expect.poll(() => choiceOf(page)).toBe('1.measurement.marketing.advertising');
    expect(troubles.all).toEqual([]);
  });
}
