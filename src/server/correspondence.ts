/** What the paper and its readers write to each other beside signing in and paying: newsletters, and the support desk. */

import type { Accounts } from '../lib/accounts/service.ts';
import type { Database } from '../lib/database.ts';
import type { Limits } from '../lib/limits/model.ts';
import type { Logger } from '../lib/logging.ts';
import type { RunningOutbox } from '../lib/mail/outbox.server.ts';
import { createNewsletters } from '../lib/newsletters/newsletters.server.ts';
import type { Newsletters } from '../lib/newsletters/service.ts';
import type { Support } from '../lib/support/service.ts';
import { createSupport } from '../lib/support/support.server.ts';
import { publication } from '../publication.ts';

export interface Correspondence {
  readonly newsletters: Newsletters;
  readonly support: Support;
}

export interface CorrespondenceOptions {
  readonly database: Database;
  readonly outbox: Pick<RunningOutbox, 'enqueue' | 'nudge' | 'waiting'>;
  /** Of the accounts. */
  readonly secret: string;
  readonly siteUrl: string;
  readonly limits: Limits;
  readonly log: Logger;
}

export function openCorrespondence(options: CorrespondenceOptions): Correspondence {
  const { contact, support } = publication;
  return {
    newsletters: createNewsletters(options),
    support: createSupport({ ...options, desk: contact.email, keepDays: support.keepDays }),
  };
}

/** Who asks what is kept gets this too, and who leaves takes it along. */
export const withCorrespondence = (accounts: Accounts, { newsletters, support }: Correspondence): Accounts => ({
  ...accounts,
  async exportData(session) {
    return {
      ...(await accounts.exportData(session)),
      ...(await newsletters.exportData(session.userId)),
      ...(await support.exportData(session)),
    };
  },
  async forget(session, caller) {
    // The choices go with the account's row.
    await support.forget(session);
    return accounts.forget(session, caller);
  },
});
