import type Stripe from 'stripe';
import { expect, it, vi } from 'vitest';
import { findWalletProblem, registerDomain } from './wallets.server.ts';

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

function fixture(known: readonly object[], checked: object = domain()) {
  const domains = {
    list: vi.fn(async () => ({ data: known })),
    create: vi.fn(async () => domain()),
    update: vi.fn(async () => domain()),
    validate: vi.fn(async () => checked),
  };
  return { domains, stripe: { paymentMethodDomains: domains } as unknown as Stripe };
}

it('a new domain is registered for wallets once, and the result lists the active wallets', async () => {
  const fresh = fixture([]);
  expect(await registerDomain(fresh.stripe, 'https://thesun.example/')).toEqual({
    domain: 'thesun.example',
    active: ['Apple Pay', 'Google Pay', 'Link'],
    problems: [],
    registered: true,
  });
  expect(fresh.domains.create).toHaveBeenCalledExactlyOnceWith({ domain_name: 'thesun.example' });
  const known = fixture([domain()]);
  expect(await registerDomain(known.stripe, 'https://thesun.example')).toMatchObject({ registered: false });
  expect(known.domains.create).not.toHaveBeenCalled();
  expect(known.domains.validate).toHaveBeenCalledExactlyOnceWith('pmd_1');
});

it('a disabled domain is enabled, and the result gives Stripe’s error for each refused wallet', async () => {
  const apple_pay = { status: 'inactive', status_details: { error_message: 'The file could not be fetched.' } };
  const { stripe, domains } = fixture([domain({ enabled: false })], domain({ apple_pay }));
  expect(await registerDomain(stripe, 'https://thesun.example')).toMatchObject({
    active: ['Google Pay', 'Link'],
    problems: ['Apple Pay: The file could not be fetched.'],
  });
  expect(domains.update).toHaveBeenCalledExactlyOnceWith('pmd_1', { enabled: true });
});

it.each([
  ['a registered domain', [domain()], null],
  [
    'an unregistered domain',
    [],
    expect.stringContaining('thesun.example is not registered for wallets: add it in Stripe'),
  ],
  ['a domain that is turned off', [domain({ enabled: false })], expect.stringContaining('turned off')],
  [
    'a domain that a wallet refuses',
    [domain({ link: { status: 'inactive', status_details: { error_message: 'No answer.' } } })],
    expect.stringContaining('Link: No answer.: let Stripe reach thesun.example'),
  ],
])(
  'the wallet check reports the problem, if any, of %s, and changes nothing at Stripe',
  async (_what, known, problem) => {
    const { stripe, domains } = fixture(known);
    expect(await findWalletProblem(stripe, 'https://thesun.example')).toEqual(problem);
    expect(domains.list).toHaveBeenCalledExactlyOnceWith({ domain_name: 'thesun.example', limit: 1 });
    for (const change of [domains.create, domains.update, domains.validate]) expect(change).not.toHaveBeenCalled();
  },
);

it('a site without https has no wallets and reports no problem', async () => {
  const { stripe, domains } = fixture([]);
  expect(await findWalletProblem(stripe, 'http://127.0.0.1:4321')).toBeNull();
  expect(domains.list).not.toHaveBeenCalled();
});
