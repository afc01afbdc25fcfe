/** The feeds of the newspaper, its sections and its authors. */
import { publication } from '../../publication.ts';
import { authorPath, type Credit, contributorCredits, creditsOf } from '../bylines/model.ts';
import type { Author, Card, Section } from '../content/model.ts';
import type { ContentReader } from '../content/reader.ts';
import { tag } from '../content/tags.ts';
import { imageUrl } from '../images/url.ts';
import { lastModified } from '../live/model.ts';
import { type FeedDocument, type FeedItem, type FeedPerson, feedFormats, textAnswer } from './write.ts';

const itemsPerFeed = 30;
const pictureWidth = 1200;

/** A feed that a page can announce or list: its title and its address without the file name. */
export interface FeedListing {
  readonly title: string;
  readonly base: string;
}

export const paperFeed: FeedListing = { title: publication.name, base: '/' };
export const sectionFeed = (section: Pick<Section, 'slug' | 'label'>): FeedListing => ({
  title: `${publication.name}: ${section.label}`,
  base: `/section/${section.slug}/`,
});
export const authorFeed = (author: Pick<Author, 'slug' | 'name'>): FeedListing => ({
  title: `${publication.name}: ${author.name}`,
  base: `${authorPath(author)}/`,
});

/** All feeds, in the order of the about page. */
export const allFeeds = (content: ContentReader): FeedListing[] => [
  paperFeed,
  ...content.sections().map(sectionFeed),
  ...content.authors().map(authorFeed),
];

const personOf = ({ name, href, author }: Credit, siteUrl: string): FeedPerson =>
  href === null ? { name } : { name, url: author ? `${siteUrl}${href}` : href };

/** When readers last saw something new in a story, its live entries included; UTC instant. */
export function lastChanged(content: ContentReader, card: Card): string {
  const modified = content.liveModified(card);
  return lastModified(card, modified === null ? [] : [{ modified }]);
}

/** A card as a feed shows it. */
function feedItem(content: ContentReader, card: Card, siteUrl: string): FeedItem {
  const { image } = card;
  const width = Math.min(pictureWidth, image?.width ?? pictureWidth);
  return {
    id: card.id,
    title: card.title,
    url: `${siteUrl}/article/${card.slug}`,
    summary: card.excerpt,
    authors: creditsOf(card.byline).map((credit) => personOf(credit, siteUrl)),
    contributors: contributorCredits(card.byline).map((credit) => personOf(credit, siteUrl)),
    sections: card.section ? [card.section.label] : [],
    image:
      image?.width && image.height
        ? {
            url: `${siteUrl}${imageUrl(image.url, pictureWidth)}`,
            alt: image.alt,
            width,
            height: Math.round((width * image.height) / image.width),
          }
        : null,
    published: card.date,
    modified: lastChanged(content, card),
  };
}

/** A card stays the same when a story's text changes; a feed that states the time of the last change must be rendered again. */
export function noteChanges(content: ContentReader, cards: readonly Card[]): void {
  for (const { id } of cards) content.note(tag.article(id));
}

/** The newspaper's feed, or that of a section or author; `null` when the section or author doesn't exist. */
export function buildFeed(
  content: ContentReader,
  siteUrl: string,
  of: { readonly section?: string; readonly author?: string } = {},
): FeedDocument | null {
  const section = of.section === undefined ? undefined : content.section(of.section);
  const author = of.author === undefined ? undefined : content.author(of.author);
  if (section === null || author === null) return null;
  const listing = section ? sectionFeed(section) : author ? authorFeed(author) : paperFeed;
  const { items } = content.articles({
    ...(section && { section: section.slug }),
    ...(author && { authorId: author.id }),
    limit: itemsPerFeed,
  });
  noteChanges(content, items);
  return feedOf(
    listing,
    author?.excerpt || publication.description,
    items.map((card) => feedItem(content, card, siteUrl)),
    siteUrl,
  );
}

/** Builds a feed of these items, newest first. */
export const feedOf = (
  listing: FeedListing,
  description: string,
  items: readonly FeedItem[],
  siteUrl: string,
): FeedDocument => ({
  title: listing.title,
  description,
  homeUrl: `${siteUrl}${listing.base === '/' ? '/' : listing.base.replace(/\/$/, '')}`,
  baseUrl: `${siteUrl}${listing.base}`,
  language: publication.language,
  siteName: publication.name,
  iconUrl: `${siteUrl}/icon-512.png`,
  items,
});

/** The current address of the feed of a section or author whose slug has changed; `null` if there is none. */
function movedTo(
  content: ContentReader,
  { section, author }: { readonly section?: string; readonly author?: string },
): string | null {
  const renamed = section === undefined ? null : content.formerSection(section);
  if (renamed) return sectionFeed(renamed).base;
  const resolved = author === undefined ? null : content.resolveSlug('authors', author);
  return resolved?.kind === 'moved' ? `${authorPath(resolved)}/` : null;
}

/** The response for one format of a feed: 404 for an unknown file, section or author, 301 if the address has changed. */
export function answerFeed(
  content: ContentReader,
  siteUrl: string,
  file: string | undefined,
  of: { readonly section?: string; readonly author?: string } = {},
): Response {
  const format = feedFormats.find((known) => known.file === file);
  const feed = format ? buildFeed(content, siteUrl, of) : null;
  const moved = format && !feed ? movedTo(content, of) : null;
  if (format && moved !== null) return new Response(null, { status: 301, headers: { location: moved + format.file } });
  return textAnswer(format && feed ? format.write(feed) : null, format?.type ?? 'text/plain');
}
