/**
 * Change feed: from what changes the pages (content, prices, what is read most) to what follows the changes (page cache, search,
 * pictures). It is built before both sides, so that neither has to know the other.
 */
import type { ContentChange } from '../content/service.ts';

export interface ChangeFollower {
  /** Handles a change. @returns addresses that are fresh now, for the webhook's answer; `undefined`: it keeps no pages */
  changed(change: ContentChange): Promise<readonly string[] | undefined> | undefined;
  /** Whether every change it got outlives this process; always, unless given. */
  durable?(): boolean;
}

export interface ChangeFeed {
  /**
   * Calls the followers in the order in which they came, before this returns.
   *
   * @returns addresses that are fresh; `undefined` when no follower keeps pages
   */
  publish(change: ContentChange): Promise<readonly string[] | undefined>;
  follow(follower: ChangeFollower): void;
  /** Whether every change so far outlives this process. */
  durable(): boolean;
}

export function createChangeFeed(): ChangeFeed {
  const followers: ChangeFollower[] = [];
  return {
    async publish(change) {
      const fresh = await Promise.all(followers.map((follower) => follower.changed(change)));
      const known = fresh.filter((addresses) => addresses !== undefined);
      return known.length === 0 ? undefined : known.flat();
    },
    follow: (follower) => void followers.push(follower),
    durable: () => followers.every((follower) => follower.durable?.() ?? true),
  };
}
