/** Deletes what has had its time, in small steps, so that nobody waits for it. */
import { setImmediate as turn } from 'node:timers/promises';
import type { Database } from '../database.ts';
import { repeat } from '../jobs/repeat.ts';
import type { Logger } from '../logging.ts';
import type { PersonalData } from '../personal-data.ts';

const day = 24 * 60 * 60 * 1000;

export interface Keeping {
  /** Days that the audit trail is kept. */
  readonly auditDays: number;
  /** Days that an account is kept whose address nobody confirmed and that nobody is signed in to. */
  readonly unconfirmedDays: number;
}

/** Rows of one step. */
const step = 500;

/** Takes back what an account that is about to be deleted has left elsewhere, such as comments at WordPress. */
export type Erase = PersonalData['erase'];

/** @param now epoch milliseconds @returns how many rows went */
export async function prune(
  { db }: Database,
  keeping: Keeping,
  now: number,
  erase: Erase,
  signal?: AbortSignal,
): Promise<number> {
  const iso = (time: number): string => new Date(time).toISOString();
  const abandoned = () =>
    db
      .selectFrom('users')
      .select(['users.id', 'users.email'])
      .where('emailVerified', '=', 0)
      .where('createdAt', '<=', iso(now - keeping.unconfirmedDays * day))
      .where((is) => is.not(is.exists(is.selectFrom('sessions').select('id').whereRef('userId', '=', 'users.id'))))
      .where((is) => is.not(is.exists(is.selectFrom('identities').select('id').whereRef('userId', '=', 'users.id'))))
      // Whoever has paid, or is paying, is somebody.
      .where((is) =>
        is.not(is.exists(is.selectFrom('customers').select('user_id').whereRef('user_id', '=', 'users.id'))),
      );
  const steps: readonly (() => Promise<{ numDeletedRows: bigint }>)[] = [
    () =>
      db
        .deleteFrom('sessions')
        .where('id', 'in', db.selectFrom('sessions').select('id').where('expiresAt', '<=', iso(now)).limit(step))
        .executeTakeFirst(),
    // A day longer than they are good for, so that a link can say that it has expired.
    () =>
      db
        .deleteFrom('proofs')
        .where(
          'id',
          'in',
          db
            .selectFrom('proofs')
            .select('id')
            .where('expires', '<=', now - day)
            .limit(step),
        )
        .executeTakeFirst(),
    () =>
      db
        .deleteFrom('limits')
        .where('key', 'in', db.selectFrom('limits').select('key').where('until', '<=', now).limit(step))
        // Once more, for it may have begun anew meanwhile.
        .where('until', '<=', now)
        .executeTakeFirst(),
    () =>
      db
        .deleteFrom('audit')
        .where(
          'id',
          'in',
          db
            .selectFrom('audit')
            .select('id')
            .where('at', '<=', now - keeping.auditDays * day)
            .limit(step),
        )
        .executeTakeFirst(),
    async () => {
      const left = await abandoned().limit(step).execute();
      if (left.length === 0) return { numDeletedRows: 0n };
      for (const { id: userId, email } of left) await erase({ userId, email, emailVerified: false });
      const ids = left.map(({ id }) => id);
      // Asked once more: one of them may have been confirmed, or begun to pay, meanwhile.
      return db
        .deleteFrom('users')
        .where('id', 'in', abandoned().clearSelect().select('users.id').where('users.id', 'in', ids))
        .executeTakeFirst();
    },
  ];
  let gone = 0;
  for (const remove of steps) {
    for (let more = true; more && !signal?.aborted; ) {
      const removed = Number((await remove()).numDeletedRows);
      gone += removed;
      more = removed === step;
      await turn();
    }
  }
  return gone;
}

/** Prunes now and then until it is stopped. */
export function startPruning(
  database: Database,
  keeping: Keeping,
  erase: Erase,
  now: () => number,
  log: Logger,
): () => Promise<void> {
  const pruning = repeat(
    10 * 60 * 1000,
    async (signal) => {
      const rows = await prune(database, keeping, now(), erase, signal);
      if (rows > 0) log.debug({ rows }, 'Expired rows of the accounts were deleted');
    },
    (error) => log.warn({ err: error }, "Expired rows of the accounts couldn't be deleted; the next run tries again"),
  );
  return pruning.stop;
}
