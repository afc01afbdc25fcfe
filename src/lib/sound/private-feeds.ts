/** A subscriber's own feed of a series: its address, the page that makes it, the words of that page, and the type of the service. */
import type { PersonalData } from '../personal-data.ts';

export const privateFeedPath = (slug: string, token: string): string => `/podcast/${slug}/private/${token}.xml`;

/** Where a subscriber makes, changes and ends the address. */
export const privateFeedPage = '/account/podcast';
export const privateFeedQuery = 'series';

/** `after`: when the address that the form shows was made, epoch milliseconds, 0 for none. A form that is sent again makes no second address. */
export const privateFeedFields = { action: 'action', after: 'after' } as const;
export type PrivateFeedAction = 'create' | 'revoke';

export const privateFeedMessages = {
  heading: 'Your private feed',
  intro: (title: string): string =>
    `Listen to every episode of ${title} in your podcast app, those for subscribers, too. The address is yours alone: who has it can listen.`,
  subscribersOnly: 'Subscribers get a private feed for their podcast app.',
  subscribe: 'Subscribe',
  create: 'Make an address',
  rotate: 'Make a new address',
  revoke: 'End this address',
  since: (day: string): string => `You made an address on ${day}. We can’t show it again: we don’t keep it.`,
  rotateNote: 'A new address ends the old one.',
  made: 'This is your address. Copy it now and add it to your podcast app: we won’t show it again.',
  label: 'Address of your feed',
  revoked: 'The address is ended. Your app gets nothing from it any more.',
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
  /** Makes an address and ends the one before. @returns its token, which isn't stored */
  create(userId: string, podcastId: number): Promise<string>;
  revoke(userId: string, podcastId: number): Promise<void>;
  /** The feed with this token; `null`: there is none for this series. */
  open(token: string, podcastId: number): Promise<OpenedFeed | null>;
  /** Query of an address that opens the files of one episode for some days. */
  sign(feedId: string, articleId: number): string;
  /** Whether a signed address opens the files of an episode: it isn't forged or too old, its feed exists, and its owner subscribes. */
  opens(query: URLSearchParams, articleId: number): Promise<boolean>;
  readonly personalData: PersonalData;
}

/** Made by `src/server/migrations/reading.ts`. */
export interface PrivateFeedTables {
  podcast_feeds: {
    /** In the addresses of files; opens nothing by itself. */
    id: string;
    user_id: string;
    podcast_id: number;
    /** HMAC of the token. */
    token: string;
    /** Epoch milliseconds. */
    created: number;
  };
}
