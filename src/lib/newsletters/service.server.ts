/** The newsletters service: choices in the accounts' database, tokens that end them, and issues on their way to the outbox. */

import { setTimeout as wait } from 'node:timers/promises';
import type { Session } from '../accounts/service.ts';
import type { AccountsTransaction, Database } from '../database.ts';
import { dayInZone } from '../day-in-zone.ts';
import { isAddress } from '../mail/address.ts';
import type { NewsletterIssue, Outbox } from '../mail/model.ts';
import type { PersonalData } from '../personal-data.ts';
import { createSealer } from '../sealed.server.ts';
import { type Choice, knownChoices } from './model.ts';
import { mailFields, unsubscribePath } from './schema.ts';

/** How far an issue has got. */
export interface Addressed {
  /** Readers for whom it is handed to the outbox, all runs together. */
  readonly readers: number;
  /** Whether everybody has got it who chose it. */
  readonly finished: boolean;
}

export interface SendOptions {
  /** Stops between two batches; what is handed over stays, and the next run goes on from there. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (readers: number, waiting: boolean) => void;
  /** Readers of one transaction; for tests. */
  readonly batch?: number;
}

export interface Newsletters {
  /** What a reader has chosen, in the order of `choices.ts`. */
  choices(userId: string): Promise<readonly Choice[]>;
  /** Makes these the choices, and no others. */
  choose(session: Session, choices: readonly Choice[]): Promise<void>;
  /** Adds to what was chosen before. */
  add(session: Session, choices: readonly Choice[]): Promise<void>;
  /** What an unsubscribe token would end; `null` when it is none of ours, or too old. Uses nothing up. */
  peek(token: string): Choice | null;
  /** Ends what the token names, or takes that back. Both may be said twice. @returns as {@link peek} */
  unsubscribe(token: string): Promise<Choice | null>;
  resubscribe(token: string): Promise<Choice | null>;
  /**
   * Hands an issue to the outbox for everybody who chose the letter and whose address is confirmed. A letter has one issue a day: the
   * first call writes it down, every later one goes on with that, and each reader gets it once however many processes call.
   *
   * @param compose asked only when the day has no issue yet; `null`: there is nothing to send
   */
  send(
    slug: string,
    compose: (day: string) => NewsletterIssue | null,
    options?: SendOptions,
  ): Promise<Addressed | null>;
  readonly personalData: PersonalData;
}

export interface NewslettersOptions {
  readonly database: Database;
  readonly outbox: Pick<Outbox<AccountsTransaction>, 'enqueue' | 'nudge' | 'waiting'>;
  /** Of the accounts; a new one voids the unsubscribe links of mails that were sent. */
  readonly secret: string;
  readonly siteUrl: string;
  /** Epoch milliseconds; for tests. */
  readonly now?: () => number;
}

const purpose = 'unsubscribe';
/** A letter's way out works this long, in seconds; the law asks for 30 days. */
const tokenSeconds = 400 * 24 * 60 * 60;
/** A newsletter that cannot be sent within this many minutes is yesterday's. */
const freshMinutes = 12 * 60;
/** Letters in the outbox at once: it is never so full that a code would be long in coming. */
const mostWaiting = 500;
/** Issues are remembered this long, so that a day's is not sent twice. */
const issuesKeptMs = 30 * 24 * 60 * 60 * 1000;
const usualBatch = 100;

