/** What operators are told about the domain that wallets need, against the strict stand-in. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { registerDomain } from '../../../../sandbox/stripe/wallets.ts';
import { siteUrl } from '../../../../tests/world/accounts.ts';
import { type BillingFixture, billingFixture } from '../../../../tests/world/billing.ts';
import { prepare } from '../../../../tests/world/databases.ts';

const engines = prepare('sqlite');
let site: BillingFixture;
beforeEach(async () => {
  site = await billingFixture(await engines.open());
});
afterEach(() => site.stop());

it('a running site reports that its domain is not registered for wallets, and still sells by card', async () => {
  expect(site.billing.stats().walletProblem).toBeNull();
  site.billing.start();
  await vi.waitFor(() => expect(site.billing.stats().walletProblem).toContain('paper.example is not registered'));
  const session = await site.readers.join('ada@example.com');
  const ask = { payment_method: 'pm_card_visa', product_id: 'sun-reader', plan_id: 'reader-yearly' };
  expect(await site.billing.subscribe(session, ask)).toMatchObject({ ok: true });
});

it('a wallet that Stripe rejects for the domain is reported with Stripe’s error', async () => {
  const { account } = site.stripe;
  registerDomain(account, new URL(siteUrl).hostname);
  const domain = [...account.store.all('payment_method_domain')].find((one) => one.domain_name === 'paper.example');
  if (!domain) throw new Error('nothing was registered');
  domain.apple_pay = { status: 'inactive', status_details: { error_message: 'The file was not found.' } };
  site.billing.start();
  await vi.waitFor(() => expect(site.billing.stats().walletProblem).toContain('Apple Pay: The file was not found.'));
  expect(site.billing.stats().walletProblem).not.toContain('Google Pay');
});
