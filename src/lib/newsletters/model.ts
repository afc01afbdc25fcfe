/** The newsletters, the choices of a reader, and the stories of an issue. */
import { type Newsletter, publication } from '../../publication.ts';
import type { Session } from '../accounts/service.ts';
import { shortByline } from '../bylines/model.ts';
import type { Card } from '../content/model.ts';
import type { ContentReader } from '../content/reader.ts';
import { mastheadDay } from '../dates.ts';
import type { NewsletterIssue, NewsletterStory } from '../mail/model.ts';

export const newsletters: readonly Newsletter[] = publication.newsletters;

/** Slug of a newsletter, `breaking` or `offers`. */
export type Choice = string;

export const offers = 'offers';

/** Breaking news: one message for each alert that the editors send (lib/alerts), and no issue of a day. */
export const breaking: Omit<Newsletter, 'first'> = {
  slug: 'breaking',
  name: 'Breaking News',
  rhythm: 'When it happens, a few times a month',
  description: 'One line as soon as we have it, with a link to the story.',
};

/** All choices, in the order in which they are shown. */
const allChoices: readonly Choice[] = [...newsletters.map(({ slug }) => slug), breaking.slug, offers];

/** The known choices among the given ones, without duplicates, in the order in which they are shown. */
export const knownChoices = (given: readonly string[]): readonly Choice[] =>
  allChoices.filter((choice) => given.includes(choice));

/** Name of a choice in a sentence. */
export const choiceName = (choice: Choice): string =>
  [...newsletters, breaking].find(({ slug }) => slug === choice)?.name ?? 'Offers and invitations';

/** Names of choices in a sentence, such as `Morning Sun and Evening Sun`. */
export const choiceNames = (choices: readonly Choice[]): string =>
  new Intl.ListFormat('en').format(choices.map(choiceName));

/** The fields of a card that a newsletter shows. */
export interface IssueStory extends Pick<Card, 'id' | 'slug' | 'title' | 'excerpt' | 'byline' | 'date' | 'minutes'> {
  readonly section: { readonly label: string } | null;
}

/** Most stories of a newsletter. */
const mostStories: Readonly<Record<string, number>> = { morning: 8, evening: 4 };
const defaultMostStories = 6;
/** Fewest stories; if there are fewer, older ones are added. */
const fewestStories = 3;
const dayMs = 24 * 60 * 60 * 1000;

/**
 * The stories of the last 24 hours: first the editors' top stories in their order, then the newest.
 *
 * @param newest newest first
 * @param onTop ids as the editors ordered them
 * @param now epoch milliseconds
 * @returns `null` if there are no stories
 */
export function composeIssue(
  letter: Newsletter,
  newest: readonly IssueStory[],
  onTop: readonly number[],
  now: number,
): NewsletterIssue | null {
  const fresh = newest.filter(({ date }) => now - Date.parse(date) < dayMs);
  const stories = fresh.length >= fewestStories ? fresh : newest.slice(0, fewestStories);
  if (stories.length === 0) return null;
  const rank = ({ id }: IssueStory): number => {
    const place = onTop.indexOf(id);
    return place < 0 ? onTop.length : place;
  };
  // Sorting is stable: stories that the editors didn't order stay newest first.
  const ordered = stories
    .toSorted((a, b) => rank(a) - rank(b))
    .slice(0, mostStories[letter.slug] ?? defaultMostStories);
  return { letter: letter.name, slug: letter.slug, day: mastheadDay(now), stories: ordered.map(toStory) };
}

/** How long the mail of an alert is sent although this process doesn't show the alert: another node may have learned of it first. */
const alertGraceMs = 10_000;

/**
 * An issue, or its message to one reader, without the stories that were withdrawn since it was composed.
 *
 * @param now epoch milliseconds
 * @returns `null` where none remains, or the alert has ended or was withdrawn
 */
export function withoutWithdrawn<Issue extends NewsletterIssue>(
  issue: Issue,
  content: Pick<ContentReader, 'exists' | 'resolveSlug' | 'alert'>,
  now: number,
): Issue | null {
  if (issue.alert) {
    const mayBeUnknown = now - Date.parse(issue.alert.starts) < alertGraceMs;
    return mayBeUnknown || content.alert()?.id === issue.alert.id ? issue : null;
  }
  const isWithdrawn = (slug: string): boolean =>
    !content.exists('articles', slug) && content.resolveSlug('articles', slug).kind === 'gone';
  const stories = issue.stories.filter(({ path }) => !isWithdrawn(path.slice(articlePath('').length)));
  return stories.length === 0 ? null : { ...issue, stories };
}

const articlePath = (slug: string): string => `/article/${slug}`;

const toStory = ({ slug, title, excerpt, section, byline, minutes }: IssueStory): NewsletterStory => ({
  title,
  standfirst: excerpt,
  path: articlePath(slug),
  kicker: section?.label ?? '',
  byline: shortByline(byline),
  minutes,
});

const page = '/account/subscribed';

/** The page after a sign-up. @param chosen slugs; if none is known, the form's initial choices */
export function subscribedPath(chosen: readonly string[]): string {
  const known = newsletters.filter(({ slug }) => chosen.includes(slug));
  const slugs = (known.length > 0 ? known : newsletters.filter(({ first }) => first)).map(({ slug }) => slug);
  return `${page}?letters=${slugs.join('.')}`;
}

/** The choice in a path of {@link subscribedPath}; `null` for any other path. */
export function choiceOf(path: string): readonly string[] | null {
  const url = new URL(path, 'http://paper.invalid');
  if (url.pathname !== page) return null;
  const given = url.searchParams.get('letters')?.split('.') ?? [];
  return newsletters.filter(({ slug }) => given.includes(slug)).map(({ slug }) => slug);
}

/** Adds the choice of a sign-up to the user's choices. */
export async function saveChoice(
  newsletters: { add(session: Session, choices: readonly Choice[]): Promise<void> } | null,
  session: Session,
  choice: readonly string[] | null,
): Promise<void> {
  if (choice && choice.length > 0) await newsletters?.add(session, choice);
}

// Tables of the newsletters, made by `src/server/migrations/mail.ts`.

/** A choice of a reader. */
export interface MailChoicesTable {
  user_id: string;
  /** Slug of a newsletter, `breaking` or `offers`. */
  choice: string;
  since: number;
}

/** The issue of one day, or an alert, and how far it has been sent. */
export interface NewsletterIssuesTable {
  /** Newsletter and day, such as `morning:2026-11-21`; of an alert `breaking` and its id. */
  id: string;
  letter: string;
  /** Calendar day in the newspaper's time zone. */
  day: string;
  /** The issue as JSON. */
  content: string;
  /** Id of the last reader whose copy is in the outbox; empty before the first. */
  cursor: string;
  /** Readers whose copy is in the outbox. */
  addressed: number;
  created: number;
  finished: number | null;
}

export interface NewsletterTables {
  mail_choices: MailChoicesTable;
  newsletter_issues: NewsletterIssuesTable;
}
