/** Live coverage: which entries a page of a story shows, and where an entry is. */
import { publication } from '../../publication.ts';
import { isFree } from '../article/model.ts';
import type { Article, Card, LiveEntry } from '../content/model.ts';
import type { ContentReader } from '../content/reader.ts';
import { type Paging, pageCount, pageHref } from '../paging.ts';
import { parseId, plainText } from '../text.ts';
import { entryAnchor, liveWord, untitledEntry } from './schema.ts';

const size = publication.pageSizes.liveEntries;

export const liveWords = {
  live: liveWord,
  heading: 'Live updates',
  jump: 'Go to the latest updates',
  ended: 'Live coverage has ended.',
  updated: 'Updated',
  keyEvents: 'Key events',
  keyEvent: 'Key event',
  pinned: 'Pinned',
  none: 'The first update will appear here.',
  untitled: untitledEntry,
  pages: 'Updates',
} as const;

/** Number of key events that a page names. */
const mostKeyEvents = 10;

/** The part of a live story that one of its pages shows. */
export interface LiveView {
  readonly entries: readonly LiveEntry[];
  /** Only on the first page, as the key events. */
  readonly pinned: readonly LiveEntry[];
  readonly keyEvents: readonly LiveEntry[];
  /** Path of this page. */
  readonly path: string;
  readonly place: Paging;
  readonly first: boolean;
  /** Such as `, page 2`, for titles. */
  readonly suffix: string;
  /** See `LiveStory`. */
  readonly state: string;
  /** When the newest entry was published, UTC; `null` without one. */
  readonly updated: string | null;
}

const storyPath = ({ slug }: Pick<Article, 'slug'>): string => `/article/${slug}`;

/** The permanent address of an entry, which redirects to the page that has it. */
export const entryPath = (slug: string, id: number): string => `/article/${slug}/live/${id}`;

/** Path of a page of entries: the first is the story's own. */
const pagePath = (slug: string, page: number): string =>
  page <= 1 ? storyPath({ slug }) : pageHref(`${storyPath({ slug })}/live`, page);

/**
 * The entries on a page of a story.
 *
 * @param page its number; the first one is the story's own page
 * @param variant the page's variant: the public variant of a restricted story has no entries
 * @returns `null` for a page without entries, or if there is no such page
 */
export function liveView(
  content: Pick<ContentReader, 'liveEntries' | 'liveState'>,
  article: Pick<Article, 'id' | 'slug' | 'access' | 'live'>,
  page: number,
  variant: 'public' | 'full',
): LiveView | null {
  const { id, slug, access, live } = article;
  if (!live || (variant === 'public' && !isFree(access))) return null;
  const { items, total } = content.liveEntries(id, { offset: (page - 1) * size, limit: size });
  const pages = pageCount(total, size);
  if (page > pages) return null;
  const first = page === 1;
  const pinned = first ? content.liveEntries(id, { list: 'pinned', limit: size }).items : [];
  const dates = [...pinned, ...items].map(({ date }) => date);
  return {
    entries: items,
    pinned,
    keyEvents: first ? content.liveEntries(id, { list: 'key', limit: mostKeyEvents }).items : [],
    path: pagePath(slug, page),
    place: {
      page,
      pages,
      previous: first ? null : pagePath(slug, page - 1),
      next: page < pages ? pagePath(slug, page + 1) : null,
    },
    first,
    suffix: first ? '' : `, page ${page}`,
    state: content.liveState(id),
    updated: dates.toSorted().at(-1) ?? null,
  };
}

/** When readers last saw something new: a new entry doesn't change the story's own `modified`. */
export const lastModified = (story: Pick<Card, 'modified'>, entries: readonly Pick<LiveEntry, 'modified'>[]): string =>
  [story, ...entries]
    .map(({ modified }) => modified)
    .toSorted()
    .at(-1) ?? story.modified;

/** Address of the page that has an entry, with its anchor. */
export function pageOfEntry(content: Pick<ContentReader, 'livePlace'>, slug: string, entry: LiveEntry): string {
  const page = Math.floor(content.livePlace(entry) / size) + 1;
  return `${pagePath(slug, page)}#${entryAnchor(entry.id)}`;
}

/**
 * An entry by its number in an address, with its story.
 *
 * @returns `null` if there is no such entry that readers may see
 */
export function storyOfEntry(
  content: Pick<ContentReader, 'articles' | 'liveEntry'>,
  number: string,
): { readonly entry: LiveEntry; readonly story: Card } | null {
  const id = parseId(number);
  const entry = id === null ? null : content.liveEntry(id);
  const [story] = entry ? content.articles({ ids: [entry.story] }).items : [];
  return entry && story ? { entry, story } : null;
}

// The text of a live story's entries, for search.

/** Entries read in one query. */
const entriesPerQuery = 20;

/**
 * Headlines and texts of a story's entries as plain text: pinned ones first, then the newest, as on the story's page.
 *
 * @param most once this many characters are read, no further entry is; the last one isn't cut
 */
export function entriesText(content: Pick<ContentReader, 'liveEntries'>, story: number, most: number): string {
  const texts: string[] = [];
  let length = 0;
  for (const list of ['pinned', 'story'] as const) {
    for (let offset = 0; length < most; offset += entriesPerQuery) {
      const { items } = content.liveEntries(story, { list, offset, limit: entriesPerQuery });
      for (const { title, bodyHtml } of items) {
        if (length >= most) break;
        const text = [title, plainText(bodyHtml)].filter((part) => part !== '').join('\n');
        texts.push(text);
        length += text.length;
      }
      if (items.length < entriesPerQuery) break;
    }
  }
  return texts.join('\n');
}
