/** Whether one article is among the saved stories. */
import type { APIContext } from 'astro';
import { saveLaterCookie } from '../../../../../lib/accounts/routes.server.ts';
import { type Answer, signInFirst } from '../../../../../lib/http/answer.ts';
import { allowOnly } from '../../../../../lib/http/routes.server.ts';
import type { SavedState } from '../../../../../lib/saved/model.ts';
import {
  isPublished,
  noSuchArticle,
  savedStoriesFull,
  savedStoriesRoute,
} from '../../../../../lib/saved/routes.server.ts';

const state = (saved: boolean) => ({ status: 200, body: { saved } satisfies SavedState });

export const GET = savedStoriesRoute({}, async ({ savedStories, session, articleId, context }) => {
  if (articleId === null) return noSuchArticle();
  const later = saveLaterCookie(context.locals);
  // The reader wanted to save the article but had to sign in first.
  if (
    later.read(context.request.headers.get('cookie')) === articleId &&
    isPublished(context.locals.content, articleId)
  ) {
    const saved = (await savedStories.save(session.userId, articleId)) === 'saved';
    return { ...state(saved), cookies: [later.clear] };
  }
  return state(await savedStories.isSaved(session.userId, articleId));
});

/** For a reader who is not signed in, a cookie remembers the article for an hour. */
const saveAfterSignIn = (context: APIContext, articleId: number | null): Answer =>
  articleId !== null && isPublished(context.locals.content, articleId)
    ? { ...signInFirst(), cookies: [saveLaterCookie(context.locals).set(articleId)] }
    : noSuchArticle();

export const PUT = savedStoriesRoute(
  { signedOut: saveAfterSignIn },
  async ({ savedStories, session, articleId, context }) => {
    if (articleId === null || !isPublished(context.locals.content, articleId)) return noSuchArticle();
    if ((await savedStories.save(session.userId, articleId)) === 'full') return savedStoriesFull(savedStories);
    return { ...state(true), cookies: [saveLaterCookie(context.locals).clear] };
  },
);

/** A withdrawn article can be removed, too. */
export const DELETE = savedStoriesRoute({}, async ({ savedStories, session, articleId }) => {
  if (articleId === null) return noSuchArticle();
  await savedStories.unsave(session.userId, articleId);
  return state(false);
});
export const ALL = allowOnly('GET', 'PUT', 'DELETE');
