/**
 * Posting: checked, noted here, handed to WordPress, and noted what came of it. A draft has a number, so that one that is sent
 * again is the same comment: also when WordPress took it and its answer was lost.
 */

import { createHash, randomUUID } from 'node:crypto';
import type { Caller, Session } from '../accounts/service.ts';
import { impersonates } from './impersonation.ts';
import { asMarkup, cleanComment, cleanName, lengthOf, nameProblem } from './model.ts';
import type { ModerationAnswer } from './moderation.server.ts';
import type { OwnComment } from './schema.ts';
import { commentInvalid, commentRefused, tooLong } from './schema.ts';
import type { CommentFailure, CommentOutcome, Draft } from './service.ts';
import { type CommentDependencies, done, failed, failureOf, ownOf, stateOf } from './service.ts';
import type { CommentPostsTable } from './tables.ts';

/** Longer than the moderation waits for an answer: after that the draft is no longer being sent. */
export const claimMs = 30_000;
const day = 24 * 60 * 60 * 1000;

/** Profile attribute of the name that a reader has chosen for comments. */
export const nameAttribute = 'display_name';

/** Name above a reader's comments: the chosen one, else first and last name; never the e-mail address. '' where there is none. */
export async function nameOf({ accounts }: Pick<CommentDependencies, 'accounts'>, session: Session): Promise<string> {
  const profile = await accounts.profile(session);
  const text = (key: string): string => cleanName(String(profile[key] ?? ''));
  const name = text(nameAttribute) || cleanName(`${text('first_name')} ${text('last_name')}`);
  return nameProblem(name) === null ? name : '';
}

/** The words as they are kept, or what is wrong with them. */
export function checkedWords(content: string, longest: number): CommentOutcome<string> {
  const words = cleanComment(content);
  const length = lengthOf(words);
  const wrong = (message: string) => failed({ kind: 'invalid', field: 'content', message });
  if (!/[\p{L}\p{N}\p{S}\p{P}]/u.test(words)) return wrong(commentInvalid.empty);
  if (length > longest) return wrong(tooLong(length - longest));
  return done(words);
}

type Claimed =
  | { readonly kind: 'mine'; readonly row: CommentPostsTable; readonly again: boolean }
  | { readonly kind: 'settled'; readonly row: CommentPostsTable }
  | { readonly kind: 'failed'; readonly failure: CommentFailure };

export interface Posting {
  post(session: Session, draft: Draft, caller: Caller): Promise<CommentOutcome<OwnComment>>;
  /** Notes that WordPress has a comment that nothing was known of. */
  settle(row: CommentPostsTable, answer: Extract<ModerationAnswer, { ok: true }>): Promise<CommentPostsTable>;
}

