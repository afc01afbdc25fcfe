/** What readers do with comments, as routes see it. Failures that a reader can cause, or WordPress, are values. */
import type { Caller, Session } from '../accounts/service.ts';
import type { MineAnswer, OwnComment } from './wire.ts';

export type CommentFailure =
  /** The words or the name are not as they should be; `field` says which. */
  | { readonly kind: 'invalid'; readonly field: 'content' | 'name'; readonly message: string }
  | { readonly kind: 'closed' }
  /** The article, or the comment that is answered, reported or changed, is not there. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'duplicate' }
  | { readonly kind: 'subscribers-only' }
  /** The time in which it may be changed is over. */
  | { readonly kind: 'too-late' }
  /** The same draft is being sent at this moment. */
  | { readonly kind: 'busy' }
  | { readonly kind: 'own' }
  /** Nobody has proved to own the reader's address: such accounts are made by the dozen, and a few reports take a comment down. */
  | { readonly kind: 'unconfirmed' }
  | { readonly kind: 'limited'; readonly retryAfter: number }
  /** WordPress does not answer; nothing is lost, and the same draft may be sent again. */
  | { readonly kind: 'unavailable' };

export type CommentOutcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: CommentFailure };

/** An article and a comment as far as the content store knows them; looked up by the route. */
export interface Place {
  readonly articleId: number;
  readonly open: boolean;
  /** Comment that is answered; 0: none. */
  readonly parentId: number;
}

export interface Draft {
  /** `null`: there is no such article, or no such comment under it. */
  readonly place: Place | null;
  readonly content: string;
  readonly name?: string | undefined;
  /** The browser's number of the draft; without one the words themselves are it. */
  readonly draft?: string | undefined;
}

export interface Comments {
  /** Hands a comment to WordPress. The same draft again is the same comment, whatever became of the first answer. */
  post(session: Session, draft: Draft, caller: Caller): Promise<CommentOutcome<OwnComment>>;
  edit(session: Session, id: string, content: string, caller: Caller): Promise<CommentOutcome<OwnComment>>;
  /** Takes a comment back. */
  remove(session: Session, id: string): Promise<CommentOutcome<null>>;
  /** @param isPublished whether the page shows a comment, by WordPress's number */
  mine(session: Session, articleId: number, isPublished: (id: number) => boolean): Promise<MineAnswer>;
  /** Tells the editors of a comment that readers see. Twice is once. */
  report(session: Session, commentId: number, caller: Caller): Promise<CommentOutcome<null>>;
  /** What is kept of a reader, for the export of everything kept. */
  exportData(userId: string): Promise<Readonly<Record<string, unknown>>>;
  /** Forgets a reader: the words stay with WordPress, without name and address. */
  forget(userId: string): Promise<void>;
}
