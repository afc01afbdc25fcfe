/** Support messages: stored, mailed to the support inbox, and deleted after the retention time. */
import { randomUUID } from 'node:crypto';
import { normalEmail } from '../accounts/model.ts';
import type { AccountsTransaction, Database } from '../database.ts';
import { createKeyed } from '../hmacs.server.ts';
import { createLimiter } from '../http/limiter.server.ts';
import type { Limits } from '../http/limits.ts';
import type { Logger } from '../logging.ts';
import type { Outbox } from '../mail/model.ts';
import type { Owner } from '../personal-data.ts';
import { createSealer } from '../sealed.server.ts';
import type { SupportFields } from './form.ts';
import type { HeldMessage, Support } from './service.ts';
import { held } from './spam.ts';

export interface SupportOptions {
  readonly database: Database;
  readonly outbox: Pick<Outbox<AccountsTransaction>, 'enqueue' | 'nudge'>;
  readonly secret: string;
  readonly limits: Limits;
  /** Where messages are mailed to. */
  readonly inbox: string;
  /** Days that messages are kept. */
  readonly keepDays: number;
  readonly log: Logger;
  /** Epoch milliseconds; for tests. */
  readonly now?: () => number;
}

const purpose = 'support form';
/** A form that was drawn longer ago than this says nothing of when, seconds. */
const stampSeconds = 24 * 60 * 60;
const dayMs = 24 * 60 * 60 * 1000;
const pruneEveryMs = 60 * 60 * 1000;
/** The same words from the same address are one message for so long. */
const sameMs = 10 * 60 * 1000;
const countEveryMs = 60 * 1000;
/** How long a message waits for the mail server, minutes; it is kept longer in any case. */
const patienceMinutes = 30 * 24 * 60;

export function createSupport(options: SupportOptions): Support {
  const { database, outbox, inbox, keepDays, log, now = Date.now } = options;
  const sealer = createSealer({ secrets: [options.secret], now });
  const limiter = createLimiter(database, createKeyed(options.secret), options.limits, now);
  const timers: NodeJS.Timeout[] = [];
  let waiting: number | null = null;
  let counting: Promise<void> = Promise.resolve();
  let pruning: Promise<void> = Promise.resolve();

  const drawnAt = (stamp: string): number | null => {
    const value = sealer.open(purpose, stamp);
    return typeof value === 'number' ? value : null;
  };

  /** Messages of an account, and those from its address where it is known to be theirs. */
  const of = ({ userId, email, emailVerified }: Owner) => ({ userId, email: emailVerified ? email : null });

  function prune(): void {
    pruning = database.db
      .deleteFrom('support_messages')
      .where('created', '<', now() - keepDays * dayMs)
      .executeTakeFirst()
      .then(
        () => {},
        (error: unknown) =>
          log.warn({ err: error }, 'Old messages to the support inbox could not be deleted; they are tried again'),
      );
  }

  const heldOnes = () => database.db.selectFrom('support_messages').where('held', 'is not', null);

  function count(): void {
    counting = heldOnes()
      .select((is) => is.fn.countAll<number | string | bigint>().as('count'))
      .executeTakeFirstOrThrow()
      .then(
        (row) => {
          waiting = Number(row.count);
        },
        // The database says itself what is wrong with it.
        () => {},
      );
  }

  const toInbox = (tx: AccountsTransaction, fields: SupportFields, at: number, known: boolean): Promise<void> =>
    outbox.enqueue(tx, { kind: 'support', to: inbox, ...fields, at, known, minutes: patienceMinutes });

  return {
    stamp: () => sealer.seal(purpose, now(), stampSeconds),
    async take(fields, { caller, session, trap, stamp }) {
      const email = normalEmail(fields.email) ?? fields.email.toLowerCase();
      // Anybody can type an address: who is signed in is counted apart from what others write under theirs.
      const over = await limiter.count('support', { address: caller.address, email: session?.userId ?? email });
      if (over) {
        log.info({ limit: 'support', scope: over.scope }, 'A limit of the support inbox is reached');
        return { ok: false, retryAfter: over.retryAfter };
      }
      const reason = held(fields, { trap, drawn: drawnAt(stamp), known: session !== null }, now());
      const at = now();
      const fresh = await database.transaction(async (tx) => {
        // Pressed twice, or sent again because its answer was lost: it was mailed already.
        const before = await tx
          .selectFrom('support_messages')
          .select('id')
          .where('email', '=', email)
          .where('created', '>', at - sameMs)
          .where('message', '=', fields.message)
          .where('held', 'is not distinct from', reason)
          .executeTakeFirst();
        if (before) return false;
        await tx
          .insertInto('support_messages')
          .values({ ...fields, id: randomUUID(), created: at, user_id: session?.userId ?? null, email, held: reason })
          .execute();
        const known = session?.emailVerified === true && session.email === email;
        if (reason === null) await toInbox(tx, { ...fields, email }, at, known);
        return true;
      });
      if (!fresh) return { ok: true };
      if (reason === null) outbox.nudge();
      else {
        log.info({ reason }, 'A message to the support inbox was kept and not mailed');
        if (waiting !== null) waiting++;
      }
      return { ok: true };
    },
    async heldMessages() {
      const columns = ['id', 'created', 'name', 'email', 'phone', 'message', 'held'] as const;
      const rows = await heldOnes().select(columns).orderBy('created', 'desc').execute();
      return rows.map((row) => ({ ...row, held: row.held as HeldMessage['held'] }));
    },
    async release(id) {
      const released = await database.transaction(async (tx) => {
        // Of two who release the same message one finds it held.
        const row = await tx
          .updateTable('support_messages')
          .set({ held: null })
          .where('id', '=', id)
          .where('held', 'is not', null)
          .returningAll()
          .executeTakeFirst();
        if (!row) return false;
        const { name, email, phone, message, user_id: userId } = row;
        const user =
          userId === null
            ? undefined
            : await tx
                .selectFrom('users')
                .select('id')
                .where('id', '=', userId)
                .where('email', '=', email)
                .where('emailVerified', '=', 1)
                .executeTakeFirst();
        await toInbox(tx, { name, email, phone, message }, row.created, user !== undefined);
        return true;
      });
      if (!released) return false;
      outbox.nudge();
      count();
      return true;
    },
    stats: () => ({ held: waiting }),
    async exportData(user) {
      const { userId, email } = of(user);
      const rows = await database.db
        .selectFrom('support_messages')
        .select(['created', 'name', 'email', 'phone', 'message'])
        .where((is) => is.or([is('user_id', '=', userId), ...(email ? [is('email', '=', email)] : [])]))
        .orderBy('created')
        .execute();
      return {
        support_messages: rows.map(({ created, ...row }) => ({ time: new Date(created).toISOString(), ...row })),
      };
    },
    async forget(user) {
      const { userId, email } = of(user);
      await database.db
        .deleteFrom('support_messages')
        .where((is) => is.or([is('user_id', '=', userId), ...(email ? [is('email', '=', email)] : [])]))
        .execute();
    },
    start() {
      prune();
      count();
      timers.push(setInterval(prune, pruneEveryMs), setInterval(count, countEveryMs));
      for (const timer of timers) timer.unref();
    },
    async stop() {
      for (const timer of timers) clearInterval(timer);
      await pruning;
      await counting;
    },
  };
}
