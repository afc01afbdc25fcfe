/**
 * What editors have placed on the home page or on a section's: stories in an order, some with a headline and picture for that place, some for a
 * time. `lib/fronts/compose.ts` turns it into what the page shows. All instants are UTC, `YYYY-MM-DDTHH:MM:SSZ`, so that text order is time order.
 */
import type { Card, Picture } from '../content/model.ts';

/** `package`: a story with related headlines beneath. */
export const slotKinds = ['lead', 'second', 'package'] as const;
export type SlotKind = (typeof slotKinds)[number];

/**
 * Highest number of an automatic row after which a package may be placed; a page with fewer rows shows the package after its
 * last row.
 */
const mostRows = 20;

/** What a package comes after: `start`: nothing, it is first; the lead; the seconds; or an automatic row. */
export type PackagePlace = 'start' | 'lead' | 'seconds' | `row-${number}`;

/** The place of packages that name none. */
export const usualPlace: PackagePlace = 'seconds';

const steps: readonly PackagePlace[] = ['start', 'lead', 'seconds'];

/** The number of the row that a place follows; 0 for other places. */
export const rowOf = (place: PackagePlace): number => (steps.includes(place) ? 0 : Number(place.slice(4)));

/** Rank of a place among all places, from the top of the page. */
export const rankOf = (place: PackagePlace): number => {
  const row = rowOf(place);
  return row > 0 ? steps.length + row : steps.indexOf(place);
};

export function isPackagePlace(value: unknown): value is PackagePlace {
  if (typeof value !== 'string') return false;
  const [, row] = /^row-([1-9]\d?)$/u.exec(value) ?? [];
  return row === undefined ? steps.some((place) => place === value) : Number(row) <= mostRows;
}

/** A headline beneath the story of a package: for a story, with its own text or `''`, or for any address. */
export type RelatedLink =
  | { readonly story: number; readonly title: string }
  | { readonly href: string; readonly title: string };

export interface FrontSlot {
  readonly kind: SlotKind;
  /** Id of an article. */
  readonly story: number;
  /** Plain text for this place; `''`: the story's own headline. */
  readonly headline: string;
  /** For this place; `null`: the story's own picture. */
  readonly picture: Picture | null;
  /** The slot counts from `from` on, and ends before `until`; `null`: no limit. */
  readonly from: string | null;
  readonly until: string | null;
  /** Packages only. */
  readonly related: readonly RelatedLink[];
  /** For packages only; without it they are in the {@link usualPlace}. */
  readonly after?: PackagePlace;
}

/** The front of one page as WordPress has published it. */
export interface FrontPlan {
  readonly slots: readonly FrontSlot[];
  /** The slots that replace `slots` at an instant. */
  readonly next: { readonly at: string; readonly slots: readonly FrontSlot[] } | null;
}

/** Key of the home page's front. */
export const homeFront = 'home';

/** Key of a section's front. @param id of the category term */
export const sectionFront = (id: number): string => `section-${id}`;

/** Id of the section whose front has this key; `null`: the home page; `undefined`: no key of a front. */
export function sectionOfFront(key: string): number | null | undefined {
  if (key === homeFront) return null;
  const [, id] = /^section-([1-9]\d{0,14})$/u.exec(key) ?? [];
  return id === undefined ? undefined : Number(id);
}

/** The slots of a plan that count at an instant. */
export function slotsAt({ slots, next }: FrontPlan, instant: string): readonly FrontSlot[] {
  const present = next && next.at <= instant ? next.slots : slots;
  return present.filter(({ from, until }) => (from === null || from <= instant) && (until === null || instant < until));
}

/** The instants at which the visible slots may change without an edit, in order. */
export function changeTimesOf({ slots, next }: FrontPlan): string[] {
  const own = [...slots, ...(next?.slots ?? [])].flatMap(({ from, until }) => [from, until]);
  return [...new Set([...own, next?.at])].filter((instant) => typeof instant === 'string').sort();
}

/** A story in its place, with its headline and picture for that place. */
export interface Placed {
  readonly kind: SlotKind;
  readonly card: Card;
  readonly related: readonly PlacedLink[];
  readonly after?: PackagePlace;
}

export interface PlacedLink {
  /** Path of the site, or a full address. */
  readonly href: string;
  readonly title: string;
  /** Id of the story that it leads to; `null` for an address. */
  readonly story: number | null;
  readonly isLive?: true | undefined;
}
