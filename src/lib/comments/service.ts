/** The comments service as routes see it, the dependencies of its modules, and how WordPress's responses become outcomes. */
import type { Accounts, Caller, Session } from '../accounts/service.ts';
import type { RestrictedLevel } from '../content/model.ts';
import type { Database } from '../database.ts';
import type { Limiter } from '../http/limiter.server.ts';
import type { JobQueue } from '../jobs/queue.server.ts';
import type { Logger } from '../logging.ts';
import type { CommentPostsTable } from './model.ts';
import type { Moderation, ModerationAnswer, ModerationStatus } from './moderation.server.ts';
import { commentRefused, type MineAnswer, type OwnComment } from './schema.ts';

export type CommentFailure =
  /** The text or the name is invalid; `field` says which. */
  | { readonly kind: 'invalid'; readonly field: 'content' | 'name'; readonly message: string }
  | { readonly kind: 'closed' }
  /** The article, or the comment that is replied to, reported or edited, doesn't exist. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'duplicate' }
  | { readonly kind: 'subscribers-only' }
  /** The time for edits is over. */
  | { readonly kind: 'too-late' }
  /** Another request is sending the same draft. */
  | { readonly kind: 'busy' }
  | { readonly kind: 'own' }
  /** The user's address isn't confirmed. Such accounts are free to create, and a few reports hide a comment. */
  | { readonly kind: 'unconfirmed' }
  | { readonly kind: 'limited'; readonly retryAfter: number }
  /** WordPress is unavailable; nothing is lost, and the same draft may be sent again. */
  | { readonly kind: 'unavailable' };

export type CommentOutcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: CommentFailure };

/** Where a comment belongs; the route looks it up in the content store. */
export interface Place {
  readonly articleId: number;
  readonly open: boolean;
  /** Comment that it replies to; 0: none. */
  readonly parentId: number;
}

export interface Draft {
  /** `null`: the article, or the comment under it, doesn't exist. */
  readonly place: Place | null;
  readonly content: string;
  readonly name?: string | undefined;
  /** The browser's id of the draft; without one it is made from the text. */
  readonly draft?: string | undefined;
}

export interface Comments {
  /** Sends a comment to WordPress. The same draft again is the same comment, even if the first response was lost. */
  post(session: Session, draft: Draft, caller: Caller): Promise<CommentOutcome<OwnComment>>;
  edit(session: Session, id: string, content: string, caller: Caller): Promise<CommentOutcome<OwnComment>>;
  remove(session: Session, id: string): Promise<CommentOutcome<null>>;
  /** @param isPublished whether the page shows a comment, by WordPress's id */
  mine(session: Session, articleId: number, isPublished: (id: number) => boolean): Promise<MineAnswer>;
  /** Reports a published comment to the editors; each user can do so once. */
  report(session: Session, commentId: number, caller: Caller): Promise<CommentOutcome<null>>;
}

/** `publication.comments`. */
export interface CommentRules {
  readonly level: RestrictedLevel;
  readonly longest: number;
  readonly editMinutes: number;
  readonly reportsToHold: number;
  readonly showWaitingDays: number;
}

/** A change that is retried until WordPress accepts it; `erase-draft` names the comment by our id, the others by WordPress's. */
export type CommentJob = 'report' | 'erase' | 'erase-draft';

export interface CommentDependencies {
  readonly database: Database;
  readonly jobs: JobQueue<CommentJob>;
  readonly moderation: Moderation;
  readonly limiter: Limiter;
  readonly rules: CommentRules;
  readonly accounts: Pick<Accounts, 'profile' | 'saveProfile'>;
  /** Names that users may not use: those of the newspaper and its authors. */
  readonly reservedNames?: () => readonly string[];
  readonly isSubscriber: (session: Session) => Promise<boolean>;
  readonly log: Logger;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

export const failed = (failure: CommentFailure): { readonly ok: false; readonly failure: CommentFailure } => ({
  ok: false,
  failure,
});
export const done = <T>(value: T): CommentOutcome<T> => ({ ok: true, value });

/** WordPress's state as ours. The author of spam sees no difference. */
export const stateOf = (status: ModerationStatus): 'waiting' | 'published' | 'declined' =>
  status === 'approved' ? 'published' : status === 'trash' ? 'declined' : 'waiting';

/** WordPress's refusal as a failure; `unavailable` where the user didn't cause it. */
export function failureOf(answer: Extract<ModerationAnswer, { ok: false }>): CommentFailure {
  if (answer.kind === 'unavailable') return { kind: 'unavailable' };
  const { code } = answer;
  if (/duplicate/.test(code)) return { kind: 'duplicate' };
  if (code === 'newsroom_busy') return { kind: 'busy' };
  if (/flood/.test(code)) return { kind: 'limited', retryAfter: 15 };
  if (/comment_closed$/.test(code)) return { kind: 'closed' };
  if (/invalid_post_id|draft_post|trash_post|cannot_read_post|comment_invalid_id|already_trashed/.test(code)) {
    return { kind: 'gone' };
  }
  if (/content_invalid|content_column_length/.test(code)) {
    return { kind: 'invalid', field: 'content', message: commentRefused.text };
  }
  if (/author_column_length|author_data_required/.test(code)) {
    return { kind: 'invalid', field: 'name', message: commentRefused.anotherName };
  }
  return { kind: 'unavailable' };
}

/** Until when its author may edit a comment, epoch milliseconds. */
export const changeableUntil = (created: number, rules: Pick<CommentRules, 'editMinutes'>): number =>
  created + rules.editMinutes * 60_000;

/** A row as its author sees it. */
export function ownOf(
  row: CommentPostsTable,
  rules: Pick<CommentRules, 'editMinutes'>,
  now: number,
  isPublished?: (id: number) => boolean,
): OwnComment {
  const id = row.wordpress_id === null ? null : Number(row.wordpress_id);
  const until = changeableUntil(Number(row.created), rules);
  const published = id !== null && (isPublished ? isPublished(id) : row.state === 'published');
  const status = published ? 'published' : row.state === 'declined' ? 'declined' : 'waiting';
  return {
    id: row.id,
    commentId: id,
    articleId: Number(row.article_id),
    parentId: Number(row.parent_id),
    author: row.name,
    content: row.content,
    status,
    date: new Date(Number(row.created)).toISOString(),
    changeableUntil: id !== null && status !== 'declined' && now < until ? new Date(until).toISOString() : null,
  };
}
