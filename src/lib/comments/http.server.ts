/** What the calls of the comments have in common: the reader, the service, and what the content store knows of an article. */
import type { APIRoute } from 'astro';
import type { z } from 'zod';
import type { Session } from '../accounts/service.ts';
import type { ContentReader } from '../content/model.ts';
import type { Answer } from '../http/answer.ts';
import { type Call, signedInRoute } from '../http/routes.server.ts';
import { refusalOf } from './answers.ts';
import type { Comments, Place } from './service.ts';

type Commenting<Body> = Call<Body> & { readonly session: Session; readonly comments: Comments };

/** A call for readers who are signed in; others get 401. 503 where comments are off. */
export const commentCall = <Schema extends z.ZodType = z.ZodUnknown>(
  rules: { readonly body?: Schema; readonly limit?: number },
  handle: (call: Commenting<z.output<Schema>>) => Promise<Answer>,
): APIRoute =>
  signedInRoute(rules, async (call) => {
    const { comments } = call.context.locals.services;
    return comments ? handle({ ...call, comments }) : refusalOf({ kind: 'unavailable' });
  });

/** Bytes of a body with the longest comment, in whatever script. */
export const longestBody = 32 * 1024;

/** Where a comment is to stand; `null`: there is no such article, or no such comment under it. */
export function placeOf(content: ContentReader, articleId: number, parentId: number): Place | null {
  const card = content.articles({ ids: [articleId] }).items[0];
  const article = card && content.article(card.slug);
  if (!article) return null;
  if (parentId !== 0 && content.comment(parentId)?.articleId !== articleId) return null;
  return { articleId, open: article.commentsOpen, parentId };
}

/** Whether readers see a comment, by WordPress's number. */
export const isPublished =
  (content: ContentReader) =>
  (id: number): boolean =>
    content.comment(id) !== null;
