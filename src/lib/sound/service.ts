/** The type of the private feeds' service, and of its table. */
import type { PersonalData } from '../personal-data.ts';

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
