/** A user's own comments: their state, and editing and deleting them while there is time. */
import type { Caller, Session } from '../accounts/service.ts';
import { asMarkup } from './model.ts';
import { checkedWords, nameOf } from './posting.server.ts';
import type { MineAnswer, OwnComment } from './schema.ts';
import type { CommentOutcome } from './service.ts';
import { type CommentDependencies, changeableUntil, done, failed, failureOf, ownOf, stateOf } from './service.ts';
import type { CommentPostsTable } from './tables.ts';

const day = 24 * 60 * 60 * 1000;
/** WordPress is asked at most this often what became of a comment that the page does not show. */
const lookAgainMs = 5 * 60 * 1000;
/** Look-ups at once, of all users, so that one user's many comments don't keep WordPress busy. The rest follow at the next request. */
const mostLooking = 5;
/** Comments of one reader under one article that are shown as waiting. */
const most = 50;

export interface Own {
  mine(session: Session, articleId: number, isPublished: (id: number) => boolean): Promise<MineAnswer>;
  edit(session: Session, id: string, content: string, caller: Caller): Promise<CommentOutcome<OwnComment>>;
  remove(session: Session, id: string): Promise<CommentOutcome<null>>;
  /** Lets running look-ups end. */
  idle(): Promise<void>;
}

export function createOwn(dependencies: CommentDependencies): Own {
  const { database, moderation, limiter, rules, log, now } = dependencies;
  const looking = new Map<string, Promise<void>>();

  const change = (id: string, values: Partial<CommentPostsTable>) =>
    database.db.updateTable('comment_posts').set(values).where('id', '=', id).execute();

  async function ofReader(session: Session, id: string): Promise<CommentPostsTable | null> {
    const row = await database.db
      .selectFrom('comment_posts')
      .selectAll()
      .where('id', '=', id)
      .where('user_id', '=', session.userId)
      .where('state', '<>', 'removed')
      .executeTakeFirst();
    return row ?? null;
  }

  /** Asks WordPress in the background; the page shows what it finds the next time. */
  function lookLater(row: CommentPostsTable): void {
    if (row.wordpress_id === null || Number(row.checked) > now() - lookAgainMs || looking.has(row.id)) return;
    if (looking.size >= mostLooking) return;
    const work = async (): Promise<void> => {
      const answer = await moderation.look(Number(row.wordpress_id));
      const values: Partial<CommentPostsTable> = { checked: now() };
      if (answer.ok) values.state = stateOf(answer.status);
      else if (answer.kind === 'refused' && answer.status === 404) values.state = 'declined';
      await change(row.id, values);
    };
    const run = work()
      .catch((error: unknown) => log.warn({ err: error }, 'Asking WordPress for the state of a comment failed'))
      .finally(() => looking.delete(row.id));
    looking.set(row.id, run);
  }

  /** The comment, if its author may still change it. */
  async function changeable(
    session: Session,
    id: string,
  ): Promise<CommentOutcome<CommentPostsTable & { wordpress_id: number }>> {
    const row = await ofReader(session, id);
    if (!row || row.wordpress_id === null || row.state === 'declined') return failed({ kind: 'gone' });
    if (now() >= changeableUntil(Number(row.created), rules)) return failed({ kind: 'too-late' });
    return done({ ...row, wordpress_id: Number(row.wordpress_id) });
  }

  return {
    async mine(session, articleId, isPublished) {
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
      const time = now();
      const own = rows.map((row) => ({ row, comment: ownOf(row, rules, time, isPublished) }));
      for (const { row, comment } of own) if (comment.status === 'waiting') lookLater(row);
      const showSince = time - rules.showWaitingDays * day;
      return {
        name: await nameOf(dependencies, session),
        mayWrite: rules.level === 'registered' || (await dependencies.isPaying(session)),
        comments: own
          .filter(({ row, comment }) => comment.status === 'published' || Number(row.created) > showSince)
          .map(({ comment }) => comment),
        reported: reported.map(({ comment_id }) => Number(comment_id)),
      };
    },

    async edit(session, id, content, caller) {
      if (!session.emailVerified) return failed({ kind: 'unconfirmed' });
      const found = await changeable(session, id);
      if (!found.ok) return found;
      const words = checkedWords(content, rules.longest);
      if (!words.ok) return words;
      const row = found.value;
      if (words.value === row.content) return done(ownOf(row, rules, now()));
      const over = await limiter.count('comment', { address: caller.address, email: session.email });
      if (over) return failed({ kind: 'limited', retryAfter: over.retryAfter });
      const answer = await moderation.edit(row.wordpress_id, asMarkup(words.value));
      if (!answer.ok) return failed(answer.kind === 'unavailable' ? { kind: 'unavailable' } : failureOf(answer));
      const state = stateOf(answer.status);
      const values = { content: words.value, edited: now(), checked: now(), state } as const;
      await change(row.id, values);
      return done(ownOf({ ...row, ...values }, rules, now()));
    },

    async remove(session, id) {
      const found = await changeable(session, id);
      if (!found.ok) return found;
      const answer = await moderation.remove(found.value.wordpress_id);
      if (!answer.ok) {
        if (answer.kind === 'unavailable') return failed({ kind: 'unavailable' });
        const failure = failureOf(answer);
        if (failure.kind !== 'gone') return failed(failure);
      }
      await change(found.value.id, { state: 'removed' });
      return done(null);
    },

    async idle() {
      await Promise.all(looking.values());
    },
  };
}
