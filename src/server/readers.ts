/** Opens what knows the readers: their database, the mail, and the accounts on both. */

import { createAccess } from '../lib/access/access.server.ts';
import type { Access } from '../lib/access/service.ts';
import { createAccounts, defaultKeeping } from '../lib/accounts/engine/accounts.server.ts';
import type { Accounts } from '../lib/accounts/service.ts';
import type { Billing } from '../lib/billing/service.ts';
import type { EmailVerification } from '../lib/email-verification/service.ts';
import type { Logger } from '../lib/logging.ts';
import { openOutbox, type RunningOutbox } from '../lib/mail/outbox.server.ts';
import { openCarrier } from '../lib/mail/smtp.server.ts';
import { createAccessCookie } from '../press/access-cookie.ts';
import { createPassCookie } from '../press/pass-cookie.ts';
import { publication } from '../publication.ts';
import { accessCookieName, accessKeysOf, giftCookieName } from './access-keys.ts';
import type { Config } from './config.ts';
import { openDatabase } from './database/open.ts';
import { describeFeatures } from './features.ts';
import { keptSecret } from './kept-secret.ts';

export interface ReadersState {
  /** Why the database cannot be used now; `null` when it can. */
  readonly database: string | null;
  /** Messages that wait, and why they do; `null` when the mail server takes them. */
  readonly mail: { readonly waiting: number; readonly problem: string | null };
}

export interface Readers {
  readonly accounts: Accounts;
  readonly access: Access;
  /** `null` where billing is off. */
  readonly billing: Billing | null;
  readonly outbox: RunningOutbox;
  state(): ReadersState;
  start(): void;
  stop(): Promise<void>;
}

/** Connections to the mail server, and messages sent at once. */
const mailConnections = 4;

/**
 * @returns `null` where accounts are off (features.ts says why) or a Zephr tenant keeps them
 * @throws Error with a sentence for the operator; a PostgreSQL that does not answer stops nothing
 */
export async function openReaders(
  config: Config,
  verification: EmailVerification,
  log: Logger,
): Promise<Readers | null> {
  const { mail, siteUrl, dataDir } = config;
  if (!mail || config.zephrUrl !== null || !describeFeatures(config).accounts.on) return null;
  const secret =
    config.accounts.secret ?? keptSecret(dataDir, 'accounts-secret', 'ACCOUNTS_SECRET', 'readers then sign in again');
  const database = await openDatabase({ dataDir, databaseUrl: config.databaseUrl, log });
  const carrier = openCarrier(mail, mailConnections);
  const { name, motto, language, contact } = publication;
  const outbox = openOutbox({
    ...{ database, carrier, secret, log, concurrency: mailConnections },
    paper: { name, motto, language, siteUrl, contact: contact.email },
  });
  const billing = null as Billing | null;
  const keys = accessKeysOf(config);
  const access = createAccess({
    ...{ database, secret, rules: publication.access, secure: siteUrl.startsWith('https:') },
    paid: async (userId) => (await billing?.entitlements(userId)) ?? [],
    promotionDays: () => billing?.prices().find(({ promotion }) => promotion)?.promotion?.days ?? null,
    pass: createPassCookie({ name: giftCookieName, keys }),
  });
  const accounts = await createAccounts({
    ...{ database, outbox, secret, siteUrl, verification, log },
    access: createAccessCookie({ name: accessCookieName, keys }),
    keeping: { ...defaultKeeping, auditDays: config.accounts.auditDays },
    google: config.accounts.google,
    facebook: config.accounts.facebook,
    grantFor: access.grantFor,
  });
  return {
    accounts,
    access,
    billing,
    outbox,
    state: () => {
      const { waiting, problem } = outbox.stats();
      return { database: database.problem(), mail: { waiting, problem } };
    },
    start: () => outbox.start(),
    async stop() {
      await accounts.stop();
      await outbox.stop();
      carrier.close();
      await database.close();
    },
  };
}
