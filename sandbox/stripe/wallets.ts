/**
 * Which wallets' buttons Stripe.js draws on a page: those that the reader's browser has, on a registered domain (tests set which).
 */
import type { StripeAccount } from './core/account.ts';

/** The API's names, by those of Stripe.js. */
const wallets = { applePay: 'apple_pay', googlePay: 'google_pay', link: 'link' } as const;
type Wallet = keyof typeof wallets;

/** The API's names of every wallet whose state Stripe reports for a domain. */
const reportedWallets = ['amazon_pay', 'apple_pay', 'google_pay', 'klarna', 'link', 'paypal'];

/** A wallet's state for a domain, as the API reports it. */
export const walletStates = (enabled: boolean): Record<string, { readonly status: string }> =>
  Object.fromEntries(reportedWallets.map((wallet) => [wallet, { status: enabled ? 'active' : 'inactive' }]));

const settingId = 'wallets';
/** Chromium, as the tests run it, has no Apple Pay. */
const defaultWallets: Readonly<Record<Wallet, boolean>> = { applePay: false, googlePay: true, link: true };

const domainOf = ({ store }: StripeAccount, name: string) =>
  [...store.all('payment_method_domain')].find((one) => one.domain_name === name);

/** @param types payment method types that the elements allow; an empty list allows all */
export function walletsOf(account: StripeAccount, domain: string, types: readonly string[]): Record<string, boolean> {
  const registered = domainOf(account, domain);
  const has = {
    ...defaultWallets,
    ...(account.store.find('setting', settingId) as Partial<Record<Wallet, boolean>> | undefined),
  };
  const allows = (wallet: Wallet) => types.length === 0 || types.includes('card') || types.includes(wallet);
  const shown = (Object.entries(wallets) as [Wallet, string][]).map(([wallet, name]) => {
    const { status } = (registered?.[name] ?? {}) as { status?: string };
    return [wallet, has[wallet] && status === 'active' && allows(wallet)] as const;
  });
  // The other wallets need more than a card.
  return { amazonPay: false, klarna: false, paypal: false, ...Object.fromEntries(shown) };
}

/** Sets which wallets readers' browsers have. */
export function setWallets(account: StripeAccount, body: Readonly<Record<string, unknown>>): void {
  const unknown = Object.keys(body).filter((name) => !Object.hasOwn(wallets, name));
  if (unknown.length > 0) throw new Error(`There is no wallet ${unknown.join(', ')}.`);
  const setting = { id: settingId, object: 'setting', ...defaultWallets, ...body };
  account.transaction(() => {
    const known = account.store.find('setting', settingId);
    if (!known) return void account.store.add('setting', setting);
    account.store.touch(known);
    Object.assign(known, setting);
  });
}

/** Registers a domain as the dashboard does, but accepts the host names of a development machine, too. */
export function registerDomain(account: StripeAccount, name: string): void {
  if (domainOf(account, name)) return;
  account.transaction(() => {
    account.add('payment_method_domain', {
      object: 'payment_method_domain',
      created: account.now(),
      domain_name: name,
      enabled: true,
      livemode: false,
      ...walletStates(true),
    });
  });
}

export function unregisterDomain(account: StripeAccount, name: string): void {
  const known = domainOf(account, name);
  if (known) account.transaction(() => account.store.remove('payment_method_domain', known.id));
}