export function createNewsletters(options: NewslettersOptions): Newsletters {
  const { database, outbox, siteUrl, now = Date.now } = options;
  const sealer = createSealer({ secrets: [options.secret], now });

  const linkFor = (userId: string, choice: Choice): string =>
    `${siteUrl}${unsubscribePath}?${mailFields.token}=${sealer.seal(purpose, [userId, choice], tokenSeconds)}`;

  function open(token: string): { readonly userId: string; readonly choice: Choice } | null {
    const value = sealer.open(purpose, token);
    if (!Array.isArray(value)) return null;
    const [userId, choice] = value as unknown[];
    // A letter that is not published any more can still be left.
    return typeof userId === 'string' && typeof choice === 'string' ? { userId, choice } : null;
  }

  async function put(tx: AccountsTransaction, userId: string, choices: readonly Choice[]): Promise<void> {
    if (choices.length === 0) return;
    await tx
      .insertInto('mail_choices')
      .values(choices.map((choice) => ({ user_id: userId, choice, since: now() })))
      .onConflict((conflict) => conflict.columns(['user_id', 'choice']).doNothing())
      .execute();
  }

  /** The next readers of an issue, in one transaction with the note of how far it got: each of them once. */
  const step = (id: string, batch: number): Promise<Addressed> =>
    database.transaction(async (tx) => {
      // Held, so that of two who send the same letter one goes on where the other was.
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
        await outbox.enqueue(tx, {
          ...content,
          kind: 'newsletter',
          to: email,
          unsubscribe: linkFor(userId, issue.letter),
          minutes: freshMinutes,
        });
      }
      const finished = readers.length < batch;
      await tx
        .updateTable('newsletter_issues')
        .set({ cursor: readers.at(-1)?.id ?? issue.cursor, addressed, finished: finished ? now() : null })
        .where('id', '=', id)
        .execute();
      return { readers: addressed, finished };
    });

  return {
    async choices(userId) {
      const rows = await database.db
        .selectFrom('mail_choices')
        .select('choice')
        .where('user_id', '=', userId)
        .execute();
      return knownChoices(rows.map(({ choice }) => choice));
    },
    choose: ({ userId }, choices) =>
      database.transaction(async (tx) => {
        const wanted = knownChoices(choices);
        await tx
          .deleteFrom('mail_choices')
          .where('user_id', '=', userId)
          .$if(wanted.length > 0, (rows) => rows.where('choice', 'not in', wanted))
          .execute();
        await put(tx, userId, wanted);
      }),
    add: ({ userId }, choices) => database.transaction((tx) => put(tx, userId, knownChoices(choices))),

    peek: (token) => open(token)?.choice ?? null,
    async unsubscribe(token) {
      const named = open(token);
      if (!named) return null;
      const { userId, choice } = named;
      await database.db.deleteFrom('mail_choices').where('user_id', '=', userId).where('choice', '=', choice).execute();
      return choice;
    },
    async resubscribe(token) {
      const named = open(token);
      if (!named) return null;
      await database.transaction(async (tx) => {
        const user = await tx.selectFrom('users').select('id').where('id', '=', named.userId).executeTakeFirst();
        if (user) await put(tx, named.userId, knownChoices([named.choice]));
      });
      return named.choice;
    },

    async send(slug, compose, { signal, onProgress, batch = usualBatch } = {}) {
      const day = dayInZone(now());
      const id = `${slug}:${day}`;
      const known = await database.db
        .selectFrom('newsletter_issues')
        .select('id')
        .where('id', '=', id)
        .executeTakeFirst();
      if (!known) {
        const issue = compose(day);
        if (!issue) return null;
        const content = JSON.stringify(issue);
        await database.db
          .insertInto('newsletter_issues')
          .values({ id, letter: slug, day, content, cursor: '', addressed: 0, created: now(), finished: null })
          .onConflict((conflict) => conflict.column('id').doNothing())
          .execute();
        await database.db
          .deleteFrom('newsletter_issues')
          .where('created', '<', now() - issuesKeptMs)
          .execute();
      }
      let done: Addressed = { readers: 0, finished: false };
      while (!signal?.aborted) {
        const { count } = await outbox.waiting();
        if (count >= mostWaiting) {
          onProgress?.(done.readers, true);
          // Aborting is no fault: what was handed over stays.
          await wait(500, undefined, signal && { signal }).catch(() => {});
          continue;
        }
        done = await step(id, batch);
        outbox.nudge();
        onProgress?.(done.readers, false);
        if (done.finished) break;
      }
      return done;
    },

    personalData: {
      tables: { mail_choices: 'gone' },
      async export({ userId }) {
        const rows = await database.db
          .selectFrom('mail_choices')
          .select(['choice', 'since'])
          .where('user_id', '=', userId)
          .orderBy('since')
          .execute();
        return { mail_choices: rows.map(({ choice, since }) => ({ choice, since: new Date(since).toISOString() })) };
      },
      // Choices are deleted with the account's row.
      erase: async () => {},
      disown: async (tx, userId) => void (await tx.deleteFrom('mail_choices').where('user_id', '=', userId).execute()),
    },
  };
}
