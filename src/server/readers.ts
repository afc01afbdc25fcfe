/** Opens what knows the readers: their database, the mail, and the accounts on both. */

import { createAccess } from '../lib/access/access.server.ts';
import type { Access } from '../lib/access/service.ts';
import { createAccounts, defaultKeeping } from '../lib/accounts/service.server.ts';
import type { Accounts } from '../lib/accounts/service.ts';
import type { BillingOptions, RunningBilling } from '../lib/billing/engine/billing.server.ts';
import { billingData } from '../lib/billing/personal-data.server.ts';
import { createModeration } from '../lib/comments/moderation.server.ts';
import { createComments, type RunningComments } from '../lib/comments/service.server.ts';
import type { Database } from '../lib/database.ts';
import type { EmailVerification } from '../lib/email-verification/model.ts';
import type { Logger } from '../lib/logging.ts';
import { openOutbox, type RunningOutbox } from '../lib/mail/outbox.server.ts';
import { openTransport } from '../lib/mail/smtp.server.ts';
import { createNewsletters, type Newsletters } from '../lib/newsletters/service.server.ts';
import type { Library } from '../lib/saved/model.ts';
import { createLibrary } from '../lib/saved/saved.server.ts';
import { createSupport, type Support } from '../lib/support/service.server.ts';
import { createAccessCookie } from '../press/delivery/access-cookie.ts';
import { createPassCookie } from '../press/delivery/pass-cookie.ts';
import { publication } from '../publication.ts';
import type { Config } from './config/config.ts';
import { openDatabase } from './database/open.ts';
import { type PersonalDataList, personalDataOf } from './personal-data.ts';
import { accessCookieName, accessKeysOf, accountsSecret, giftCookieName } from './secrets.ts';
import { describeFeatures } from './services.ts';

export interface ReadersState {
  /** Why the database cannot be used now; `null` when it can. */
  readonly database: string | null;
  /** Messages that wait, and why they do; `null` when the mail server takes them. */
  readonly mail: { readonly waiting: number; readonly problem: string | null };
}

export interface Readers {
  /** Also for what is kept of nobody, such as how much is read. */
  readonly database: Database;
  readonly accounts: Accounts;
  readonly access: Access;
  readonly library: Library;
  /** `null` where billing is off. */
  readonly billing: RunningBilling | null;
  /** `null` where comments are off. */
  readonly comments: RunningComments | null;
  readonly newsletters: Newsletters;
  readonly support: Support;
  readonly outbox: RunningOutbox;
  state(): ReadersState;
  start(): void;
  stop(): Promise<void>;
}

/** Connections to the mail server, and messages sent at once. */
const mailConnections = 4;

/**
 * @param onPrices told when the prices on the pages have changed
 * @param authors names under which readers may not write
 * @returns `null` where accounts are off (features.ts says why) or a Zephr tenant keeps them
 * @throws Error with a sentence for the operator; a PostgreSQL that does not answer stops nothing
 */
export async function openReaders(
  config: Config,
  verification: EmailVerification,
  log: Logger,
  onPrices?: () => void,
  authors: () => readonly string[] = () => [],
): Promise<Readers | null> {
  const { mail, siteUrl, dataDir } = config;
  if (!mail || config.zephrUrl !== null || !describeFeatures(config).accounts.on) return null;
  const secret = accountsSecret(config);
  const database = await openDatabase({ dataDir, databaseUrl: config.databaseUrl, log });
  const transport = openTransport(mail, mailConnections);
  const { name, motto, language, timeZone, contact } = publication;
  const outbox = openOutbox({
    database,
    transport,
    secret,
    log,
    concurrency: mailConnections,
    paper: { name, motto, language, timeZone, siteUrl, contact: contact.email },
  });
  const billing = await openBilling(config, { database, outbox, secret, log, onPrices });
  const keys = accessKeysOf(config);
  const access = createAccess({
    database,
    secret,
    rules: publication.access,
    secure: siteUrl.startsWith('https:'),
    paid: async (userId) => (await billing?.entitlements(userId)) ?? [],
    promotionDays: () => billing?.prices().find(({ promotion }) => promotion)?.promotion?.days ?? null,
    pass: createPassCookie({ name: giftCookieName, keys }),
  });
  const accounts = await createAccounts({
    database,
    outbox,
    secret,
    siteUrl,
    verification,
    log,
    access: createAccessCookie({ name: accessCookieName, keys }),
    keeping: { ...defaultKeeping, auditDays: config.accounts.auditDays },
    limits: config.accounts.limits,
    google: config.accounts.google,
    facebook: config.accounts.facebook,
    grantFor: access.grantFor,
    others: personalDataOf(() => kept),
  });
  const library = createLibrary({ database, rules: publication.library, log });
  const { limits } = config.accounts;
  const newsletters = createNewsletters({ database, outbox, secret, siteUrl });
  const { keepDays } = publication.support;
  const support = createSupport({ database, outbox, secret, limits, log, inbox: contact.email, keepDays });
  const comments = openComments(config, {
    database,
    secret,
    accounts,
    limits,
    log,
    rules: publication.comments,
    reservedNames: () => [publication.name, ...authors()],
    isPaying: async ({ userId }) => (await access.grantFor(userId, 0)).level === 'subscriber',
  });
  const kept: PersonalDataList = {
    billing: billing && billingData(billing, log),
    newsletters: newsletters.personalData,
    support: support.personalData,
    comments: comments?.personalData ?? null,
    access: access.personalData,
    library: library.personalData,
  };
  return {
    database,
    accounts,
    access,
    library,
    billing,
    comments,
    newsletters,
    support,
    outbox,
    state: () => {
      const { waiting, problem } = outbox.stats();
      return { database: database.problem(), mail: { waiting, problem } };
    },
    start() {
      outbox.start();
      billing?.start();
      comments?.start();
      support.start();
    },
    async stop() {
      await billing?.stop();
      await support.stop();
      await comments?.stop();
      await accounts.stop();
      await library.stop();
      await outbox.stop();
      transport.close();
      await database.close();
    },
  };
}

/** `null` where nothing is sold; then nothing of it is loaded either. */
async function openBilling(
  config: Config,
  parts: Pick<BillingOptions, 'database' | 'outbox' | 'secret' | 'log' | 'onPrices'>,
): Promise<RunningBilling | null> {
  if (!config.stripe || !describeFeatures(config).billing.on) return null;
  const { createBilling } = await import('../lib/billing/engine/billing.server.ts');
  return createBilling({ ...parts, access: config.stripe, siteUrl: config.siteUrl, rules: publication.billing });
}

/** `null` where there is no WordPress to hand comments to. */
function openComments(
  { wordpress }: Config,
  parts: Omit<Parameters<typeof createComments>[0], 'moderation'>,
): RunningComments | null {
  const { url, user, password } = wordpress ?? {};
  if (url === undefined || user === undefined || password === undefined) return null;
  return createComments({ ...parts, moderation: createModeration({ url, user, password }) });
}
