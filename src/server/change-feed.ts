/**
 * Change feed: passes changes of the pages' content (WordPress, prices, most read stories) to its followers (page cache, search,
 * pictures). It is created before both sides, so that neither depends on the other.
 */
import type { ContentChange } from '../content/service.ts';

export interface ChangeFollower {
  /** Handles a change. @returns addresses that are fresh now, for the response to the webhook; `undefined`: it stores no pages */
  changed(change: ContentChange): Promise<readonly string[] | undefined> | undefined;
  /** Whether the record of every received change survives this process; `true` if omitted. */
  durable?(): boolean;
}

export interface ChangeFeed {
  /**
   * Calls the followers in order, before it returns.
   *
   * @returns addresses that are fresh; `undefined` if no follower stores pages
   */
  publish(change: ContentChange): Promise<readonly string[] | undefined>;
  follow(follower: ChangeFollower): void;
  /** Whether the record of every change so far survives this process. */
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
