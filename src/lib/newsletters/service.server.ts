/** The newsletters service: choices in the accounts' database, unsubscribe tokens, and sending an issue through the outbox. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Session } from '../accounts/service.ts';
import { createSealer, type Sealer } from '../crypto.server.ts';
import { type AccountsTransaction, type Database, lockUserRow } from '../database.ts';
import { dayInZone } from '../day-in-zone.ts';
import { isAddress, type NewsletterIssue, type Outbox } from '../mail/model.ts';
import type { DeclaredData } from '../personal-data.ts';
import { breaking, type Choice, knownChoices } from './model.ts';
import { mailFields, unsubscribePath } from './schema.ts';

/** How far an issue has been sent. */
export interface Addressed {
  /** Readers whose copy is in the outbox, including earlier runs. */
  readonly readers: number;
  /** Whether all subscribers of the newsletter are addressed. */
  readonly finished: boolean;
}

export interface SendOptions {
  /** Stops between two batches; the next run continues from there. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: (readers: number, waiting: boolean) => void;
  /** Readers of one transaction; for tests. */
  readonly batch?: number;
}

export interface Newsletters {
  /** What a reader has chosen, in the order of `allChoices`. */
  choices(userId: string): Promise<readonly Choice[]>;
  /** Replaces the choices. */
  choose(session: Session, choices: readonly Choice[]): Promise<void>;
  /** Adds to the choices. */
  add(session: Session, choices: readonly Choice[]): Promise<void>;
  /** The choice that an unsubscribe token would end; `null` for an invalid or expired one. Changes nothing. */
  peek(token: string): Choice | null;
  /** Ends the choice that the token names, or restores it. Both may be repeated. @returns as {@link peek} */
  unsubscribe(token: string): Promise<Choice | null>;
  resubscribe(token: string): Promise<Choice | null>;
  /**
   * Puts an issue into the outbox for all who chose the newsletter and whose address is confirmed. A newsletter has one issue a day:
   * the first call stores it, later ones continue it, and each reader gets it once however many processes call.
   *
   * @param compose called only when the day has no issue yet; `null`: there is nothing to send
   */
  send(
    slug: string,
    compose: (day: string) => NewsletterIssue | null,
    options?: SendOptions,
  ): Promise<Addressed | null>;
  /**
   * The same for an alert, once for each alert: it is sent before newsletters, and dropped if it can't be sent within an hour.
   *
   * @param id of the alert
   * @param isWanted called before each batch; `false` stops the sending, for example after the alert was withdrawn
   */
  sendAlert(id: string, issue: NewsletterIssue, isWanted: () => boolean, options?: SendOptions): Promise<Addressed>;
  /** How much of an alert has been sent; `null`: nothing. */
  alertSent(id: string): Promise<Addressed | null>;
  readonly personalData: DeclaredData;
}

export interface NewslettersOptions {
  readonly database: Database;
  readonly outbox: Pick<Outbox<AccountsTransaction>, 'enqueue' | 'nudge' | 'waiting'>;
  /** The accounts' secret; changing it invalidates the unsubscribe links of sent mail. */
  readonly secret: string;
  readonly siteUrl: string;
  /** Epoch milliseconds; for tests. */
  readonly now?: () => number;
}

const purpose = 'unsubscribe';
/** How long an unsubscribe link works, seconds; the law requires 30 days. */
const tokenSeconds = 400 * 24 * 60 * 60;
/** A newsletter that can't be sent within this many minutes is dropped. */
const freshMinutes = 12 * 60;
/** The same for an alert. */
const alertMinutes = 60;
/** Most newsletters in the outbox at a time, so that a code never waits long behind them. */
const mostWaiting = 500;
/** The same while an alert is sent, which doesn't wait for a newsletter. */
const mostBeforeAlerts = 2000;
/** How long issues are stored, so that none is sent twice. */
const issuesKeptMs = 30 * 24 * 60 * 60 * 1000;
const usualBatch = 100;

interface State extends Pick<NewslettersOptions, 'database' | 'outbox' | 'siteUrl'> {
  readonly sealer: Sealer;
  readonly now: () => number;
}

