/** An account service over a fresh database for tests: with a clock that the test sets, and mail that it can read at once. */

import { type AccountsOptions, createAccounts, type RunningAccounts } from '../../src/lib/accounts/service.server.ts';
import type { Accounts, Caller, SignedIn } from '../../src/lib/accounts/service.ts';
import type { AccountsTransaction, Database } from '../../src/lib/database.ts';
import type { Limiter } from '../../src/lib/http/limiter.server.ts';
import type { Limits } from '../../src/lib/http/limits.ts';
import { silent } from '../../src/lib/logging.ts';
import type { Message, Outbox } from '../../src/lib/mail/model.ts';
import { createAccessCookie } from '../../src/press/delivery/access-cookie.ts';
import { limiterOf } from './limiter.ts';

export const siteUrl = 'https://paper.example';
export const secret = 'a secret of the tests that is long enough';
const accessKeys = [{ id: 'test', secret: 'an access key of the tests, also long enough' }];

export interface Clock {
  now: number;
  /** Advances the clock by seconds. */
  pass(seconds: number): void;
}

export interface Fixture {
  readonly accounts: RunningAccounts;
  readonly database: Database;
  readonly limiter: Limiter;
  readonly mail: Message[];
  readonly clock: Clock;
  /** The newest code that was mailed to an address. */
  code(email: string): string;
  /** The token of the newest link. */
  token(email: string): string;
  /** Creates an account with a link and signs in. */
  join(email: string, caller?: Caller): Promise<SignedIn>;
}

export const caller = (address = '203.0.113.1', cookies?: string): Caller => ({
  address,
  userAgent: 'Mozilla/5.0 (X11; Linux x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36',
  ...(cookies !== undefined && { cookies }),
});

/** One of many network addresses, a different one for each number. */
export const elsewhere = (number: number): Caller =>
  caller(`198.${18 + (number >> 16)}.${(number >> 8) & 255}.${number & 255}`);

/** The `Cookie` header of a browser that got these `Set-Cookie` values, one list after the other. */
export function browser(...lists: readonly (readonly string[])[]): string {
  const jar = new Map<string, string>();
  for (const line of lists.flat()) {
    const [pair = ''] = line.split(';');
    const at = pair.indexOf('=');
    if (/Max-Age=0\b/.test(line)) jar.delete(pair.slice(0, at));
    else jar.set(pair.slice(0, at), pair.slice(at + 1));
  }
  return [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
}

/** The value of an outcome. @throws Error with the failure */
export function got<T>(outcome: { ok: true; value: T } | { ok: false; failure: unknown }): T {
  if (outcome.ok) return outcome.value;
  throw new Error(JSON.stringify(outcome.failure));
}

/** An outbox that stores and sends nothing. */
export const noOutbox: Outbox<AccountsTransaction> = {
  enqueue: async () => {},
  forget: async () => {},
  nudge: () => {},
  waiting: async () => ({ count: 0, oldest: null }),
  start: () => {},
  stop: async () => {},
};

/** An outbox whose mail a test can read at once. */
export function openMailbox() {
  const mail: Message[] = [];
  const outbox: Outbox<AccountsTransaction> = {
    ...noOutbox,
    enqueue: async (_, message) => void mail.push(message),
    forget: async (_, to) => {
      for (let at = mail.length - 1; at >= 0; at--) if (mail[at]?.to === to) mail.splice(at, 1);
    },
    waiting: async () => ({ count: mail.length, oldest: null }),
  };
  const newest = <Kind extends Message['kind']>(kind: Kind, email: string): Extract<Message, { kind: Kind }> => {
    const found = mail.findLast((message) => message.kind === kind && message.to === email);
    if (!found) throw new Error(`No ${kind} was mailed.`);
    return found as Extract<Message, { kind: Kind }>;
  };
  return {
    mail,
    outbox,
    code: (email: string): string => newest('code', email).code,
    token: (email: string): string => new URL(newest('link', email).url).searchParams.get('token') ?? '',
  };
}

/** Creates an account with a link and signs in. */
export async function signUp(
  accounts: Accounts,
  token: (email: string) => string,
  email: string,
  by: Caller,
): Promise<SignedIn> {
  got(await accounts.sendLink({ email, purpose: 'register', redirect: '/', caller: by }));
  return got(await accounts.useLink(token(email), by));
}

export async function fixture(
  database: Database,
  { limits, ...options }: Partial<AccountsOptions> & { limits?: Limits } = {},
): Promise<Fixture> {
  const { mail, outbox, code, token } = openMailbox();
  const clock: Clock = {
    now: Date.UTC(2026, 10, 20, 12),
    pass(seconds) {
      clock.now += seconds * 1000;
    },
  };
  const now = (): number => clock.now;
  const { limiter = limiterOf(database, limits, options.now ?? now) } = options;
  const accounts = await createAccounts({
    database,
    outbox,
    secret,
    siteUrl,
    now,
    google: null,
    facebook: null,
    verification: null,
    log: silent,
    access: createAccessCookie({ name: 'access', keys: accessKeys, now }),
    ...options,
    limiter,
  });
  return {
    accounts,
    database,
    limiter,
    mail,
    clock,
    code,
    token,
    join: (email, by = caller()) => signUp(accounts, token, email, by),
  };
}
