/** What stands in a day's newsletter, out of the newest stories. */
import { mastheadDay } from '../dates.ts';
import type { LetterIssue, LetterStory } from '../mail/service.ts';
import type { Newsletter } from '../pages/newsletters.ts';

/** As much of a card as a letter tells. */
export interface Told {
  readonly id: number;
  readonly slug: string;
  readonly title: string;
  readonly excerpt: string;
  readonly section: { readonly label: string } | null;
  readonly author: { readonly name: string } | null;
  /** UTC. */
  readonly date: string;
  readonly minutes: number;
}

/** How many stories a letter has; the evening's is one story and what else was worth reading. */
const most: Readonly<Record<string, number>> = { morning: 8, evening: 4 };
const usualMost = 6;
/** Fewer than these make no letter: older ones fill it up. */
const least = 3;
const dayMs = 24 * 60 * 60 * 1000;

/**
 * The stories of the last 24 hours: those that the editors put on top first and in their order, then the newest.
 *
 * @param newest newest first
 * @param onTop ids as the editors ordered them
 * @param now epoch milliseconds
 * @returns `null` where there is no story at all
 */
export function composeIssue(
  letter: Newsletter,
  newest: readonly Told[],
  onTop: readonly number[],
  now: number,
): LetterIssue | null {
  const fresh = newest.filter(({ date }) => now - Date.parse(date) < dayMs);
  const stories = fresh.length >= least ? fresh : newest.slice(0, Math.max(least, fresh.length));
  if (stories.length === 0) return null;
  const rank = ({ id }: Told): number => {
    const place = onTop.indexOf(id);
    return place < 0 ? onTop.length : place;
  };
  // Sorting is stable: what the editors did not order stays newest first.
  const ordered = stories.toSorted((a, b) => rank(a) - rank(b)).slice(0, most[letter.slug] ?? usualMost);
  return { letter: letter.name, slug: letter.slug, day: mastheadDay(now), stories: ordered.map(told) };
}

const told = ({ slug, title, excerpt, section, author, minutes }: Told): LetterStory => ({
  ...{ title, standfirst: excerpt, path: `/article/${slug}` },
  ...{ kicker: section?.label ?? '', byline: author?.name ?? '', minutes },
});
