/** The articles that the reader has read, unless the reader wants no history kept. */
import { allowOnly } from '../../../../../lib/http/routes.server.ts';
import { isPublished, libraryCall, listed, noSuchArticle } from '../../../../../lib/saved/routes.server.ts';
import {
  type HistoryAnswer,
  type HistorySetting,
  historySetting,
  type ReadingAnswer,
  readingBody,
} from '../../../../../lib/saved/schema.ts';

export const GET = libraryCall({}, async ({ library, session, context }) => {
  const { on, items } = await library.history(session.userId);
  return { status: 200, body: { ...listed(context, items), on } satisfies HistoryAnswer };
});

export const POST = libraryCall({ body: readingBody }, async ({ library, session, body, context }) => {
  if (!isPublished(context.locals.content, body.articleId)) return noSuchArticle();
  const noted = await library.read(session.userId, body.articleId);
  return { status: 200, body: { noted } satisfies ReadingAnswer };
});

export const PUT = libraryCall({ body: historySetting }, async ({ library, session, body }) => {
  await library.keepHistory(session.userId, body.on);
  return { status: 200, body: { on: body.on } satisfies HistorySetting };
});

export const DELETE = libraryCall({}, async ({ library, session }) => {
  await library.clearHistory(session.userId);
  return { status: 200, body: { noted: false } satisfies ReadingAnswer };
});
export const ALL = allowOnly('GET', 'POST', 'PUT', 'DELETE');
