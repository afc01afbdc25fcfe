/** What the parts of the account service share: their dependencies, the limits, the audit trail, and short forms of outcomes. */
import { randomUUID } from 'node:crypto';
import type { AccountsTransaction, Database, Queries } from '../database.ts';
import type { EmailVerification } from '../email-verification/model.ts';
import type { Hmacs } from '../hmacs.server.ts';
import type { Limiter, Over, Who } from '../http/limiter.server.ts';
import type { LimitName } from '../http/limits.ts';
import type { Logger } from '../logging.ts';
import type { Outbox } from '../mail/model.ts';
import type { PersonalData } from '../personal-data.ts';
import { accountMessages } from './messages.ts';
import type { Profiles } from './profiles.server.ts';
import type { Proofs } from './proofs.server.ts';
import type { Caller, Failure, Outcome } from './service.ts';
import type { Sessions } from './sessions.server.ts';
import type { Users } from './users.server.ts';

export interface Dependencies {
  readonly database: Database;
  readonly hmacs: Hmacs;
  readonly limiter: Limiter;
  readonly proofs: Proofs;
  readonly users: Users;
  readonly sessions: Sessions;
  readonly profiles: Profiles;
  readonly audit: Audit;
  readonly outbox: Outbox<AccountsTransaction>;
  readonly verification: EmailVerification | null;
  /** What other features store about a user. */
  readonly others: Pick<PersonalData, 'disown'>;
  readonly siteUrl: string;
  readonly log: Logger;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

export const ok = <T>(value: T): Outcome<T> => ({ ok: true, value });
export const fail = (failure: Failure): Outcome<never> => ({ ok: false, failure });
export const limited = (over: Over): Outcome<never> => fail({ kind: 'limited', retryAfter: over.retryAfter });
export const invalidEmail = fail({ kind: 'invalid-email', message: accountMessages.invalidEmail, suggestion: null });

/** Counts against a limit. The log says which limit was exceeded, and not by whom. */
export async function countAgainst(
  { limiter, log }: Pick<Dependencies, 'limiter' | 'log'>,
  name: LimitName,
  who: Who,
): Promise<Over | null> {
  const over = await limiter.count(name, who);
  if (over) log.info({ limit: name, scope: over.scope }, 'A limit of the accounts was exceeded');
  return over;
}

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
  /** In its normal form; stored as an HMAC. */
  readonly email?: string | undefined;
  /** Its network is stored as an HMAC. */
  readonly caller?: Pick<Caller, 'address'> | undefined;
  /** Fixed words, nothing that came from outside. */
  readonly detail?: string | undefined;
}

/** Adds to the audit trail: what happened to which account, and when. Never a code, a token or a whole address. */
export type Audit = (db: Queries, entry: AuditEntry) => Promise<void>;

/** @param now epoch milliseconds */
export const createAudit =
  (hmacs: Hmacs, now: () => number): Audit =>
  async (db, { event, userId, email, caller, detail }) => {
    await db
      .insertInto('audit')
      .values({
        id: randomUUID(),
        at: now(),
        event,
        user_id: userId ?? null,
        subject: email === undefined ? null : hmacs.subject(email),
        place: caller ? hmacs.place(caller.address) : null,
        detail: detail ?? null,
      })
      .execute();
  };
