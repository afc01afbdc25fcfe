/** The outbox table: who may send which message when. Two processes on one database never hold the same message. */
import { randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { sql } from 'kysely';
import type { AccountsTransaction, Database, Queries } from '../database.ts';
import type { Sealer } from '../sealed.server.ts';
import type { Message } from './service.ts';
import type { OutboxTable } from './tables.ts';

/** A message that this process holds until it says what came of it. */
export interface Held {
  readonly id: string;
  readonly claim: string;
  /** `null` when it was sealed under a secret that is gone. */
  readonly message: Message | null;
  readonly kind: string;
  readonly recipient: string;
  /** How often it has been tried, this time included. */
  readonly tries: number;
  /** Epoch milliseconds. */
  readonly expires: number;
}

export type Ending = 'sent' | 'refused' | 'expired';

export interface Waiting {
  readonly count: number;
  /** Epoch milliseconds of the oldest, and when the next is due; `null` when nothing waits. */
  readonly oldest: number | null;
  readonly due: number | null;
}

/** Milliseconds after which a message of a process that died may be taken over; longer than sending one may take. */
export const leaseMs = 120_000;

/** What is too late is dropped by its time in the table; the seal only has to last longer. */
const graceSeconds = 3600;

type Db = Queries | AccountsTransaction;

const purpose = 'mail';

/** @param sealer what waits, with its link or code, can be read by nobody who reads the database alone */
export async function put(db: Db, sealer: Sealer, message: Message, now: number, expires: number): Promise<void> {
  const { kind, to, ...rest } = message;
  const row: OutboxTable = {
    id: randomUUID(),
    kind,
    recipient: to,
    payload: sealer.seal(purpose, rest, Math.ceil((expires - now) / 1000) + graceSeconds),
    created: now,
    expires,
    due: now,
    claim: null,
    tries: 0,
    ended: null,
    outcome: null,
    detail: null,
  };
  await db.insertInto('mail_outbox').values(row).execute();
}

/** Takes what is due, the longest waiting first. */
export async function take({ db, engine }: Database, sealer: Sealer, most: number, now: number): Promise<Held[]> {
  const claim = randomUUID();
  const rows = await db
    // A subquery beside `update` may run more than once in PostgreSQL and lock more rows than its limit; this runs once.
    .with('picked', (from) =>
      from
        .selectFrom('mail_outbox')
        .select('id')
        .where('ended', 'is', null)
        .where('due', '<=', now)
        // A code that somebody waits for never waits behind a newsletter.
        .orderBy(sql`case when kind = 'newsletter' then 1 else 0 end`)
        .orderBy('due')
        .limit(most)
        // What another process is just taking is not waited for.
        .$if(engine === 'postgres', (rows) => rows.forUpdate().skipLocked()),
    )
    .updateTable('mail_outbox')
    .set((is) => ({ claim, due: now + leaseMs, tries: is('tries', '+', 1) }))
    .where('id', 'in', (from) => from.selectFrom('picked').select('id'))
    // Said twice: what another process has taken since the selection is looked at again here.
    .where('ended', 'is', null)
    .where('due', '<=', now)
    .returning(['id', 'kind', 'recipient', 'payload', 'tries', 'expires'])
    .execute();
  return rows.map(({ id, kind, recipient, payload, tries, expires }) => {
    const rest = sealer.open(purpose, payload ?? undefined) as Omit<Message, 'kind' | 'to'> | null;
    const message = rest === null ? null : ({ kind, to: recipient, ...rest } as Message);
    // Only what has ended has no recipient any more.
    return { id, claim, kind, recipient: recipient ?? '', tries, expires, message };
  });
}

/** Lets go of a message, to be tried again at `due`. @param counted whether this try counts */
export async function giveBack(db: Db, held: Held, due: number, counted: boolean): Promise<void> {
  await db
    .updateTable('mail_outbox')
    .set({ due, claim: null, tries: counted ? held.tries : held.tries - 1 })
    .where('id', '=', held.id)
    .where('claim', '=', held.claim)
    .execute();
}

const emptied = { payload: null, recipient: null, claim: null };

/**
 * Writes down what came of a message; its words and its address are forgotten.
 *
 * @returns `false` when the message was no longer held
 */
export async function end(db: Db, held: Held, outcome: Ending, detail: string | null, now: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('mail_outbox')
    .set({ ...emptied, ended: now, outcome, detail })
    .where('id', '=', held.id)
    .where('claim', '=', held.claim)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Drops what is too late and is not being sent. @returns how many of each kind */
export async function expire(db: Db, now: number): Promise<Readonly<Record<string, number>>> {
  const rows = await db
    .updateTable('mail_outbox')
    .set({ ...emptied, ended: now, outcome: 'expired' })
    .where('ended', 'is', null)
    .where('expires', '<=', now)
    // A message in somebody's hands is due only when the lease has ended.
    .where((is) => is.or([is('claim', 'is', null), is('due', '<=', now)]))
    .returning('kind')
    .execute();
  const counts: Record<string, number> = {};
  for (const { kind } of rows) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** Rows that are forgotten at once: few enough not to be waited for, and enough that it does not come to a write to the disk for each. */
const step = 2000;

/**
 * Forgets what ended before `before`, some at a time: a week after a newsletter that is a row for each of its readers, and nobody is to
 * wait for all of them.
 *
 * @param goOn asked before each step
 */
export async function prune(db: Db, before: number, goOn: () => boolean): Promise<void> {
  for (let more = true; more && goOn(); ) {
    const { numDeletedRows } = await db
      .deleteFrom('mail_outbox')
      .where('id', 'in', (from) => from.selectFrom('mail_outbox').select('id').where('ended', '<', before).limit(step))
      .executeTakeFirstOrThrow();
    more = Number(numDeletedRows) === step;
    await turn();
  }
}

export async function remove(db: Db, to: string): Promise<void> {
  await db.deleteFrom('mail_outbox').where('recipient', '=', to).execute();
}

export async function waiting(db: Db): Promise<Waiting> {
  const row = await db
    .selectFrom('mail_outbox')
    .select(({ fn }) => [
      fn.countAll<number | string>().as('count'),
      fn.min('created').as('oldest'),
      fn.min('due').as('due'),
    ])
    .where('ended', 'is', null)
    .executeTakeFirstOrThrow();
  const number = (value: unknown) => (value === null || value === undefined ? null : Number(value));
  return { count: Number(row.count), oldest: number(row.oldest), due: number(row.due) };
}
