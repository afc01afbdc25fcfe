/**
 * Stories that the reader has read and that were corrected since: GET lists those that the reader hasn't been notified of, POST records
 * that the reader was notified.
 */
import { z } from 'zod';
import { storiesOfNextNotice } from '../../../../../lib/corrections/model.ts';
import type { SeenBody, UnseenAnswer } from '../../../../../lib/corrections/schema.ts';
import { allowOnly } from '../../../../../lib/http/routes.server.ts';
import { savedStoriesRoute } from '../../../../../lib/saved/routes.server.ts';

const day = 86_400_000;
const seenBody = z.looseObject({ until: z.iso.datetime() });

export const GET = savedStoriesRoute({}, async ({ savedStories, session, context }) => {
  const { content } = context.locals;
  const since = new Date(Date.now() - savedStories.rules.historyDays * day).toISOString();
  const next = storiesOfNextNotice(await savedStories.unseen(session.userId, content.correctedSince(since)));
  const kinds = new Map(next.map(({ articleId, kind }) => [articleId, kind]));
  const { items } = content.articles({ ids: [...kinds.keys()], limit: kinds.size });
  const newest = next[0];
  const body: UnseenAnswer = {
    stories: items.map(({ id, slug, title }) => ({ id, slug, title, kind: kinds.get(id) ?? 'correction' })),
    until: newest && items.length > 0 ? new Date(newest.at).toISOString() : null,
  };
  return { status: 200, body };
});

export const POST = savedStoriesRoute({ body: seenBody }, async ({ savedStories, session, body }) => {
  // A time in the future would suppress later corrections.
  const until = Math.min(Date.parse(body.until), Date.now());
  await savedStories.markCorrectionsSeen(session.userId, until);
  return { status: 200, body: { until: new Date(until).toISOString() } satisfies SeenBody };
});
export const ALL = allowOnly('GET', 'POST');
