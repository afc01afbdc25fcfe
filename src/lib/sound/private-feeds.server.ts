/** Subscribers' own feeds of series, in the accounts' database: only HMACs of their tokens are stored. */
import { randomUUID } from 'node:crypto';
import type { APIContext } from 'astro';
import type { Session } from '../accounts/service.ts';
import type { Podcast } from '../content/model.ts';
import type { ContentReader } from '../content/reader.ts';
import { createHmacs, equalInConstantTime, type Hmacs, isToken, newToken } from '../crypto.server.ts';
import type { Database } from '../database.ts';
import { endedFeed, type FileAddresses, privateFeed } from './feed.ts';
import { soundPath } from './model.ts';
import {
  type OpenedFeed,
  type PrivateFeedAction,
  type PrivateFeeds,
  privateFeedFields,
  privateFeedMessages,
  privateFeedPath,
} from './private-feeds.ts';

export interface PrivateFeedsOptions {
  readonly database: Database;
  /** At least 32 random characters; changing it invalidates all feeds. */
  readonly secret: string;
  /** Whether a user subscribes now. */
  readonly isSubscriber: (userId: string) => Promise<boolean>;
  /** Epoch milliseconds; for tests. */
  readonly now?: () => number;
}

/** Days for which an app can load the files of a feed that it has read: apps read feeds about once a day. */
const fileDays = 14;
const day = 24 * 60 * 60 * 1000;

interface State {
  readonly database: Database;
  readonly hmacs: Hmacs;
  readonly isSubscriber: PrivateFeedsOptions['isSubscriber'];
  readonly now: () => number;
}

export function createPrivateFeeds(options: PrivateFeedsOptions): PrivateFeeds {
  const { database, isSubscriber, now = Date.now } = options;
  const state: State = { database, hmacs: createHmacs(options.secret), isSubscriber, now };
  const { db } = database;
  return {
    async createdAt(userId, podcastId) {
      const row = await db
        .selectFrom('podcast_feeds')
        .select('created')
        .where('user_id', '=', userId)
        .where('podcast_id', '=', podcastId)
        .executeTakeFirst();
      return row ? Number(row.created) : null;
    },
    create: (userId, podcastId) => create(state, userId, podcastId),
    async revoke(userId, podcastId) {
      await db.deleteFrom('podcast_feeds').where('user_id', '=', userId).where('podcast_id', '=', podcastId).execute();
    },
    open: (token, podcastId) => open(state, token, podcastId),
    sign: (feedId, articleId) => sign(state, feedId, articleId),
    grantsAccess: (query, articleId) => grantsAccess(state, query, articleId),
    personalData: {
      tables: { podcast_feeds: 'gone' },
      async export({ userId }) {
        const rows = await db
          .selectFrom('podcast_feeds')
          .select(['podcast_id', 'created'])
          .where('user_id', '=', userId)
          .orderBy('created')
          .execute();
        const feeds = rows.map((row) => ({
          series: Number(row.podcast_id),
          time: new Date(Number(row.created)).toISOString(),
        }));
        return { podcast_feeds: feeds };
      },
    },
  };
}

const hashOf = ({ hmacs }: State, token: string): string => hmacs.sign('podcast feed', token);

/** One row for each user and series, so that two clicks leave one address. */
async function create(state: State, userId: string, podcastId: number): Promise<string> {
  const token = newToken();
  // The id changes as well: signed addresses of files contain it, and become invalid with the old feed address.
  const made = { id: randomUUID(), token: hashOf(state, token), created: state.now() };
  await state.database.db
    .insertInto('podcast_feeds')
    .values({ user_id: userId, podcast_id: podcastId, ...made })
    .onConflict((conflict) => conflict.columns(['user_id', 'podcast_id']).doUpdateSet(made))
    .execute();
  return token;
}

async function open(state: State, token: string, podcastId: number): Promise<OpenedFeed | null> {
  if (!isToken(token)) return null;
  const row = await state.database.db
    .selectFrom('podcast_feeds')
    .select(['id', 'user_id'])
    .where('token', '=', hashOf(state, token))
    .where('podcast_id', '=', podcastId)
    .executeTakeFirst();
  return row ? { id: row.id, paid: await state.isSubscriber(row.user_id) } : null;
}

const signature = ({ hmacs }: State, feedId: string, articleId: number, until: number): string =>
  hmacs.sign('podcast file', `${feedId}\n${articleId}\n${until}`);

function sign(state: State, feedId: string, articleId: number): string {
  // Whole days, so that an app that reads the feed twice finds the same address.
  const until = (Math.floor(state.now() / day) + fileDays) * (day / 1000);
  return new URLSearchParams({
    feed: feedId,
    until: String(until),
    key: signature(state, feedId, articleId, until),
  }).toString();
}

async function grantsAccess(state: State, query: URLSearchParams, articleId: number): Promise<boolean> {
  const [feed, until, key] = ['feed', 'until', 'key'].map((name) => query.get(name) ?? '');
  if (!feed || !until || !key || !/^[\da-f-]{36}$/.test(feed) || !/^\d{1,12}$/.test(until)) return false;
  if (!equalInConstantTime(signature(state, feed, articleId, Number(until)), key) || Number(until) * 1000 < state.now())
    return false;
  const row = await state.database.db
    .selectFrom('podcast_feeds')
    .select('user_id')
    .where('id', '=', feed)
    .executeTakeFirst();
  return row !== undefined && state.isSubscriber(row.user_id);
}

// The response at the address of a private feed, and the actions of its page.

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
    // Only wrong tokens are counted, so a service that reads feeds for many users isn't limited.
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
  /** The new address, shown only once: it isn't stored. */
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
  const subscribes = (await locals.services.access?.paidGrant(userId))?.level === 'subscriber';
  if (action !== 'create' || !subscribes) {
    return { made: null, problem: privateFeedMessages.subscribersOnly, revoked: false };
  }
  const known = (await feeds.createdAt(userId, podcast.id)) ?? 0;
  if (form.get(privateFeedFields.after) !== String(known)) return { made: null, problem: null, revoked: false };
  const token = await feeds.create(userId, podcast.id);
  return { made: `${locals.config.siteUrl}${privateFeedPath(podcast.slug, token)}`, problem: null, revoked: false };
}