export function createNewsletters({
  database,
  outbox,
  siteUrl,
  secret,
  now = Date.now,
}: NewslettersOptions): Newsletters {
  const { db } = database;
  const sealer = createSealer({ secrets: [secret], now });
  const state: State = { database, outbox, siteUrl, sealer, now };

  return {
    async choices(userId) {
      const rows = await db.selectFrom('mail_choices').select('choice').where('user_id', '=', userId).execute();
      return knownChoices(rows.map(({ choice }) => choice));
    },
    choose: ({ userId }, choices) =>
      database.transaction(async (tx) => {
        const wanted = knownChoices(choices);
        // A choice that another tab makes at the same time must not add to this one.
        await lockUserRow(tx, userId);
        await tx
          .deleteFrom('mail_choices')
          .where('user_id', '=', userId)
          .$if(wanted.length > 0, (rows) => rows.where('choice', 'not in', wanted))
          .execute();
        await addChoices(tx, userId, wanted, now());
      }),
    add: ({ userId }, choices) => database.transaction((tx) => addChoices(tx, userId, knownChoices(choices), now())),

    peek: (token) => readToken(sealer, token)?.choice ?? null,
    async unsubscribe(token) {
      const choiceInToken = readToken(sealer, token);
      if (!choiceInToken) return null;
      const { userId, choice } = choiceInToken;
      await db.deleteFrom('mail_choices').where('user_id', '=', userId).where('choice', '=', choice).execute();
      return choice;
    },
    async resubscribe(token) {
      const choiceInToken = readToken(sealer, token);
      if (!choiceInToken) return null;
      await database.transaction(async (tx) => {
        const user = await tx
          .selectFrom('users')
          .select('id')
          .where('id', '=', choiceInToken.userId)
          .executeTakeFirst();
        if (user) await addChoices(tx, choiceInToken.userId, knownChoices([choiceInToken.choice]), now());
      });
      return choiceInToken.choice;
    },
    async send(slug, compose, options) {
      const day = dayInZone(now());
      const id = `${slug}:${day}`;
      const isStored = await storeIssue(state, id, slug, day, () => compose(day));
      return isStored ? addressAll(state, id, () => true, options) : null;
    },
    async sendAlert(alert, issue, isWanted, options) {
      const id = alertIssue(alert);
      await storeIssue(state, id, breaking.slug, dayInZone(now()), () => issue);
      return addressAll(state, id, isWanted, options);
    },
    alertSent: (alert) => progressOf(state, alertIssue(alert)),
    personalData: personalDataOf(database),
  };
}

const personalDataOf = ({ db }: Database): DeclaredData => ({
  tables: { mail_choices: 'gone' },
  async export({ userId }) {
    const rows = await db
      .selectFrom('mail_choices')
      .select(['choice', 'since'])
      .where('user_id', '=', userId)
      .orderBy('since')
      .execute();
    return { mail_choices: rows.map(({ choice, since }) => ({ choice, since: new Date(since).toISOString() })) };
  },
});

/** Deletes all choices of the reader with an address. */
export async function forgetChoices({ db }: Database, address: string): Promise<void> {
  const reader = db.selectFrom('users').select('id').where('email', '=', address);
  await db.deleteFrom('mail_choices').where('user_id', 'in', reader).execute();
}

/** The content of an unsubscribe token. A newsletter that is no longer published can still be unsubscribed from. */
function readToken(sealer: Sealer, token: string): { readonly userId: string; readonly choice: Choice } | null {
  const value = sealer.open(purpose, token);
  if (!Array.isArray(value)) return null;
  const [userId, choice] = value as unknown[];
  return typeof userId === 'string' && typeof choice === 'string' ? { userId, choice } : null;
}

async function addChoices(
  tx: AccountsTransaction,
  userId: string,
  choices: readonly Choice[],
  since: number,
): Promise<void> {
  if (choices.length === 0) return;
  await tx
    .insertInto('mail_choices')
    .values(choices.map((choice) => ({ user_id: userId, choice, since })))
    .onConflict((conflict) => conflict.columns(['user_id', 'choice']).doNothing())
    .execute();
}

