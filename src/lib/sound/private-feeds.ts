/**
 * A subscriber's private feed of a series: its address, the page that creates it, that page's texts, and the type of the service.
 */
import type { DeclaredData } from '../personal-data.ts';

export const privateFeedPath = (slug: string, token: string): string => `/podcast/${slug}/private/${token}.xml`;

/** Where a subscriber makes, changes and ends the address. */
export const privateFeedPage = '/account/podcast';
export const privateFeedQuery = 'series';

/**
 * `after`: when the address on the form was created, epoch milliseconds, 0 for none. If the form is sent again, it creates no second
 * address.
 */
export const privateFeedFields = { action: 'action', after: 'after' } as const;
export type PrivateFeedAction = 'create' | 'revoke';

export const privateFeedMessages = {
  heading: 'Your private feed',
  intro: (title: string): string =>
    `Listen to every episode of ${title} in your podcast app, those for subscribers, too. The address is only for you: anyone who has it can listen.`,
  subscribersOnly: 'Subscribers get a private feed for their podcast app.',
  subscribe: 'Subscribe',
  create: 'Make an address',
  rotate: 'Make a new address',
  revoke: 'End this address',
  since: (day: string): string => `You made an address on ${day}. We can’t show it again: we don’t keep it.`,
  rotateNote: 'A new address replaces the old one.',
  made: 'This is your address. Copy it now and add it to your podcast app: we won’t show it again.',
  label: 'Address of your feed',
  revoked: 'The address no longer works. Your app gets nothing from it anymore.',
} as const;

/** A private feed that exists. */
export interface OpenedFeed {
  readonly id: string;
  /** Whether its owner subscribes at present. */
  readonly paid: boolean;
}

/** Subscribers' own feeds of series. */
export interface PrivateFeeds {
  /** When the user made an address, epoch milliseconds; `null`: there is none. */
  createdAt(userId: string, podcastId: number): Promise<number | null>;
  /** Creates an address and invalidates the previous one. @returns its token, which isn't stored */
  create(userId: string, podcastId: number): Promise<string>;
  revoke(userId: string, podcastId: number): Promise<void>;
  /** The feed with this token; `null`: there is none for this series. */
  open(token: string, podcastId: number): Promise<OpenedFeed | null>;
  /** Query that gives access to the files of one episode for some days. */
  sign(feedId: string, articleId: number): string;
  /**
   * Whether a signed address gives access to the files of an episode: it is genuine and not expired, its feed exists, and its owner
   * subscribes.
   */
  grantsAccess(query: URLSearchParams, articleId: number): Promise<boolean>;
  readonly personalData: DeclaredData;
}

/** Made by `src/server/migrations/reading.ts`. */
export interface PrivateFeedTables {
  podcast_feeds: {
    /** Part of the addresses of files; gives no access by itself. */
    id: string;
    user_id: string;
    podcast_id: number;
    /** HMAC of the token. */
    token: string;
    /** Epoch milliseconds. */
    created: number;
  };
}
