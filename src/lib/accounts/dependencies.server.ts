/** What the parts of the account service are built from; accounts.server.ts puts them together. */

import { randomUUID } from 'node:crypto';
import type { AccountsTransaction, Database, Queries } from '../database.ts';
import type { EmailVerification } from '../email-verification/model.ts';
import type { Keyed } from '../hmacs.server.ts';
import type { Limiter, Over, Who } from '../http/limiter.server.ts';
import type { LimitName } from '../http/limits.ts';
import type { Logger } from '../logging.ts';
import type { Outbox } from '../mail/model.ts';
import type { PersonalData } from '../personal-data.ts';
import type { Profiles } from './profiles.server.ts';
import type { Proofs } from './proofs.server.ts';
import type { Caller, Failure, Outcome } from './service.ts';
import type { Sessions } from './sessions.server.ts';
import type { People } from './users.server.ts';

export interface Parts {
  readonly database: Database;
  readonly keyed: Keyed;
  readonly limiter: Limiter;
  readonly proofs: Proofs;
  readonly people: People;
  readonly sessions: Sessions;
  readonly profiles: Profiles;
  readonly audit: Audit;
  readonly outbox: Outbox<AccountsTransaction>;
  readonly verification: EmailVerification | null;
  /** What other features keep of a user. */
  readonly others: Pick<PersonalData, 'disown'>;
  readonly siteUrl: string;
  readonly log: Logger;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

export const ok = <T>(value: T): Outcome<T> => ({ ok: true, value });
export const no = (failure: Failure): Outcome<never> => ({ ok: false, failure });
export const badEmailMessage = 'Please enter a valid email address.';
export const badEmail = no({ kind: 'invalid-email', message: badEmailMessage, suggestion: null });

/** Counts against a limit. What is over one is said in the log, without saying who. */
export async function within(parts: Parts, name: LimitName, who: Who): Promise<Over | null> {
  const over = await parts.limiter.count(name, who);
  if (over) parts.log.info({ limit: name, scope: over.scope }, 'A limit of the accounts is reached');
  return over;
}

export const limited = (over: Over): Outcome<never> => no({ kind: 'limited', retryAfter: over.retryAfter });

/** The audit trail: what happened to whose account, and when. Never a code, a token or a whole address. */

export type AuditEvent =
  | 'sign-in'
  | 'sign-in failed'
  | 'account made'
  | 'address confirmed'
  | 'link sent'
  | 'code sent'
  | 'profile changed'
  | 'signed out'
  | 'account deleted';

export interface AuditEntry {
  readonly event: AuditEvent;
  readonly userId?: string | undefined;
  /** In its normal form; kept as an HMAC. */
  readonly email?: string | undefined;
  /** Its network is kept as an HMAC. */
  readonly caller?: Pick<Caller, 'address'> | undefined;
  /** Fixed words, nothing that came from outside. */
  readonly detail?: string | undefined;
}

export type Audit = (db: Queries, entry: AuditEntry) => Promise<void>;

/** @param now epoch milliseconds */
export const createAudit =
  (keyed: Keyed, now: () => number): Audit =>
  async (db, { event, userId, email, caller, detail }) => {
    await db
      .insertInto('audit')
      .values({
        id: randomUUID(),
        at: now(),
        event,
        user_id: userId ?? null,
        subject: email === undefined ? null : keyed.subject(email),
        place: caller ? keyed.place(caller.address) : null,
        detail: detail ?? null,
      })
      .execute();
  };
