/** The public feed of a series. */
import type { APIRoute } from 'astro';
import { textAnswer } from '../../../lib/feeds/write.ts';
import { publicFeed } from '../../../lib/sound/feed.ts';
import { podcastFeedPath } from '../../../lib/sound/model.ts';

export const GET: APIRoute = ({ locals, params, redirect }) => {
  const { content, config } = locals;
  const podcast = content.podcast(params.slug ?? '');
  if (podcast) return textAnswer(publicFeed(content, podcast, config.siteUrl), 'application/rss+xml');
  const resolved = content.resolveSlug('podcasts', params.slug ?? '');
  if (resolved.kind === 'moved') return redirect(podcastFeedPath(resolved.slug), 301);
  // Apps stop requesting a feed that responds with 410.
  if (resolved.kind === 'gone') return new Response('This series has been withdrawn.\n', { status: 410 });
  return textAnswer(null, 'application/rss+xml');
};
