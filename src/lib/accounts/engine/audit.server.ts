/** The audit trail: what happened to whose account, and when. Never a code, a token or a whole address. */
import { randomUUID } from 'node:crypto';
import type { Queries } from '../../database.ts';
import type { Caller } from '../service.ts';
import type { Keyed } from './keyed.server.ts';

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
