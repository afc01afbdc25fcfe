/**
 * A subscriber's private feed of a series. Its address is a secret: never stored, never a referrer. Each request checks whether the owner
 * still subscribes.
 */
import type { APIRoute } from 'astro';
import { textResponse } from '../../../../lib/http/form.server.ts';
import { openPrivateFeed } from '../../../../lib/sound/private-feeds.server.ts';

export const GET: APIRoute = async (context) => {
  const answer = await openPrivateFeed(context, context.params.slug ?? '', context.params.token ?? '');
  if (typeof answer === 'string') {
    return new Response(answer, {
      headers: {
        'content-type': 'application/rss+xml; charset=utf-8',
        'cache-control': 'private, no-store',
        'referrer-policy': 'no-referrer',
        'x-robots-tag': 'noindex',
      },
    });
  }
  const refusal = textResponse(answer.status, answer.sentence);
  if (answer.retryAfter !== undefined) refusal.headers.set('retry-after', String(answer.retryAfter));
  return refusal;
};
