/** The support inbox: messages are stored, mailed to the inbox unless they look like spam, and deleted after the retention time. */
import { randomUUID } from 'node:crypto';
import { type ExpressionBuilder, sql } from 'kysely';
import { normalEmail } from '../accounts/model.ts';
import { createSealer, type Sealer } from '../crypto.server.ts';
import type { AccountsDatabase, AccountsTransaction, Database } from '../database.ts';
import type { Delivery, FieldForm, Sender } from '../http/field-form.server.ts';
import type { Limiter } from '../http/limiter.server.ts';
import { type OldRows, rowsUntil } from '../jobs/old-rows.ts';
import { type RepeatedTask, repeat } from '../jobs/tasks.ts';
import type { Logger } from '../logging.ts';
import type { Outbox } from '../mail/model.ts';
import type { Owner, PersonalData } from '../personal-data.ts';
import { contactPage, type SupportField, type SupportFields, supportFields, supportMessages } from './schema.ts';

/** Why a message was stored and not mailed; the database stores these words. */
export type HoldReason = 'trap' | 'hasty' | 'links';

/** A message that was stored and not mailed. */
export interface HeldMessage extends SupportFields {
  readonly id: string;
  /** Epoch milliseconds. */
  readonly created: number;
  readonly held: HoldReason;
}

export interface SupportStats {
  /** Messages that were not mailed; up to a minute old, `null` before they were counted. */
  readonly held: number | null;
}

export interface Support {
  /** The stamp for a form that is rendered now. */
  stamp(): string;
  /**
   * Stores a message and adds it to the outbox in one transaction: a message that was confirmed to the sender can't get lost.
   *
   * @param fields without errors (`checkFields`)
   */
  take(fields: SupportFields, sender: Sender): Promise<Delivery>;
  /** Messages that were not mailed, newest first. */
  heldMessages(): Promise<readonly HeldMessage[]>;
  /** Mails a message that was held. @returns `false` when no message of this id is held */
  release(id: string): Promise<boolean>;
  stats(): SupportStats;
  readonly personalData: PersonalData;
  readonly oldRows: OldRows;
  start(): void;
  stop(): Promise<void>;
}

export interface SpamSigns {
  /** Value of the hidden field that only bots fill in. */
  readonly honeypot: string;
  /** When the form was rendered, epoch milliseconds; `null` if unknown: another client, or a page from the day before. */
  readonly renderedAt: number | null;
  /** Whether the sender is signed in to an account whose address is confirmed. */
  readonly known: boolean;
}

/** A person takes longer than this to fill in four fields, milliseconds. */
const shortestFillMs = 3000;
/** Most links in a message: from a form with a valid stamp, and from any other. */
const mostLinks = { stamped: 4, unstamped: 1 };

