/** The articles that the reader has read, unless the reader has turned the history off. */
import { allowOnly } from '../../../../../lib/http/routes.server.ts';
import {
  type HistoryAnswer,
  type HistorySetting,
  historySetting,
  type ReadingAnswer,
  readingBody,
} from '../../../../../lib/saved/model.ts';
import {
  isPublished,
  noSuchArticle,
  savedListPage,
  savedStoriesRoute,
} from '../../../../../lib/saved/routes.server.ts';

export const GET = savedStoriesRoute({}, async ({ savedStories, session, context }) => {
  const { on, items } = await savedStories.history(session.userId);
  return { status: 200, body: { ...savedListPage(context, items), on } satisfies HistoryAnswer };
});

export const POST = savedStoriesRoute({ body: readingBody }, async ({ savedStories, session, body, context }) => {
  if (!isPublished(context.locals.content, body.articleId)) return noSuchArticle();
  const noted = await savedStories.read(session.userId, body.articleId);
  return { status: 200, body: { noted } satisfies ReadingAnswer };
});

export const PUT = savedStoriesRoute({ body: historySetting }, async ({ savedStories, session, body }) => {
  await savedStories.keepHistory(session.userId, body.on);
  return { status: 200, body: { on: body.on } satisfies HistorySetting };
});

export const DELETE = savedStoriesRoute({}, async ({ savedStories, session }) => {
  await savedStories.clearHistory(session.userId);
  return { status: 200, body: { noted: false } satisfies ReadingAnswer };
});
export const ALL = allowOnly('GET', 'POST', 'PUT', 'DELETE');