const alertIssue = (alert: string): string => `${breaking.slug}:${alert}`;

/** How far an issue has been sent; `null`: it isn't stored. */
async function progressOf({ database: { db } }: State, id: string): Promise<Addressed | null> {
  const row = await db
    .selectFrom('newsletter_issues')
    .select(['addressed', 'finished'])
    .where('id', '=', id)
    .executeTakeFirst();
  return row ? { readers: row.addressed, finished: row.finished !== null } : null;
}

/** Addresses a stored issue to all its readers. */
async function addressAll(
  state: State,
  id: string,
  isWanted: () => boolean,
  { signal, onProgress, batch = usualBatch }: SendOptions = {},
): Promise<Addressed> {
  const { outbox } = state;
  const most = id.startsWith(alertIssue('')) ? mostBeforeAlerts : mostWaiting;
  let done = (await progressOf(state, id)) ?? { readers: 0, finished: false };
  while (!signal?.aborted && isWanted()) {
    const { count } = await outbox.waiting();
    if (count >= most) {
      onProgress?.(done.readers, true);
      // Aborting isn't an error: queued copies stay.
      await wait(500, undefined, signal && { signal }).catch(() => {});
      continue;
    }
    done = await addressNext(state, id, batch);
    outbox.nudge();
    onProgress?.(done.readers, false);
    if (done.finished) break;
  }
  return done;
}

/** Stores an issue unless it is stored already. @returns `false`: there is nothing to send */
async function storeIssue(
  { database: { db }, now }: State,
  id: string,
  letter: string,
  day: string,
  compose: () => NewsletterIssue | null,
): Promise<boolean> {
  const known = await db.selectFrom('newsletter_issues').select('id').where('id', '=', id).executeTakeFirst();
  if (known) return true;
  const issue = compose();
  if (!issue) return false;
  const content = JSON.stringify(issue);
  await db
    .insertInto('newsletter_issues')
    .values({ id, letter, day, content, cursor: '', addressed: 0, created: now(), finished: null })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
  await db
    .deleteFrom('newsletter_issues')
    .where('created', '<', now() - issuesKeptMs)
    .execute();
  return true;
}

/** Addresses an issue to the next readers, in one transaction with the record of its progress, so that each gets it once. */
const addressNext = (
  { database, outbox, siteUrl, sealer, now }: State,
  id: string,
  batch: number,
): Promise<Addressed> =>
  database.transaction(async (tx) => {
    // Locks the row: of two processes that send the same issue, the second continues after the first.
    const issue = await tx
      .updateTable('newsletter_issues')
      .set((is) => ({ addressed: is.ref('addressed') }))
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow();
    if (issue.finished !== null) return { readers: issue.addressed, finished: true };
    const readers = await tx
      .selectFrom('mail_choices')
      .innerJoin('users', 'users.id', 'mail_choices.user_id')
      .select(['users.id', 'users.email'])
      .where('mail_choices.choice', '=', issue.letter)
      .where('mail_choices.user_id', '>', issue.cursor)
      .where('users.emailVerified', '=', 1)
      .orderBy('mail_choices.user_id')
      .limit(batch)
      .execute();
    const content = JSON.parse(issue.content) as NewsletterIssue;
    let addressed = issue.addressed;
    for (const { id: userId, email } of readers) {
      if (!isAddress(email)) continue;
      addressed++;
      const token = sealer.seal(purpose, [userId, issue.letter], tokenSeconds);
      const unsubscribe = `${siteUrl}${unsubscribePath}?${mailFields.token}=${token}`;
      const minutes = content.alert ? alertMinutes : freshMinutes;
      await outbox.enqueue(tx, { ...content, kind: 'newsletter', to: email, unsubscribe, minutes });
    }
    const finished = readers.length < batch;
    await tx
      .updateTable('newsletter_issues')
      .set({ cursor: readers.at(-1)?.id ?? issue.cursor, addressed, finished: finished ? now() : null })
      .where('id', '=', id)
      .execute();
    return { readers: addressed, finished };
  });
