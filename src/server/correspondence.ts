/** What the paper and its readers write to each other beside signing in and paying: newsletters, and the support inbox. */

import type { Database } from '../lib/database.ts';
import type { Limits } from '../lib/http/limits.ts';
import type { Logger } from '../lib/logging.ts';
import type { RunningOutbox } from '../lib/mail/outbox.server.ts';
import { createNewsletters, type Newsletters } from '../lib/newsletters/service.server.ts';
import { createSupport, type Support } from '../lib/support/service.server.ts';
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
    support: createSupport({ ...options, inbox: contact.email, keepDays: support.keepDays }),
  };
}
