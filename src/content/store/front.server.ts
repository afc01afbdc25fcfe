/**
 * Fronts: what editors have placed on the home page and on sections. Which parts of a plan count depends only on the content store, not on
 * the reader's clock, so that every node renders the same page at any time. A time that has come is stored as an entry, like every other
 * change (`content/sync/front-clock.server.ts`).
 */
import { tag } from '../../lib/content/tags.ts';
import {
  changeTimesOf,
  type FrontPlan,
  type FrontSlot,
  type Placed,
  type PlacedLink,
  slotsAt,
} from '../../lib/fronts/model.ts';
import type { ContentStore } from './content-store.server.ts';
import { type Read, readCardOf } from './read.server.ts';
import { factsOf, type Row } from './rows.server.ts';

/** Key of the latest scheduled time that has come. */
const timeKey = 'front-time';

const plans = "SELECT slug, facts, modified FROM documents WHERE type = 'fronts'";

interface StoredPlan {
  readonly key: string;
  readonly plan: FrontPlan;
  /** Scheduled times up to this instant count. */
  readonly since: string;
}

/** A plan starts with the slots that counted when it was published. */
function storedPlan(store: ContentStore, row: Row): StoredPlan {
  const { front } = factsOf(row);
  return {
    key: String(row.slug),
    plan: front ?? { slots: [], next: null },
    since: [store.getMeta(timeKey) ?? '', String(row.modified)].sort()[1] ?? '',
  };
}

/**
 * The stories that editors have placed on a page. One that isn't published is left out, and the next one moves up.
 *
 * @param slots shown instead of the published ones, in a preview
 */
export function readFront(read: Read, key: string, slots?: readonly FrontSlot[]): readonly Placed[] {
  read.tags.add(tag.front(key));
  return (slots ?? storedSlots(read.store, key)).flatMap(
    ({ kind, story, headline, picture, related, after }): Placed[] => {
      const card = readCardOf(read, story);
      if (!card) return [];
      const own = {
        ...card,
        title: headline || card.title,
        image: picture ?? card.image,
        // An editor has chosen the words or the picture for this place, so a headline test doesn't apply here.
        ...((headline !== '' || picture !== null) && { test: undefined }),
      };
      const links = related.flatMap((link) => placedLink(read, link) ?? []);
      return [{ kind, card: own, related: links, ...(after && { after }) }];
    },
  );
}

/** What a page shows of its front at present. */
export function storedSlots(store: ContentStore, key: string): readonly FrontSlot[] {
  const row = store.prepare(`${plans} AND slug = ? ORDER BY modified DESC, id LIMIT 1`).get(key);
  if (!row) return [];
  const { plan, since } = storedPlan(store, row);
  return slotsAt(plan, since);
}

function placedLink(read: Read, link: FrontSlot['related'][number]): PlacedLink | null {
  if (!('story' in link)) return { ...link, story: null };
  const story = readCardOf(read, link.story);
  if (!story) return null;
  const { id, slug, title, isLive } = story;
  return { href: `/article/${slug}`, title: link.title || title, story: id, ...(isLive && { isLive }) };
}

/**
 * Finds the times of plans at which a front changes.
 *
 * @param now UTC instant
 * @returns the entry of those that have come, `null` if none has; and the next one
 */
export function dueFronts(store: ContentStore, now: string) {
  const tags: string[] = [];
  const shownAt = (plan: FrontPlan, instant: string): string => JSON.stringify(slotsAt(plan, instant));
  let [value, next]: [string, string | null] = ['', null];
  for (const row of store.prepare(plans).all()) {
    const { key, plan, since } = storedPlan(store, row);
    const times = changeTimesOf(plan).filter((time) => time > since);
    const reached = times.findLast((time) => time <= now);
    const upcoming = times.find((time) => time > now);
    if (reached !== undefined && shownAt(plan, reached) !== shownAt(plan, since)) tags.push(tag.front(key));
    if (reached !== undefined && reached > value) value = reached;
    if (upcoming !== undefined && (next === null || upcoming < next)) next = upcoming;
  }
  return { entry: value !== '' ? { kind: 'meta' as const, key: timeKey, value, tags } : null, next };
}
