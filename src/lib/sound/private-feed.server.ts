/** What is answered at the address of a private feed, and what its page does. */
import type { APIContext } from 'astro';
import type { Session } from '../accounts/service.ts';
import type { Podcast } from '../content/model.ts';
import type { ContentReader } from '../content/reader.ts';
import { endedFeed, type FileAddresses, privateFeed } from './feed.ts';
import { soundPath } from './model.ts';
import { type PrivateFeedAction, privateFeedFields, privateFeedMessages, privateFeedPath } from './schema.ts';
import type { PrivateFeeds } from './service.ts';

type Context = Pick<APIContext, 'locals'>;

interface FeedRefusal {
  readonly status: 404 | 410 | 429 | 503;
  readonly sentence: string;
  readonly retryAfter?: number;
}

const unknown: FeedRefusal = { status: 404, sentence: 'There is nothing at this address.' };
const later = (seconds: number): FeedRefusal => ({
  status: 429,
  sentence: 'Too many requests. Try again later.',
  retryAfter: seconds,
});

/** The series with this slug, or the one that had it: apps keep the address that they were given. */
function podcastAt(content: ContentReader, slug: string): Podcast | null {
  const podcast = content.podcast(slug);
  if (podcast) return podcast;
  const resolved = content.resolveSlug('podcasts', slug);
  return resolved.kind === 'moved' ? content.podcast(resolved.slug) : null;
}

/** @returns the feed; without a subscription, one that says so */
export async function openPrivateFeed(context: Context, slug: string, token: string): Promise<string | FeedRefusal> {
  const { content, config, services, client } = context.locals;
  const { privateFeeds, limiter, log } = services;
  const podcast = podcastAt(content, slug);
  if (!podcast || !privateFeeds) return unknown;
  const subject = client ? { address: client.address } : {};
  const over = await limiter.count('feed', subject);
  if (over) return later(over.retryAfter);
  try {
    const feed = await privateFeeds.open(token, podcast.id);
    // Guesses count; an app that asks for many users doesn't.
    if (!feed) return unknown;
    await limiter.release('feed', subject);
    const tooOften = await limiter.count('feed', { account: feed.id });
    if (tooOften) return later(tooOften.retryAfter);
    if (!feed.paid) return endedFeed(podcast, config.siteUrl);
    return privateFeed(content, podcast, config.siteUrl, addressesFor(privateFeeds, feed.id, config.siteUrl));
  } catch (error) {
    log.warn({ err: error }, "A private feed couldn't be looked up");
    return { status: 503, sentence: 'This feed isn’t available right now. Try again in a moment.', retryAfter: 60 };
  }
}

const addressesFor = (feeds: PrivateFeeds, feedId: string, siteUrl: string): FileAddresses => ({
  audio: ({ card, sound }) =>
    sound.url === '' ? null : `${siteUrl}${soundPath(card.id, 0, sound.type)}?${feeds.sign(feedId, card.id)}`,
  file: ({ card }, name) => `${siteUrl}/sound/${card.id}/${name}?${feeds.sign(feedId, card.id)}`,
});

export interface FeedPageView {
  /** The address, once: it isn't stored. */
  readonly made: string | null;
  readonly problem: string | null;
  readonly revoked: boolean;
}

/** Makes or ends the address of a subscriber's own feed. */
export async function changePrivateFeed(
  { locals }: Context,
  feeds: PrivateFeeds,
  { userId }: Session,
  podcast: Podcast,
  form: URLSearchParams,
): Promise<FeedPageView> {
  const action = form.get(privateFeedFields.action) as PrivateFeedAction | null;
  if (action === 'revoke') {
    await feeds.revoke(userId, podcast.id);
    return { made: null, problem: null, revoked: true };
  }
  const subscribes = (await locals.services.access?.grantOf(userId))?.level === 'subscriber';
  if (action !== 'create' || !subscribes) {
    return { made: null, problem: privateFeedMessages.subscribersOnly, revoked: false };
  }
  const known = (await feeds.createdAt(userId, podcast.id)) ?? 0;
  if (form.get(privateFeedFields.after) !== String(known)) return { made: null, problem: null, revoked: false };
  const token = await feeds.create(userId, podcast.id);
  return { made: `${locals.config.siteUrl}${privateFeedPath(podcast.slug, token)}`, problem: null, revoked: false };
}
