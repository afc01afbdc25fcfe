/** One article that the reader keeps for later, or not. */
import type { APIContext } from 'astro';
import { saveLater } from '../../../../../lib/accounts/form.server.ts';
import { type Answer, signInFirst } from '../../../../../lib/http/answer.ts';
import { allowOnly } from '../../../../../lib/http/routes.server.ts';
import { isPublished, libraryCall, libraryFull, noSuchArticle } from '../../../../../lib/saved/routes.server.ts';
import type { SavedState } from '../../../../../lib/saved/schema.ts';

const state = (saved: boolean) => ({ status: 200, body: { saved } satisfies SavedState });

export const GET = libraryCall({}, async ({ library, session, articleId, context }) => {
  if (articleId === null) return noSuchArticle();
  const wish = saveLater(context.locals);
  // The reader wanted to save it, and had to sign in first.
  if (
    wish.read(context.request.headers.get('cookie')) === articleId &&
    isPublished(context.locals.content, articleId)
  ) {
    const saved = (await library.save(session.userId, articleId)) === 'saved';
    return { ...state(saved), cookies: [wish.clear] };
  }
  return state(await library.isSaved(session.userId, articleId));
});

/** Whoever is not signed in is remembered for an hour with what they wanted to save. */
const wish = (context: APIContext, articleId: number | null): Answer =>
  articleId !== null && isPublished(context.locals.content, articleId)
    ? { ...signInFirst(), cookies: [saveLater(context.locals).set(articleId)] }
    : noSuchArticle();

export const PUT = libraryCall({ signedOut: wish }, async ({ library, session, articleId, context }) => {
  if (articleId === null || !isPublished(context.locals.content, articleId)) return noSuchArticle();
  if ((await library.save(session.userId, articleId)) === 'full') return libraryFull(library);
  return { ...state(true), cookies: [saveLater(context.locals).clear] };
});

/** An article that was withdrawn meanwhile can be removed all the same. */
export const DELETE = libraryCall({}, async ({ library, session, articleId }) => {
  if (articleId === null) return noSuchArticle();
  await library.unsave(session.userId, articleId);
  return state(false);
});
export const ALL = allowOnly('GET', 'PUT', 'DELETE');
