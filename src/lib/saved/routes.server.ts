/** What the calls and forms about saved and read articles have in common. */
import type { APIContext, APIRoute } from 'astro';
import type { z } from 'zod';
import type { Session } from '../accounts/service.ts';
import { articleCardOf } from '../cards/wire.ts';
import type { ContentReader } from '../content/model.ts';
import { type Answer, refuse, signInFirst, unavailable } from '../http/answer.ts';
import { tooManyRequests } from '../http/rate-limit.ts';
import { accountRoute, type Call } from '../http/routes.server.ts';
import { type Kept, type Library, savedPage } from './model.ts';
import type { SavedAnswer } from './schema.ts';

type LibraryCall<Body> = Call<Body> & {
  readonly session: Session;
  readonly library: Library;
  /** The article that the address names; `null`: it names none, or one that is no number. */
  readonly articleId: number | null;
};

interface Rules<Schema> {
  readonly body?: Schema;
  /** The answer to readers who are not signed in; 401 unless given. */
  readonly signedOut?: (context: APIContext, articleId: number | null) => Answer;
}

/** A call of a reader who is signed in, where there is a library. */
export const libraryCall = <Schema extends z.ZodType = z.ZodUnknown>(
  { signedOut = signInFirst, ...rules }: Rules<Schema>,
  handle: (call: LibraryCall<z.output<Schema>>) => Promise<Answer>,
): APIRoute =>
  accountRoute({ ...rules, session: 'optional' }, async (call) => {
    const { library, limiter } = call.context.locals.services;
    const { session } = call;
    const articleId = articleIdOf(call.context.params.id);
    if (!library) return unavailable(600);
    if (!session) return signedOut(call.context, articleId);
    const over = await limiter.count('library', { email: session.userId });
    if (over) return tooManyRequests(over.retryAfter);
    return handle({ ...call, session, library, articleId });
  });

/** An article's number as addresses and forms carry it. */
export const articleIdOf = (text: string | null | undefined): number | null =>
  /^[1-9]\d{0,14}$/.test(text ?? '') ? Number(text) : null;

/** Whether the edition has an article. */
export const isPublished = (content: Pick<ContentReader, 'articles'>, articleId: number): boolean =>
  content.articles({ ids: [articleId], limit: 1 }).items.length > 0;

export const noSuchArticle = (): Answer => refuse(404, 'We couldn’t find that article.');
export const libraryFull = ({ rules }: Library): Answer =>
  refuse(409, `You’ve saved ${rules.saved} stories, the most there’s room for. Remove one to save another.`);

/** Longest page that is given at once. */
const longest = 100;

/** One page of a list, as `?offset` and `?limit` ask for it. */
export function listed({ url, locals }: Pick<APIContext, 'url' | 'locals'>, kept: readonly Kept[]): SavedAnswer {
  const whole = (name: string, otherwise: number) =>
    /^\d{1,6}$/.test(url.searchParams.get(name) ?? '') ? Number(url.searchParams.get(name)) : otherwise;
  const offset = whole('offset', 0);
  const limit = Math.min(longest, Math.max(1, whole('limit', 20)));
  const { items, total } = savedPage(locals.content, kept, { offset, limit });
  const next = offset + items.length;
  return { articles: items.map(articleCardOf), total, next: items.length > 0 && next < total ? next : null };
}
