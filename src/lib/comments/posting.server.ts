/**
 * Posting a comment: check it, store it, send it to WordPress, record the answer. A draft has an id, so that sending it again creates
 * no second comment, even if WordPress accepted it and the response was lost.
 */
import { createHash, randomUUID } from 'node:crypto';
import type { Caller, Session } from '../accounts/service.ts';
import type { Database } from '../database.ts';
import { impersonates } from './impersonation.ts';
import { asMarkup, type CommentPostsTable, cleanComment, cleanName, lengthOf, nameProblem } from './model.ts';
import type { Moderation, ModerationAnswer } from './moderation.server.ts';
import { commentInvalid, commentRefused, type OwnComment, tooLong } from './schema.ts';
import {
  type CommentDependencies,
  type CommentFailure,
  type CommentOutcome,
  type Draft,
  done,
  failed,
  failureOf,
  ownOf,
  stateOf,
} from './service.ts';

/** Longer than the time limit of a request to WordPress: after that, no request is sending the draft. */
export const claimMs = 30_000;
const day = 24 * 60 * 60 * 1000;

/** Profile attribute of the name that a user chose for comments. */
const nameAttribute = 'display_name';

/** Name of a user's comments: the chosen one, else first and last name, never the email address; '' where there is none. */
export async function nameOf({ accounts }: Pick<CommentDependencies, 'accounts'>, session: Session): Promise<string> {
  const profile = await accounts.profile(session);
  const text = (key: string): string => cleanName(String(profile[key] ?? ''));
  const name = text(nameAttribute) || cleanName(`${text('first_name')} ${text('last_name')}`);
  return nameProblem(name) === null ? name : '';
}

