import { defineConfig } from '@playwright/test';
import { browserFromEnvironment } from './scripts/browser.ts';

/**
 * Browser tests against a built site on the sandbox's WordPress. Which browser, is found by `scripts/browser.ts`; run them
 * with `npm test -- browser`.
 */
const browser = browserFromEnvironment(process.env);

/** Tests on a site with settings of its own (readers.ts). One worker runs all of them, so that each of these sites starts once. */
const ownSites =
  '**/{ads,cancel,checkout-later,checkout-tax,consent,consent-platform,csp-reports,currencies,dashboard-subscription,front-packages,front-screen,large-text,prerender,sound,third-parties,vitals}.spec.ts';

export default defineConfig({
  testDir: 'tests/e2e',
  outputDir: 'test-results',
  globalSetup: './tests/world/browser-setup.ts',
  fullyParallel: true,
  forbidOnly: true,
  retries: 0,
  // Most of a test is waiting: for the network to be idle, for mail, for a frame. Four workers keep two cores busy.
  workers: 4,
  // Limits are for what hangs: a test that takes ten seconds on a desktop takes fifty where others share its cores.
  timeout: 180_000,
  expect: { timeout: 30_000 },
  projects: [
    { name: 'own sites', testMatch: ownSites, workers: 1 },
    { name: 'shared site', testIgnore: ownSites },
  ],
  reporter: [['list']],
  use: {
    browserName: 'chromium',
    // Set by `npm test` or, when Playwright is run by itself, by the global set-up.
    baseURL: process.env.BROADSHEET_TEST_SITE ?? 'http://127.0.0.1:14321',
    launchOptions: { args: [...browser.args], ...(browser.path && { executablePath: browser.path }) },
    serviceWorkers: 'block',
    screenshot: 'only-on-failure',
    // A trace of each test makes all of them a fifth slower; `npx playwright test --trace on` has one of those that failed.
    trace: 'off',
  },
});
