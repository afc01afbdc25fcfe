/** Bylines: who made a story, as names with links and as one line of text. */
import { publication } from '../../publication.ts';
import type { Author, AuthorRef, Byline, Card } from '../content/model.ts';
import type { ContentReader } from '../content/reader.ts';

/** A name in a byline. */
export interface Credit {
  readonly name: string;
  /** Path of the author's page, or the agency's address; `null` for an agency without one. */
  readonly href: string | null;
  readonly author: boolean;
}

export const authorPath = ({ slug }: Pick<AuthorRef, 'slug'>): string => `/author/${slug}`;

export const staffPath = '/authors';

/** Words that a list of names needs. */
export const bylineWords = {
  contributors: 'With reporting by',
  staff: 'Our Writers',
  all: 'All our writers',
} as const;

const creditOf = (author: AuthorRef): Credit => ({ name: author.name, href: authorPath(author), author: true });

/** The authors in their order, then the agency. */
export const creditsOf = ({ authors, agency }: Byline): readonly Credit[] => [
  ...authors.map(creditOf),
  ...(agency ? [{ name: agency.name, href: agency.url || null, author: false }] : []),
];

export const contributorCredits = ({ contributors }: Byline): readonly Credit[] => contributors.map(creditOf);

/** Most names in a list of stories; of more, the first two and a number are shown. */
const mostInLists = 3;

/**
 * Names for a list of stories: all when there are three at most, else the first two.
 *
 * @returns the names to show, and how many others there are
 */
export const shortNames = (
  credits: readonly Credit[],
): { readonly shown: readonly Credit[]; readonly others: number } =>
  credits.length <= mostInLists
    ? { shown: credits, others: 0 }
    : { shown: credits.slice(0, 2), others: credits.length - 2 };

/** The text before a name: nothing, a comma, or "and" before the last one. @param at from 0 @param count names in all */
export const separatorBefore = (at: number, count: number): string =>
  at === 0 ? '' : at === count - 1 ? ' and ' : ', ';

const joined = (names: readonly string[]): string =>
  names.map((name, at) => separatorBefore(at, names.length) + name).join('');

/** The byline as text, without "By": "Ada Moss, Ben Lee and Cy Park"; `''` without authors and agency. */
export const bylineText = (byline: Byline): string => joined(creditsOf(byline).map(({ name }) => name));

/** The same for a list of stories: "Ada Moss, Ben Lee and 3 others". */
export function shortByline(byline: Byline): string {
  const { shown, others } = shortNames(creditsOf(byline));
  return joined([...shown.map(({ name }) => name), ...(others > 0 ? [`${others} others`] : [])]);
}

/** The author of a story that has one and neither contributors nor an agency. */
export const soleAuthor = <Author extends AuthorRef>({
  authors,
  contributors,
  agency,
}: Byline<Author>): Author | null =>
  authors.length === 1 && contributors.length === 0 && agency === null ? (authors[0] ?? null) : null;

const suffix = /^(?:jr|sr|ii|iii|iv|md|phd)\.?$/iu;

/**
 * The key by which a list of people is sorted: the last word first, then the others; a single name, or the name of a group, stays
 * unchanged.
 */
function sortName(name: string): string {
  const words = name.trim().split(/[\s,]+/u);
  if (/^the$/iu.test(words[0] ?? '')) return words.slice(1).join(' ') || name;
  const last = words.findLastIndex((word) => !suffix.test(word));
  return last > 0 ? [words[last], ...words.slice(0, last), ...words.slice(last + 1)].join(' ') : name;
}

/** People in the order of their last names. */
export function byLastName<Person extends { readonly name: string }>(people: readonly Person[]): Person[] {
  const { compare } = new Intl.Collator(publication.language, { sensitivity: 'base', numeric: true });
  return people
    .map((person) => ({ person, key: sortName(person.name) }))
    .toSorted((a, b) => compare(a.key, b.key))
    .map(({ person }) => person);
}

// The staff page: every author, by last name, with the section of the newest story.

export interface Writer {
  readonly author: Author;
  /** Section of the newest story that the person wrote or contributed to; `null` without one. */
  readonly section: Card['section'];
}

/** Tags: those of all authors, of each author's list, and of each newest story. */
export const staff = (content: ContentReader): Writer[] =>
  byLastName(content.authors()).map((author) => ({
    author,
    section: content.articles({ authorId: author.id, limit: 1 }).items[0]?.section ?? null,
  }));
