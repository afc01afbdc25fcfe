/** What a reader has asked of the comments by a link in the page, until their island does it. */
import { atom } from 'nanostores';

export interface CommentAct {
  readonly act: 'reply' | 'report';
  /** WordPress's number of the comment. */
  readonly id: number;
}

export const $commentAct = atom<CommentAct | null>(null);
