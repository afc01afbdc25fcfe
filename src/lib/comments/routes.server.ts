/** What the JSON routes of the comments share: who may call, the article's place in the content store, and responses. */
import type { APIRoute } from 'astro';
import { z } from 'zod';
import { unconfirmed } from '../accounts/model.ts';
import type { Session } from '../accounts/service.ts';
import type { Article } from '../content/model.ts';
import type { ContentReader } from '../content/reader.ts';
import { type Answer, refuse, tooManyTries } from '../http/answer.ts';
import { type Call, signedInRoute } from '../http/routes.server.ts';
import { commentRefused, draftPattern, type EditBody, type PostBody } from './schema.ts';
import type { CommentFailure, CommentOutcome, Comments, Place } from './service.ts';

/** Higher than the limit for comments, so that the service's own message can say by how much a text is too long. */
const content = z.string().max(20_000);

export const postBody = z.looseObject({
  articleId: z.int().positive(),
  parentId: z.int().nonnegative().default(0),
  content,
  name: z.string().max(200).optional(),
  draft: z.string().regex(draftPattern),
} satisfies Record<keyof PostBody, z.ZodType>);

export const editBody = z.looseObject({ content } satisfies Record<keyof EditBody, z.ZodType>);

type Commenting<Body> = Call<Body> & { readonly session: Session; readonly comments: Comments };

/** A route for signed-in users; others get 401. 503 where comments are off. */
export const commentCall = <Schema extends z.ZodType = z.ZodUnknown>(
  rules: { readonly body?: Schema; readonly limit?: number },
  handle: (call: Commenting<z.output<Schema>>) => Promise<Answer>,
): APIRoute =>
  signedInRoute(rules, async (call) => {
    const { comments } = call.context.locals.services;
    return comments ? handle({ ...call, comments }) : refusalOf({ kind: 'unavailable' });
  });

/** Largest body in bytes: the longest comment in any script. */
export const longestBody = 32 * 1024;

/** The article with WordPress's id. */
export function articleOf(content: ContentReader, id: number): Article | null {
  const card = content.articles({ ids: [id] }).items[0];
  return card ? content.article(card.slug) : null;
}

/** The place of a new comment; `null`: the article, or the comment under it, doesn't exist. */
export function placeOf(content: ContentReader, articleId: number, parentId: number): Place | null {
  const article = articleOf(content, articleId);
  if (!article) return null;
  if (parentId !== 0 && content.comment(parentId)?.articleId !== articleId) return null;
  return { articleId, open: article.commentsOpen, parentId };
}

/** Whether readers see a comment, by WordPress's id. */
export const isPublished =
  (content: ContentReader) =>
  (id: number): boolean =>
    content.comment(id) !== null;

const answers: Readonly<Record<Exclude<CommentFailure['kind'], 'invalid' | 'limited'>, readonly [number, string]>> = {
  closed: [403, commentRefused.closed],
  gone: [404, commentRefused.gone],
  duplicate: [409, commentRefused.duplicate],
  'subscribers-only': [403, commentRefused.subscribersOnly],
  unconfirmed: [403, commentRefused.unconfirmed],
  'too-late': [403, commentRefused.tooLate],
  busy: [409, commentRefused.busy],
  own: [409, commentRefused.own],
  unavailable: [503, commentRefused.unavailable],
};

/** The message for the user. */
export function messageOf(failure: CommentFailure): string {
  if (failure.kind === 'invalid') return failure.message;
  if (failure.kind === 'limited') return tooManyTries(failure.retryAfter);
  return answers[failure.kind][1];
}

export function refusalOf(failure: CommentFailure): Answer {
  const message = messageOf(failure);
  if (failure.kind === 'invalid') return { ...refuse(400, message), body: { message, field: failure.field } };
  if (failure.kind === 'limited') return refuse(429, message, { retryAfter: failure.retryAfter });
  if (failure.kind === unconfirmed) return refuse(answers[unconfirmed][0], message, { code: unconfirmed });
  const retry = failure.kind === 'unavailable' ? { retryAfter: 60 } : failure.kind === 'busy' ? { retryAfter: 5 } : {};
  return refuse(answers[failure.kind][0], message, retry);
}

export function answerOf<T>(outcome: CommentOutcome<T>, status: number, body: (value: T) => unknown): Answer {
  return outcome.ok ? { status, body: body(outcome.value) } : refusalOf(outcome.failure);
}
