/** The newsletters, what a reader may choose to get by mail, and the stories of a day's newsletter. */
import { mastheadDay } from '../dates.ts';
import type { NewsletterIssue, NewsletterStory } from '../mail/model.ts';

/** The newsletters of the paper. */
export interface Newsletter {
  readonly slug: string;
  readonly name: string;
  /** When it comes. */
  readonly rhythm: string;
  readonly description: string;
  /** Chosen before the reader chooses. */
  readonly first: boolean;
}

export const newsletters: readonly Newsletter[] = [
  {
    slug: 'morning',
    name: 'Morning Sun',
    rhythm: 'Before seven, Monday to Saturday',
    description: 'The news of the night, put in the order in which it matters.',
    first: true,
  },
  {
    slug: 'evening',
    name: 'Evening Sun',
    rhythm: 'At half past five, on weekdays',
    description: 'The best thing that we published that day, and the best that others did.',
    first: false,
  },
];

/** Slug of a newsletter, or `offers`. */
export type Choice = string;

export const offers = 'offers';

/** Every choice there is, in the order in which they are shown. */
export const allChoices: readonly Choice[] = [...newsletters.map(({ slug }) => slug), offers];

/** Those of the given that there are, each once, in the order in which they are shown. */
export const knownChoices = (given: readonly string[]): readonly Choice[] =>
  allChoices.filter((choice) => given.includes(choice));

/** What a choice is called in a sentence. */
export const choiceName = (choice: Choice): string =>
  newsletters.find(({ slug }) => slug === choice)?.name ?? 'Offers and invitations';

/** The fields of a card that a newsletter shows. */
export interface IssueStory {
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

/** Most stories of a newsletter; the evening's has one story and a few more. */
const most: Readonly<Record<string, number>> = { morning: 8, evening: 4 };
const usualMost = 6;
/** Fewest stories; older ones fill it up. */
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
  newest: readonly IssueStory[],
  onTop: readonly number[],
  now: number,
): NewsletterIssue | null {
  const fresh = newest.filter(({ date }) => now - Date.parse(date) < dayMs);
  const stories = fresh.length >= least ? fresh : newest.slice(0, Math.max(least, fresh.length));
  if (stories.length === 0) return null;
  const rank = ({ id }: IssueStory): number => {
    const place = onTop.indexOf(id);
    return place < 0 ? onTop.length : place;
  };
  // Sorting is stable: what the editors did not order stays newest first.
  const ordered = stories.toSorted((a, b) => rank(a) - rank(b)).slice(0, most[letter.slug] ?? usualMost);
  return { letter: letter.name, slug: letter.slug, day: mastheadDay(now), stories: ordered.map(toStory) };
}

const toStory = ({ slug, title, excerpt, section, author, minutes }: IssueStory): NewsletterStory => ({
  title,
  standfirst: excerpt,
  path: `/article/${slug}`,
  kicker: section?.label ?? '',
  byline: author?.name ?? '',
  minutes,
});
