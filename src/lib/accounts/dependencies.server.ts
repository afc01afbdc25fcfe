/** Shared by the functions of the account service: their dependencies, the limits, the audit trail, and short forms of outcomes. */
import { randomUUID } from 'node:crypto';
import type { Grant } from '../access/entitlements.ts';
import type { Hmacs } from '../crypto.server.ts';
import type { AccountsTransaction, Database, Queries } from '../database.ts';
import type { EmailVerification } from '../email-verification/model.ts';
import type { ExceededLimit, Limiter, LimitSubject } from '../http/limiter.server.ts';
import type { LimitName } from '../http/limits.ts';
import type { Logger } from '../logging.ts';
import type { Outbox } from '../mail/model.ts';
import type { PersonalData } from '../personal-data.ts';
import { accountMessages } from './messages.ts';
import type { Caller, Failure, Outcome } from './service.ts';

/** The signer of the access cookie; src/press/delivery/access-cookie.ts is one. */
export interface AccessSigner {
  readonly name: string;
  /** @param expires Unix seconds */
  sign(level: Grant['level'], expires: number): string;
  /** The level of a value; `null` when it is forged or expired. */
  verify(value: string): string | null;
}

/** What a user may read now; one or two indexed queries. @param trialStartedAt as `trialStart` (access/entitlements.ts) */
export type GrantFor = (userId: string, trialStartedAt: number | null) => Promise<Grant>;

export interface Dependencies {
  readonly database: Database;
  readonly hmacs: Hmacs;
  readonly limiter: Limiter;
  readonly outbox: Outbox<AccountsTransaction>;
  /** Checks email addresses of new readers; `null`: only their syntax is checked. */
  readonly verification: EmailVerification | null;
  /** The personal data of all features. */
  readonly personalData: PersonalData;
  readonly access: AccessSigner;
  readonly grantFor: GrantFor;
  /** Origin of the site. */
  readonly siteUrl: string;
  /** Whether the site is served over HTTPS. */
  readonly secure: boolean;
  readonly log: Logger;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

export const ok = <T>(value: T): Outcome<T> => ({ ok: true, value });
export const fail = (failure: Failure): Outcome<never> => ({ ok: false, failure });
export const invalid = (message: string): Outcome<never> => fail({ kind: 'invalid', message });
export const limited = (over: ExceededLimit): Outcome<never> => fail({ kind: 'limited', retryAfter: over.retryAfter });
export const invalidEmail = fail({ kind: 'invalid-email', message: accountMessages.invalidEmail, suggestion: null });

/** Why the email check refuses an address without an account; `null`: accepted. */
export async function emailRefusal(verification: EmailVerification, email: string): Promise<Failure | null> {
  const { verified, message, suggestedEmail: suggestion } = await verification.verify(email);
  return verified ? null : { kind: 'invalid-email', message: message || accountMessages.invalidEmail, suggestion };
}

/** Counts against a limit. The log names the limit that was exceeded, but not the user. */
export async function countAgainst(
  { limiter, log }: Pick<Dependencies, 'limiter' | 'log'>,
  name: LimitName,
  subject: LimitSubject,
): Promise<ExceededLimit | null> {
  const over = await limiter.count(name, subject);
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
  /** Normalized; stored as an HMAC. */
  readonly email?: string | undefined;
  /** The caller's network is stored as an HMAC. */
  readonly caller?: Pick<Caller, 'address'> | undefined;
  /** A fixed text, nothing that came from outside. */
  readonly detail?: string | undefined;
}

/** Adds to the audit trail: what happened to which account, and when. Never a code, a token or a whole address. */
export async function recordAudit(
  { hmacs, now }: Pick<Dependencies, 'hmacs' | 'now'>,
  db: Queries,
  { event, userId, email, caller, detail }: AuditEntry,
): Promise<void> {
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
}
