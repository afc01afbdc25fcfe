/** What the routes and forms for saved and read articles share. */
import type { APIContext, APIRoute } from 'astro';
import type { z } from 'zod';
import type { Session } from '../accounts/service.ts';
import { articleCardOf } from '../cards/wire.ts';
import type { ContentReader } from '../content/reader.ts';
import { type Answer, featureOff, refuse, signInFirst, tooManyRequests } from '../http/answer.ts';
import { accountRoute, type Call } from '../http/routes.server.ts';
import { parseId } from '../text.ts';
import { type ListedArticle, type SavedAnswer, type SavedStories, savedMessages, savedPage } from './model.ts';

type SavedStoriesCall<Body> = Call<Body> & {
  readonly session: Session;
  readonly savedStories: SavedStories;
  /** The article in the address; `null`: none, or an invalid id. */
  readonly articleId: number | null;
};

interface Rules<Schema> {
  readonly body?: Schema;
  /** The response without a session; 401 unless given. */
  readonly signedOut?: (context: APIContext, articleId: number | null) => Answer;
}

/** A route for signed-in users, where saved stories are on. */
export const savedStoriesRoute = <Schema extends z.ZodType = z.ZodUnknown>(
  { signedOut = signInFirst, ...rules }: Rules<Schema>,
  handle: (call: SavedStoriesCall<z.output<Schema>>) => Promise<Answer>,
): APIRoute =>
  accountRoute({ ...rules, session: 'optional' }, async (call) => {
    const { savedStories, limiter } = call.context.locals.services;
    const { session } = call;
    const articleId = parseId(call.context.params.id);
    if (!savedStories) return featureOff();
    if (!session) return signedOut(call.context, articleId);
    const over = await limiter.count('saved', { account: session.userId });
    if (over) return tooManyRequests(over.retryAfter);
    return handle({ ...call, session, savedStories, articleId });
  });

/** Whether an article is published. */
export const isPublished = (content: Pick<ContentReader, 'articles'>, articleId: number): boolean =>
  content.articles({ ids: [articleId], limit: 1 }).items.length > 0;

export const noSuchArticle = (): Answer => refuse(404, savedMessages.noArticle);
export const savedStoriesFull = ({ rules }: SavedStories): Answer => refuse(409, savedMessages.full(rules.saved));

const mostPerPage = 100;

/** One page of a list by `?offset` and `?limit`. */
export function savedListPage(
  { url, locals }: Pick<APIContext, 'url' | 'locals'>,
  listed: readonly ListedArticle[],
): SavedAnswer {
  const whole = (name: string, otherwise: number) =>
    /^\d{1,6}$/.test(url.searchParams.get(name) ?? '') ? Number(url.searchParams.get(name)) : otherwise;
  const offset = whole('offset', 0);
  const limit = Math.min(mostPerPage, Math.max(1, whole('limit', 20)));
  const { items, total } = savedPage(locals.content, listed, { offset, limit });
  const next = offset + items.length;
  return { articles: items.map(articleCardOf), total, next: items.length > 0 && next < total ? next : null };
}
