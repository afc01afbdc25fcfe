import type Stripe from 'stripe';
import { expect, it, vi } from 'vitest';
import { registerDomain } from './payment-domains.server.ts';

const active = { status: 'active' };
const domain = (change: object = {}) => ({
  id: 'pmd_1',
  object: 'payment_method_domain',
  domain_name: 'thesun.example',
  enabled: true,
  apple_pay: active,
  google_pay: active,
  link: active,
  ...change,
});

function bench(known: readonly object[], checked: object = domain()) {
  const domains = {
    list: vi.fn(async () => ({ data: known })),
    create: vi.fn(async () => domain()),
    update: vi.fn(async () => domain()),
    validate: vi.fn(async () => checked),
  };
  return { domains, stripe: { paymentMethodDomains: domains } as unknown as Stripe };
}

it('registers a domain once, and says which wallets it may show', async () => {
  const fresh = bench([]);
  expect(await registerDomain(fresh.stripe, 'https://thesun.example/')).toEqual({
    domain: 'thesun.example',
    active: ['Apple Pay', 'Google Pay', 'Link'],
    problems: [],
    registered: true,
  });
  expect(fresh.domains.create).toHaveBeenCalledExactlyOnceWith({ domain_name: 'thesun.example' });
  const known = bench([domain()]);
  expect(await registerDomain(known.stripe, 'https://thesun.example')).toMatchObject({ registered: false });
  expect(known.domains.create).not.toHaveBeenCalled();
  expect(known.domains.validate).toHaveBeenCalledExactlyOnceWith('pmd_1');
});

it('switches one on that is off, and says what Stripe says against it', async () => {
  const apple_pay = { status: 'inactive', status_details: { error_message: 'The file could not be fetched.' } };
  const { stripe, domains } = bench([domain({ enabled: false })], domain({ apple_pay }));
  expect(await registerDomain(stripe, 'https://thesun.example')).toMatchObject({
    active: ['Google Pay', 'Link'],
    problems: ['Apple Pay: The file could not be fetched.'],
  });
  expect(domains.update).toHaveBeenCalledExactlyOnceWith('pmd_1', { enabled: true });
});