const linksIn = (text: string): number => text.match(/https?:\/\/|\bwww\.|\[url|<a\s/giu)?.length ?? 0;

/**
 * Whether a message looks like spam. Such a message is stored, its sender gets the usual response, and it isn't mailed until an
 * operator releases it. In doubt it is mailed: spam in the inbox is better than a lost question.
 *
 * @param now epoch milliseconds
 * @returns `null`: it is mailed
 */
export function spamReason(
  fields: SupportFields,
  { honeypot, renderedAt, known }: SpamSigns,
  now: number,
): HoldReason | null {
  if (honeypot !== '') return 'trap';
  // A user with a confirmed address can be contacted, and is subject to rate limits; an unconfirmed account proves nothing,
  // because anyone can create one.
  if (known) return null;
  if (renderedAt !== null && now - renderedAt < shortestFillMs) return 'hasty';
  const links = linksIn(fields.message);
  if (linksIn(fields.name) > 0 || links > (renderedAt === null ? mostLinks.unstamped : mostLinks.stamped))
    return 'links';
  return null;
}

export interface SupportOptions {
  readonly database: Database;
  readonly outbox: Pick<Outbox<AccountsTransaction>, 'enqueue' | 'nudge'>;
  readonly secret: string;
  readonly limiter: Limiter;
  /** Address that messages are mailed to. */
  readonly inbox: string;
  /** Days that messages are stored. */
  readonly keepDays: number;
  readonly log: Logger;
  /** Epoch milliseconds; for tests. */
  readonly now?: () => number;
}

const purpose = 'support form';
/** A stamp older than this is ignored, seconds. */
const stampSeconds = 24 * 60 * 60;
const dayMs = 24 * 60 * 60 * 1000;
/** The same text from the same address within this time is one message. */
const sameMs = 10 * 60 * 1000;
const countEveryMs = 60 * 1000;
/** How long the outbox tries to mail a message, minutes; it is stored longer in any case. */
const retryMinutes = 30 * 24 * 60;

type Inbox = Pick<SupportOptions, 'outbox' | 'inbox'>;

/** @param known whether the sender is signed in with this address */
const toInbox = (
  { outbox, inbox }: Inbox,
  tx: AccountsTransaction,
  fields: SupportFields,
  at: number,
  known: boolean,
): Promise<void> => outbox.enqueue(tx, { kind: 'support', to: inbox, ...fields, at, known, minutes: retryMinutes });

/** A message as it is stored. */
interface NewMessage {
  readonly fields: SupportFields;
  /** `null` when the sender isn't signed in. */
  readonly userId: string | null;
  /** Whether the sender is signed in with this address. */
  readonly known: boolean;
  readonly held: HoldReason | null;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** Stores a message, and mails it unless it is held. @returns `false` when the same message came minutes ago */
function store(database: Database, inbox: Inbox, { fields, userId, known, held: reason, at }: NewMessage) {
  return database.transaction(async (tx) => {
    // Of two simultaneous requests of a sender the second waits here until it finds the first one's message.
    if (database.engine === 'postgres')
      await sql`select pg_advisory_xact_lock(hashtext('support_messages'), hashtext(${fields.email}))`.execute(tx);
    // The button was clicked twice, or the response was lost and the message sent again: it has already been mailed.
    const before = await tx
      .selectFrom('support_messages')
      .select('id')
      .where('email', '=', fields.email)
      .where('created', '>', at - sameMs)
      .where('message', '=', fields.message)
      .where('held', 'is not distinct from', reason)
      .executeTakeFirst();
    if (before) return false;
    const { name, email, phone, message } = fields;
    await tx
      .insertInto('support_messages')
      .values({ id: randomUUID(), created: at, user_id: userId, name, email, phone, message, held: reason })
      .execute();
    if (reason === null) await toInbox(inbox, tx, fields, at, known);
    return true;
  });
}

/** Mails a message that was held. @returns `false` when no message of this id is held */
function releaseHeld(database: Database, inbox: Inbox, id: string): Promise<boolean> {
  return database.transaction(async (tx) => {
    // Of two operators who release the same message one finds it held.
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
    await toInbox(inbox, tx, { name, email, phone, message }, row.created, user !== undefined);
    return true;
  });
}

const heldRows = (database: Database) => database.db.selectFrom('support_messages').where('held', 'is not', null);

/** Messages of an account, and those from its address once it is confirmed. */
const isOwn =
  ({ userId, email, emailVerified }: Owner) =>
  (is: ExpressionBuilder<AccountsDatabase, 'support_messages'>) =>
    is.or([is('user_id', '=', userId), ...(emailVerified ? [is('email', '=', email)] : [])]);

async function exportMessages({ db }: Database, user: Owner): Promise<Readonly<Record<string, unknown>>> {
  const rows = await db
    .selectFrom('support_messages')
    .select(['created', 'name', 'email', 'phone', 'message'])
    .where(isOwn(user))
    .orderBy('created')
    .execute();
  return {
    support_messages: rows.map(({ created, ...row }) => ({ time: new Date(created).toISOString(), ...row })),
  };
}

interface State {
  readonly options: SupportOptions;
  readonly sealer: Sealer;
  readonly now: () => number;
  /** Messages that are held; `null` before they were counted. */
  held: number | null;
}

export function createSupport(options: SupportOptions): Support {
  const { database, outbox, now = Date.now } = options;
  const sealer = createSealer({ secrets: [options.secret], now });
  const state: State = { options, sealer, now, held: null };
  let counting: RepeatedTask | undefined;

  return {
    stamp: () => sealer.seal(purpose, now(), stampSeconds),
    take: (fields, sender) => take(state, fields, sender),
    async heldMessages() {
      const columns = ['id', 'created', 'name', 'email', 'phone', 'message', 'held'] as const;
      const rows = await heldRows(database).select(columns).orderBy('created', 'desc').execute();
      return rows.map((row) => ({ ...row, held: row.held as HoldReason }));
    },
    async release(id) {
      if (!(await releaseHeld(database, options, id))) return false;
      outbox.nudge();
      // The message is already released, so a failure to count is ignored; the database logs its own errors.
      await countHeld(state).catch(() => {});
      return true;
    },
    stats: () => ({ held: state.held }),
    personalData: {
      tables: { support_messages: 'gone' },
      export: (user) => exportMessages(database, user),
      erase: async (user) => void (await database.db.deleteFrom('support_messages').where(isOwn(user)).execute()),
      // The support inbox keeps the message, but not as a message of this account.
      disown: async (tx, userId) =>
        void (await tx.updateTable('support_messages').set({ user_id: null }).where('user_id', '=', userId).execute()),
    },
    oldRows: [rowsUntil(database.db, 'support_messages', ['id'], 'created', () => now() - options.keepDays * dayMs)],
    start() {
      // The database logs its own errors.
      counting ??= repeat(countEveryMs, () => countHeld(state));
      void counting.runNow();
    },
    async stop() {
      await counting?.stop();
    },
  };
}

/** See {@link Support.take}. */
async function take(
  state: State,
  fields: SupportFields,
  { caller, session, honeypot, stamp }: Sender,
): Promise<Delivery> {
  const { options, now } = state;
  const { database, outbox, limiter, log } = options;
  const email = normalEmail(fields.email) ?? fields.email.toLowerCase();
  // Anyone can type any address, so a signed-in user is counted separately from messages that others send under that address.
  const over = await limiter.count('support', { address: caller.address, account: session?.userId ?? email });
  if (over) {
    log.info({ limit: 'support', scope: over.scope }, 'A rate limit of the support form is reached');
    return { ok: false, retryAfter: over.retryAfter };
  }
  const at = now();
  const isConfirmed = session?.emailVerified === true;
  const reason = spamReason(fields, { honeypot, renderedAt: timeOfStamp(state, stamp), known: isConfirmed }, at);
  const known = isConfirmed && session.email === email;
  const userId = session?.userId ?? null;
  const isNew = await store(database, options, { fields: { ...fields, email }, userId, known, held: reason, at });
  if (!isNew) return { ok: true };
  if (reason === null) outbox.nudge();
  else {
    log.info({ reason }, 'A support message looks like spam: it is stored and not mailed');
    if (state.held !== null) state.held++;
  }
  return { ok: true };
}

function timeOfStamp({ sealer }: State, stamp: string): number | null {
  const value = sealer.open(purpose, stamp);
  return typeof value === 'number' ? value : null;
}

async function countHeld(state: State): Promise<void> {
  const row = await heldRows(state.options.database)
    .select((is) => is.fn.countAll<number | string | bigint>().as('count'))
    .executeTakeFirstOrThrow();
  state.held = Number(row.count);
}

export const supportForm: FieldForm<SupportField> = {
  fields: supportFields,
  page: contactPage,
  messages: supportMessages,
  // The longest message, escaped.
  limit: 64 * 1024,
  take: ({ services: { support } }) => support && ((fields, sender) => support.take(fields, sender)),
};
