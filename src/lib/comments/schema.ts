/** The comment forms and calls: bodies, answers and messages. The page, the islands and the routes use these. */
import { common } from '../http/messages.ts';

/** POST /api/v1/comments; `postBody` in routes.server.ts checks it. */
export interface PostBody {
  articleId: number;
  /** Comment that it replies to; 0 or absent: none. */
  parentId?: number;
  content: string;
  /** Name to show above it; by default the profile's name. */
  name?: string;
  /** The browser's id of the draft: sending it again creates no second comment. */
  draft: string;
}

/** PATCH /api/v1/comments/mine/{id} */
export interface EditBody {
  content: string;
}

/** Fields of the comment forms: of the page without JavaScript, and of the island. */
export const commentFields = {
  article: 'article',
  parent: 'parent',
  report: 'report',
  edit: 'edit',
  content: 'content',
  name: 'name',
  draft: 'draft',
  do: 'do',
  state: 'state',
} as const;

/** Ids of drafts. */
export const draftPattern = /^[\w-]{8,64}$/;

/** One of the caller's own comments. */
export interface OwnComment {
  readonly id: string;
  /** WordPress's id, which the page uses; `null` until it is known. */
  readonly commentId: number | null;
  readonly articleId: number;
  readonly parentId: number;
  readonly author: string;
  /** Plain text. */
  readonly content: string;
  /** `waiting` for the editors, `published`, or `declined` by them. */
  readonly status: 'waiting' | 'published' | 'declined';
  /** ISO 8601. */
  readonly date: string;
  /** Until when its author may edit or delete it, ISO 8601; `null`: no longer. */
  readonly changeableUntil: string | null;
}

/** GET /api/v1/comments/mine?article= */
export interface MineAnswer {
  /** Name used for the last comment, or the profile's; '' if there is none. */
  readonly name: string;
  /** Whether the user may comment; a publication may allow subscribers only. */
  readonly mayWrite: boolean;
  readonly comments: readonly OwnComment[];
  /** WordPress's ids of the comments that the user has reported. */
  readonly reported: readonly number[];
}

/** 201 for a new comment, 200 for an edited one. */
export interface OwnAnswer {
  readonly comment: OwnComment;
}

/** Messages for the state of the user's own comments. */
export const commentStates = {
  waiting: 'Waiting for approval. Only you can see it.',
  published: 'Published.',
  declined: 'Our editors didn’t publish this comment.',
} as const;

/** Messages after a form was sent. */
export const commentDone = {
  waiting: 'Thank you. Our editors will review your comment. Until then, only you can see it.',
  published: 'Thank you. Your comment is published and will appear in a moment.',
  changed: 'Your comment was updated.',
  removed: 'Your comment was deleted.',
  reported: 'Thank you. Our editors will look at the comment.',
} as const;

/** Messages if WordPress or our rules refused a comment. */
export const commentRefused = {
  unavailable: 'We couldn’t send your comment to our editors. It’s saved here. Try again in a few minutes.',
  closed: 'Comments on this article are closed.',
  gone: 'That comment is no longer there.',
  duplicate: 'You’ve already posted this comment.',
  subscribersOnly: 'Only subscribers can comment.',
  unconfirmed:
    'Please confirm your email address first. Open the link we mailed you, or sign in with your email again.',
  tooLate: 'You can no longer change this comment.',
  busy: 'Your comment is being sent. Please wait a moment.',
  own: 'You can’t report your own comment.',
  text: 'We can’t accept this text. Please change it a little.',
  anotherName: 'Please enter another name.',
  reservedName: 'This name belongs to our newsroom or looks like it. Please use your own name.',
} as const;

/** Messages of the form's checks, in the browser and on the server. */
export const commentInvalid = {
  empty: 'Please write something first.',
  noName: 'Please enter the name to show with your comment.',
  shortName: 'Please enter a name of two letters or more.',
  longName: (most: number): string => `Please enter a name of at most ${most} letters.`,
  addressAsName: 'Please enter a name, not an address.',
} as const;

/** @param by characters over the limit */
export const tooLong = (by: number): string =>
  `Please shorten your comment by ${by.toLocaleString('en-US')} character${by === 1 ? '' : 's'}.`;

/** Used if the server sends no message. The browser keeps what was typed. */
export const commentFailed = {
  offline: 'We couldn’t reach the server. Your comment is saved here. Check your connection and try again.',
  signedOut: 'You’re signed out. Sign in in another tab, then send this again. Your comment is saved here.',
  failed: 'Something went wrong. Your comment is saved here. Please try again.',
} as const;

/** The same for editing, deleting or reporting a comment: here the browser keeps nothing. */
export const changeFailed = {
  signedOut: 'You’re signed out. Sign in in another tab, then try again.',
  failed: common.wrong,
} as const;

/** Labels on the page and in the form. */
export const commentLabels = {
  yourComment: 'Your comment',
  yourReply: 'Your reply',
  yourComments: 'Your comments',
  postComment: 'Post comment',
  postReply: 'Post reply',
  postingAs: 'Posting as',
  changeName: 'Change name',
  inReplyTo: 'In reply to this comment',
  editComment: 'Edit your comment',
  edit: 'Edit',
  delete: 'Delete',
  save: 'Save',
  cancel: 'Cancel',
  close: 'Close',
  report: 'Report',
  sending: 'Sending…',
  /** @param count of characters; below 0: over the limit */
  left: (count: number): string =>
    `${Math.abs(count)} character${Math.abs(count) === 1 ? '' : 's'} ${count < 0 ? 'too many' : 'left'}.`,
  subscribersOnly: 'Subscribers can comment. Everyone can read.',
  freeAccount: 'An account is free. All it takes is an email address.',
  reviewed: 'Editors read comments before they appear.',
  displayName: 'Display name',
  confirmReport: 'Report this comment to our editors?',
  reported: 'You’ve reported this comment. Our editors will look at it.',
} as const;
