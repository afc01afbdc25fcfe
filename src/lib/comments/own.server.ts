/** A user's own comments: their state, and editing and deleting them while there is time. */
import type { Caller, Session } from '../accounts/service.ts';
import type { Database } from '../database.ts';
import { asMarkup, type CommentPostsTable } from './model.ts';
import { checkText, nameOf } from './posting.server.ts';
import type { MineAnswer, OwnComment } from './schema.ts';
import {
  type CommentDependencies,
  type CommentOutcome,
  changeableUntil,
  done,
  failed,
  failureOf,
  ownOf,
  stateOf,
} from './service.ts';

const day = 24 * 60 * 60 * 1000;
/** Shortest time between two requests for the state of a comment that the page doesn't show. */
const checkAgainMs = 5 * 60 * 1000;
/**
 * Most simultaneous look-ups of all users, so that many comments don't overload WordPress. The rest are checked at the next
 * request.
 */
const mostChecking = 5;
/** Most comments of one user under one article that are shown. */
const most = 50;

/** Running look-ups by comment. */
export type Checking = Map<string, Promise<void>>;

/** See {@link Comments.mine}. */
export async function listOwn(
  dependencies: CommentDependencies,
  checking: Checking,
  session: Session,
  articleId: number,
  isPublished: (id: number) => boolean,
): Promise<MineAnswer> {
  const { database, rules, isSubscriber } = dependencies;
  const rows = await database.db
    .selectFrom('comment_posts')
    .selectAll()
    .where('user_id', '=', session.userId)
    .where('article_id', '=', articleId)
    .where('state', 'in', ['waiting', 'published', 'declined'])
    .orderBy('created', 'desc')
    .limit(most)
    .execute();
  const reported = await database.db
    .selectFrom('comment_reports')
    .select('comment_id')
    .where('user_id', '=', session.userId)
    .orderBy('at', 'desc')
    .limit(500)
    .execute();
  const time = dependencies.now();
  const own = rows.map((row) => ({ row, comment: ownOf(row, rules, time, isPublished) }));
  for (const { row, comment } of own) if (comment.status === 'waiting') checkLater(dependencies, checking, row);
  const showSince = time - rules.showWaitingDays * day;
  return {
    name: await nameOf(dependencies, session),
    mayWrite: rules.level === 'registered' || (await isSubscriber(session)),
    comments: own
      .filter(({ row, comment }) => comment.status === 'published' || Number(row.created) > showSince)
      .map(({ comment }) => comment),
    reported: reported.map(({ comment_id }) => Number(comment_id)),
  };
}

/** Asks WordPress for the state in the background; the next request shows it. */
function checkLater(
  { database, moderation, log, now }: CommentDependencies,
  checking: Checking,
  row: CommentPostsTable,
): void {
  if (row.wordpress_id === null || Number(row.checked) > now() - checkAgainMs || checking.has(row.id)) return;
  if (checking.size >= mostChecking) return;
  const fetchAndStore = async (): Promise<void> => {
    const answer = await moderation.fetchStatus(Number(row.wordpress_id));
    const values: Partial<CommentPostsTable> = { checked: now() };
    if (answer.ok) values.state = stateOf(answer.status);
    else if (answer.kind === 'refused' && answer.status === 404) values.state = 'declined';
    await change(database, row.id, values);
  };
  const run = fetchAndStore()
    .catch((error: unknown) => log.warn({ err: error }, 'Asking WordPress for the state of a comment failed'))
    .finally(() => checking.delete(row.id));
  checking.set(row.id, run);
}

/** @returns `false` if the author has deleted the comment in the meantime; it stays deleted */
async function change({ db }: Database, id: string, values: Partial<CommentPostsTable>): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('comment_posts')
    .set(values)
    .where('id', '=', id)
    .where('state', '<>', 'removed')
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** The comment, if its author may still change it. */
async function changeable(
  { database, rules, now }: CommentDependencies,
  session: Session,
  id: string,
): Promise<CommentOutcome<CommentPostsTable & { wordpress_id: number }>> {
  const row = await database.db
    .selectFrom('comment_posts')
    .selectAll()
    .where('id', '=', id)
    .where('user_id', '=', session.userId)
    .where('state', '<>', 'removed')
    .executeTakeFirst();
  if (!row || row.wordpress_id === null || row.state === 'declined') return failed({ kind: 'gone' });
  if (now() >= changeableUntil(Number(row.created), rules)) return failed({ kind: 'too-late' });
  return done({ ...row, wordpress_id: Number(row.wordpress_id) });
}

/** See {@link Comments.edit}. */
export async function editOwn(
  dependencies: CommentDependencies,
  session: Session,
  id: string,
  content: string,
  caller: Caller,
): Promise<CommentOutcome<OwnComment>> {
  const { database, moderation, limiter, rules, now } = dependencies;
  if (!session.emailVerified) return failed({ kind: 'unconfirmed' });
  const found = await changeable(dependencies, session, id);
  if (!found.ok) return found;
  const words = checkText(content, rules.longest);
  if (!words.ok) return words;
  const row = found.value;
  if (words.value === row.content) return done(ownOf(row, rules, now()));
  const over = await limiter.count('comment', { address: caller.address, account: session.email });
  if (over) return failed({ kind: 'limited', retryAfter: over.retryAfter });
  const answer = await moderation.edit(row.wordpress_id, asMarkup(words.value));
  if (!answer.ok) return failed(failureOf(answer));
  const values = { content: words.value, edited: now(), checked: now(), state: stateOf(answer.status) } as const;
  if (!(await change(database, row.id, values))) return failed({ kind: 'gone' });
  return done(ownOf({ ...row, ...values }, rules, now()));
}

/** See {@link Comments.remove}. */
export async function removeOwn(
  dependencies: CommentDependencies,
  session: Session,
  id: string,
): Promise<CommentOutcome<null>> {
  const found = await changeable(dependencies, session, id);
  if (!found.ok) return found;
  const answer = await dependencies.moderation.remove(found.value.wordpress_id);
  if (!answer.ok) {
    const failure = failureOf(answer);
    if (failure.kind !== 'gone') return failed(failure);
  }
  await change(dependencies.database, found.value.id, { state: 'removed' });
  return done(null);
}
