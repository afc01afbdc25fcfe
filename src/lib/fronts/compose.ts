/** The stories of a front: those that editors have placed, and others in the remaining places, none of them twice. */
import type { Card, FeaturedStory, TopStories } from '../content/model.ts';
import { type PackagePlace, type Placed, type PlacedLink, rankOf, rowOf, usualPlace } from './model.ts';

/** A story with related headlines beneath. */
export interface Package {
  readonly main: Card;
  readonly related: readonly PlacedLink[];
  readonly after: PackagePlace;
}

/** Stories below the lead of the home page when editors chose none. */
const usualOthers = 5;
/** Places below the lead (`lib/fronts/front-page.ts`, `topBlock`). */
const mostOthers = 9;

interface Places {
  readonly lead: Card | null;
  readonly seconds: readonly Card[];
  /** In order from the top of the page to its end. */
  readonly packages: readonly Package[];
  /** Ids of all of these stories, and of those that packages lead to. */
  readonly ids: ReadonlySet<number>;
}

/**
 * The first lead is the lead; further leads whose times overlap with it become seconds. A story that has several places keeps
 * only the first.
 */
function placesOf(placed: readonly Placed[]): Places {
  const seen = new Set<number>();
  const each = placed.filter(({ card }) => !seen.has(card.id) && seen.add(card.id));
  const lead = each.find(({ kind }) => kind === 'lead') ?? null;
  const seconds = each.filter((slot) => slot !== lead && slot.kind !== 'package').map(({ card }) => card);
  const packages = each
    .filter(({ kind }) => kind === 'package')
    .map(({ card, related, after = usualPlace }) => ({
      main: card,
      after,
      related: related.filter(({ story }) => story === null || (!seen.has(story) && seen.add(story))),
    }))
    .sort((a, b) => rankOf(a.after) - rankOf(b.after));
  return { lead: lead?.card ?? null, seconds, packages, ids: seen };
}

/**
 * Moves packages to places that the page has: after its last row if it has fewer rows than the editors assumed, and after the seconds if it
 * has no rows or no lead.
 *
 * @param rows number of rows
 */
export function withinPage(packages: readonly Package[], rows: number, hasLead: boolean): readonly Package[] {
  const placeOf = (place: PackagePlace): PackagePlace => {
    if (rowOf(place) > rows) return rows > 0 ? `row-${rows}` : usualPlace;
    return place === 'lead' && !hasLead ? usualPlace : place;
  };
  return packages.map((each) => ({ ...each, after: placeOf(each.after) }));
}

export interface HomeTop {
  readonly lead: FeaturedStory | null;
  /** Below the lead. */
  readonly others: readonly Card[];
  /** From the top of the page to its end; {@link withinPage} gives them places that the page has. */
  readonly packages: readonly Package[];
  /** Ids of all stories in this block. */
  readonly ids: ReadonlySet<number>;
}

/** A lead, with the text that the top stories have for it. */
const featuredOf = (card: Card, { featured }: TopStories): FeaturedStory =>
  featured?.id === card.id
    ? { ...featured, title: card.title, image: card.image }
    : { ...card, breaking: false, bulleted: false, featuredExcerpt: card.excerpt };

/**
 * The top of the home page.
 *
 * @param top the editors' list of top stories, which fills what isn't placed
 * @param newest fills what is left
 */
export function composeHome(placed: readonly Placed[], top: TopStories, newest: readonly Card[]): HomeTop {
  const { ids, packages, ...places } = placesOf(placed);
  const seconds = places.seconds.slice(0, mostOthers);
  const free = (cards: readonly Card[]): readonly Card[] => cards.filter(({ id }) => !ids.has(id));
  const chosen = free([...(top.featured ? [top.featured] : []), ...top.others]);
  const fresh = free(newest);
  const first = places.lead ?? chosen[0] ?? fresh[0];
  const lead = first ? featuredOf(first, top) : null;
  // If the editors chose none, show the newest stories.
  const filling = (top.others.length > 0 ? chosen : fresh).filter(({ id }) => id !== lead?.id);
  const count = Math.max(seconds.length, top.others.length || usualOthers);
  const others = [...seconds, ...filling].slice(0, count);
  const below = new Set(places.seconds.slice(mostOthers).map(({ id }) => id));
  const shown = [...ids].filter((id) => !below.has(id));
  return {
    lead,
    others,
    packages,
    ids: new Set([...(lead ? [lead.id] : []), ...others.map(({ id }) => id), ...shown]),
  };
}

export interface SectionTop {
  /** The large stories. */
  readonly front: readonly Card[];
  /** Whether editors placed one of them; if so, their order is kept. */
  readonly isPlaced: boolean;
  /** From the top of the page to its end. A row is a story of the list. */
  readonly packages: readonly Package[];
  /** The stories of this page of the section's list that aren't shown elsewhere on the page. */
  readonly listed: readonly Card[];
}

/**
 * The first page of a section.
 *
 * @param items stories of this page of the section's list; the next page begins after them
 * @param size number of large stories
 */
export function composeSection(placed: readonly Placed[], items: readonly Card[], size: number): SectionTop {
  const { lead, seconds, packages, ids } = placesOf(placed);
  const large = [...(lead ? [lead] : []), ...seconds];
  const free = items.filter(({ id }) => !ids.has(id));
  const filling = Math.max(0, size - large.length);
  // Without a placed lead the newest story becomes the lead, above the placed stories.
  const first = lead ? [] : free.slice(0, Math.min(1, filling));
  const rest = free.slice(first.length, filling);
  const front = [...first, ...large, ...rest];
  const listed = free.slice(first.length + rest.length);
  return {
    front,
    isPlaced: large.length > 0,
    packages: withinPage(packages, listed.length, front.length > 0),
    listed,
  };
}
