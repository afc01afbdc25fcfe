/** What the calls of the comments take and give. Nothing personal of anybody else ever stands in an answer. */
import { z } from 'zod';

/** Longer than any comment may be, so that the server's own words say what is too long. */
const text = z.string().max(20_000);
const number = z.int().positive();
const draft = z.string().regex(/^[\w-]{8,64}$/);

/** POST /api/v1/comments */
export const postBody = z.looseObject({
  articleId: number,
  /** Comment that it answers. */
  parentId: z.int().nonnegative().default(0),
  content: text,
  /** Name above it; without one that of the profile. */
  name: z.string().max(200).optional(),
  /** The browser's own number of the draft: the same again is the same comment. */
  draft,
});
export type PostBody = z.input<typeof postBody>;

/** PATCH /api/v1/comments/mine/{id} */
export const editBody = z.looseObject({ content: text });
export type EditBody = z.infer<typeof editBody>;

/** A comment of the reader who asks. */
export interface OwnComment {
  readonly id: string;
  /** WordPress's number, by which the page knows it; `null` while that is not known. */
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
  /** Until when it may be changed and taken back, ISO 8601; `null`: not any more. */
  readonly changeableUntil: string | null;
}

/** GET /api/v1/comments/mine?article= */
export interface MineAnswer {
  /** Name that stood above the last comment, or that of the profile; '' where there is none. */
  readonly name: string;
  /** Whether the reader may write comments; those who do not pay may not, where the paper says so. */
  readonly mayWrite: boolean;
  readonly comments: readonly OwnComment[];
  /** Numbers of the comments under the article that the reader has reported. */
  readonly reported: readonly number[];
}

/** 201 of a comment that was taken, 200 of one that was changed. */
export interface OwnAnswer {
  readonly comment: OwnComment;
}