/** The text as it is stored, or the problem with it. */
export function checkText(content: string, longest: number): CommentOutcome<string> {
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

/** See {@link Comments.post}, which calls it. */
export async function postDraft(
  dependencies: CommentDependencies,
  session: Session,
  draft: Draft,
  caller: Caller,
): Promise<CommentOutcome<OwnComment>> {
  const { database, limiter, rules, now } = dependencies;
  const { place } = draft;
  if (place === null) return failed({ kind: 'gone' });
  if (!place.open) return failed({ kind: 'closed' });
  if (!session.emailVerified) return failed({ kind: 'unconfirmed' });
  if (rules.level === 'subscriber' && !(await dependencies.isSubscriber(session)))
    return failed({ kind: 'subscribers-only' });
  const words = checkText(draft.content, rules.longest);
  if (!words.ok) return words;
  const name = await chosenName(dependencies, session, draft.name);
  if (!name.ok) return name;

  const key = draft.draft ?? draftIdOf(place.articleId, place.parentId, words.value);
  const subject = { address: caller.address, account: session.email };
  const counted = !(await isKnown(database, session.userId, key));
  if (counted) {
    const over = await limiter.count('comment', subject);
    if (over) return failed({ kind: 'limited', retryAfter: over.retryAfter });
  }
  const time = now();
  const claimed = await claim(database, {
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
    // A duplicate must not count against the rate limit.
    if (counted) await limiter.release('comment', subject);
    return failed(claimed.failure);
  }
  if (claimed.kind === 'settled') return done(ownOf(claimed.row, rules, now()));
  const answer = await send(dependencies.moderation, claimed.row, session, caller, claimed.again);
  return record(dependencies, claimed.row, answer, claimed.again);
}

function isReserved({ reservedNames, log }: CommentDependencies, name: string): boolean {
  const taken = impersonates(name, reservedNames?.() ?? []);
  if (taken) log.warn({}, 'A comment under the name of the newspaper or of an author was refused');
  return taken;
}

/** The name to show, saved to the profile where the user changes it. @param given `undefined`: keep the current name */
async function chosenName(
  dependencies: CommentDependencies,
  session: Session,
  given: string | undefined,
): Promise<CommentOutcome<string>> {
  const current = await nameOf(dependencies, session);
  const name = given === undefined ? current : cleanName(given);
  if (name === current && name !== '' && !isReserved(dependencies, name)) return done(name);
  const problem = nameProblem(name);
  if (problem !== null) return failed({ kind: 'invalid', field: 'name', message: problem });
  if (isReserved(dependencies, name)) {
    return failed({ kind: 'invalid', field: 'name', message: commentRefused.reservedName });
  }
  await dependencies.accounts.saveProfile(session, { [nameAttribute]: name }, 'merge');
  return done(name);
}

/** Whether this draft was sent before and not deleted. */
async function isKnown({ db }: Database, userId: string, draft: string): Promise<boolean> {
  const row = await db
    .selectFrom('comment_posts')
    .select('id')
    .where('user_id', '=', userId)
    .where('draft', '=', draft)
    .where('state', '<>', 'removed')
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Inserts a draft's row, or takes it over if no other request is sending it. Only one of several simultaneous requests
 * succeeds.
 */
function claim(database: Database, fresh: CommentPostsTable): Promise<Claimed> {
  return database.transaction(async (tx): Promise<Claimed> => {
    const same = await tx
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
    if (same) return { kind: 'failed', failure: { kind: 'duplicate' } };
    // After a deletion the same text in the same place is a new comment.
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

/** Sends a comment to WordPress. @param again whether an earlier request may have sent it, perhaps with another text */
async function send(
  moderation: Moderation,
  row: CommentPostsTable,
  session: Session,
  caller: Caller,
  again: boolean,
): Promise<ModerationAnswer> {
  const content = asMarkup(row.content);
  if (again) {
    const found = await moderation.find(row.id);
    if (found.ok) return moderation.edit(found.id, content);
    if (found.kind === 'unavailable') return found;
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

/** Records WordPress's answer in the row of a comment that was sent. */
async function record(
  dependencies: CommentDependencies,
  row: CommentPostsTable,
  answer: ModerationAnswer,
  again: boolean,
): Promise<CommentOutcome<OwnComment>> {
  const { database, rules, log, now } = dependencies;
  const change = async (values: Partial<CommentPostsTable>): Promise<CommentPostsTable> => {
    await database.db.updateTable('comment_posts').set(values).where('id', '=', row.id).execute();
    return { ...row, ...values };
  };
  if (answer.ok) return done(ownOf(await recordResult(dependencies, row, answer), rules, now()));
  // A row without a claim may be sent again at once.
  if (answer.kind === 'unavailable') {
    await change({ claimed: 0 });
    log.warn({ why: answer.why }, 'WordPress did not accept a comment; its author was asked to try again');
    return failed({ kind: 'unavailable' });
  }
  // A spam filter dropped it; sending it again changes nothing.
  if (answer.code === 'newsroom_comment_discarded') {
    return done(ownOf(await change({ state: 'declined', claimed: 0, checked: now() }), rules, now()));
  }
  const failure = failureOf(answer);
  if (failure.kind === 'busy') {
    await change({ claimed: 0 });
    return failed(failure);
  }
  // WordPress accepted the first request, but its response doesn't name the comment: it waits for the editors like any other
  // comment.
  if (failure.kind === 'duplicate' && again) {
    return done(ownOf(await change({ state: 'waiting', claimed: 0 }), rules, now()));
  }
  await database.db.deleteFrom('comment_posts').where('id', '=', row.id).execute();
  if (failure.kind === 'unavailable') {
    log.error({ status: answer.status, code: answer.code }, 'WordPress refuses comments from the site');
  }
  return failed(failure);
}

/** Records a comment that WordPress has. */
export async function recordResult(
  { database, jobs, now }: CommentDependencies,
  row: CommentPostsTable,
  answer: Extract<ModerationAnswer, { ok: true }>,
): Promise<CommentPostsTable> {
  const change = { state: stateOf(answer.status), wordpress_id: answer.id, claimed: 0, checked: now() } as const;
  const { numUpdatedRows } = await database.db
    .updateTable('comment_posts')
    .set(change)
    .where('id', '=', row.id)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) {
    // The account was deleted in the meantime, perhaps too late for the deletion to find this comment.
    await jobs.add(database.db, { kind: 'erase', subject: String(answer.id), once: true });
  }
  return { ...row, ...change };
}

/** Id of a draft that came without one: the same text in the same place has the same id. */
const draftIdOf = (articleId: number, parentId: number, words: string): string =>
  `words-${createHash('sha256').update(`${articleId}\n${parentId}\n${words}`).digest('hex').slice(0, 40)}`;