export function createPosting(dependencies: CommentDependencies): Posting {
  const { database, moderation, limiter, rules, accounts, log, now } = dependencies;

  function isReserved(name: string): boolean {
    const taken = impersonates(name, dependencies.reservedNames?.() ?? []);
    if (taken) log.warn({ name }, 'A comment under the name of the paper or of an author was refused');
    return taken;
  }

  async function chosenName(session: Session, given: string | undefined): Promise<CommentOutcome<string>> {
    const kept = await nameOf(dependencies, session);
    const name = given === undefined ? kept : cleanName(given);
    if (name === kept && name !== '' && !isReserved(name)) return done(name);
    const problem = nameProblem(name);
    if (problem !== null) return failed({ kind: 'invalid', field: 'name', message: problem });
    if (isReserved(name)) return failed({ kind: 'invalid', field: 'name', message: commentRefused.reservedName });
    await accounts.saveProfile(session, { [nameAttribute]: name }, 'merge');
    return done(name);
  }

  const find = (userId: string, draft: string) =>
    database.db
      .selectFrom('comment_posts')
      .selectAll()
      .where('user_id', '=', userId)
      .where('draft', '=', draft)
      .where('state', '<>', 'removed')
      .executeTakeFirst();

  /** Makes the row of a draft, or takes it over where nobody is sending it. Of several at once one gets it. */
  async function claim(fresh: CommentPostsTable): Promise<Claimed> {
    return database.transaction(async (tx): Promise<Claimed> => {
      const said = await tx
        .selectFrom('comment_posts')
        .select('id')
        .where('user_id', '=', fresh.user_id)
        .where('article_id', '=', fresh.article_id)
        .where('parent_id', '=', fresh.parent_id)
        .where('content', '=', fresh.content)
        .where('draft', '<>', fresh.draft)
        .where('state', 'in', ['waiting', 'published'])
        .where('created', '>', fresh.created - day)
        .executeTakeFirst();
      if (said) return { kind: 'failed', failure: { kind: 'duplicate' } };
      // Taken back: the same words in the same place are a new comment.
      await tx
        .updateTable('comment_posts')
        .set({ draft: `removed-${fresh.id}` })
        .where('user_id', '=', fresh.user_id)
        .where('draft', '=', fresh.draft)
        .where('state', '=', 'removed')
        .execute();
      const made = await tx
        .insertInto('comment_posts')
        .values(fresh)
        .onConflict((conflict) => conflict.doNothing())
        .returningAll()
        .executeTakeFirst();
      if (made) return { kind: 'mine', row: made, again: false };
      const row = await tx
        .updateTable('comment_posts')
        .set({ claimed: fresh.claimed, content: fresh.content, name: fresh.name })
        .where('user_id', '=', fresh.user_id)
        .where('draft', '=', fresh.draft)
        .where('state', '=', 'sending')
        .where('claimed', '<=', fresh.claimed - claimMs)
        .returningAll()
        .executeTakeFirst();
      if (row) return { kind: 'mine', row, again: true };
      const other = await tx
        .selectFrom('comment_posts')
        .selectAll()
        .where('user_id', '=', fresh.user_id)
        .where('draft', '=', fresh.draft)
        .executeTakeFirst();
      return other && other.state !== 'sending'
        ? { kind: 'settled', row: other }
        : { kind: 'failed', failure: { kind: 'busy' } };
    });
  }

  async function settle(row: CommentPostsTable, answer: Extract<ModerationAnswer, { ok: true }>) {
    const state = stateOf(answer.status);
    const change = { state, wordpress_id: answer.id, claimed: 0, checked: now() } as const;
    await database.db.updateTable('comment_posts').set(change).where('id', '=', row.id).execute();
    return { ...row, ...change };
  }

  /** Another may send it at once. */
  const release = (id: string) =>
    database.db.updateTable('comment_posts').set({ claimed: 0 }).where('id', '=', id).execute();
  const drop = (id: string) => database.db.deleteFrom('comment_posts').where('id', '=', id).execute();

  async function send(
    row: CommentPostsTable,
    session: Session,
    caller: Caller,
    again: boolean,
  ): Promise<ModerationAnswer> {
    const content = asMarkup(row.content);
    if (again) {
      const taken = await moderation.find(row.id);
      // Taken the first time, perhaps with other words.
      if (taken.ok) return moderation.edit(taken.id, content);
      if (taken.kind === 'unavailable') return taken;
    }
    return moderation.post({
      articleId: Number(row.article_id),
      parentId: Number(row.parent_id),
      name: row.name,
      email: session.email,
      address: caller.address,
      userAgent: caller.userAgent,
      content,
      date: Number(row.created),
      key: row.id,
      confirmed: session.emailVerified,
    });
  }

  return {
    settle,
    async post(session, draft, caller) {
      const { place } = draft;
      if (place === null) return failed({ kind: 'gone' });
      if (!place.open) return failed({ kind: 'closed' });
      if (!session.emailVerified) return failed({ kind: 'unconfirmed' });
      if (rules.level === 'subscriber' && !(await dependencies.isPaying(session)))
        return failed({ kind: 'subscribers-only' });
      const words = checkedWords(draft.content, rules.longest);
      if (!words.ok) return words;
      const name = await chosenName(session, draft.name);
      if (!name.ok) return name;

      const key = draft.draft ?? draftOf(place.articleId, place.parentId, words.value);
      const who = { address: caller.address, email: session.email };
      const counted = !(await find(session.userId, key));
      if (counted) {
        const over = await limiter.count('comment', who);
        if (over) return failed({ kind: 'limited', retryAfter: over.retryAfter });
      }
      const time = now();
      const claimed = await claim({
        id: randomUUID(),
        user_id: session.userId,
        draft: key,
        name: name.value,
        content: words.value,
        article_id: place.articleId,
        parent_id: place.parentId,
        state: 'sending',
        wordpress_id: null,
        claimed: time,
        created: time,
        edited: null,
        checked: time,
      });
      if (claimed.kind === 'failed') {
        // What was said already is no further comment.
        if (counted) await limiter.giveBack('comment', who);
        return failed(claimed.failure);
      }
      if (claimed.kind === 'settled') return done(ownOf(claimed.row, rules, now()));

      const { row, again } = claimed;
      const answer = await send(row, session, caller, again);
      if (answer.ok) return done(ownOf(await settle(row, answer), rules, now()));
      if (answer.kind === 'unavailable') {
        await release(row.id);
        log.warn({ why: answer.why }, 'A comment could not be sent to WordPress; its author was asked to try again');
        return failed({ kind: 'unavailable' });
      }
      // A spam filter dropped it without a trace: it is settled, and sending it again changes nothing.
      if (answer.code === 'newsroom_comment_discarded') {
        const change = { state: 'declined', claimed: 0, checked: now() } as const;
        await database.db.updateTable('comment_posts').set(change).where('id', '=', row.id).execute();
        return done(ownOf({ ...row, ...change }, rules, now()));
      }
      const failure = failureOf(answer);
      if (failure.kind === 'busy') {
        await release(row.id);
        return failed(failure);
      }
      // WordPress took it the first time and cannot say under which number: it waits like every other.
      if (failure.kind === 'duplicate' && again) {
        const kept = { ...row, state: 'waiting', claimed: 0 } as const;
        await database.db
          .updateTable('comment_posts')
          .set({ state: 'waiting', claimed: 0 })
          .where('id', '=', row.id)
          .execute();
        return done(ownOf(kept, rules, now()));
      }
      await drop(row.id);
      if (failure.kind === 'unavailable') {
        log.error({ status: answer.status, code: answer.code }, 'WordPress refuses comments from the site');
      }
      return failed(failure);
    },
  };
}

/** Number of a draft that was sent without one: of the same words in the same place. */
const draftOf = (articleId: number, parentId: number, words: string): string =>
  `words-${createHash('sha256').update(`${articleId}\n${parentId}\n${words}`).digest('hex').slice(0, 40)}`;
