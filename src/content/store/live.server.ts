/**
 * Live coverage: the entries of a story are documents of their own, in lists of the story. Their order, totals and pages work like those of
 * every other list; this file defines the lists, and the fingerprint by which open pages know whether they have everything.
 */
import { createHash } from 'node:crypto';
import type { LiveCoverage, LiveEntry, LiveStory } from '../../lib/content/model.ts';
import type { ContentReader, LiveList } from '../../lib/content/reader.ts';
import { tag } from '../../lib/content/tags.ts';
import { entriesText } from '../../lib/live/model.ts';
import type { DocumentFacts } from '../ingest/document.ts';
import { readCard } from './cards.server.ts';
import type { DocumentVersion } from './changed-tags.ts';
import type { ContentStore } from './content-store.server.ts';
import { listIds, listTotal } from './lists.server.ts';
import { authorRefOf, creditedIn, documentColumns, documentSource, type Row } from './rows.server.ts';

const listOf = (list: LiveList, story: number): string => `live-entries:${list}:${story}`;
const liveStoriesList = 'articles:live';

/** The live coverage lists that contain a document. Pinned entries have their own list above the others. */
export function liveListsOf({ type, facts, story }: Pick<DocumentVersion, 'type' | 'facts' | 'story'>): string[] {
  if (type === 'articles') return coverageIn(facts)?.state === 'live' ? [liveStoriesList] : [];
  if (story === null) return [];
  const { pinned, keyEvent } = JSON.parse(facts) as DocumentFacts;
  const lists = [listOf(pinned ? 'pinned' : 'story', story)];
  return keyEvent ? [...lists, listOf('key', story)] : lists;
}

/** The live coverage in a document's facts, `null` for a story that has none. */
const coverageIn = (facts: string): LiveCoverage | null => (JSON.parse(facts) as DocumentFacts).live ?? null;

type Versioned = Pick<DocumentVersion, 'title' | 'bodyHash' | 'facts' | 'authorId' | 'date'>;

/** A number of 32 bits that changes with everything that an entry shows. */
const versionOf = ({ title, bodyHash, facts, authorId, date }: Versioned): number =>
  createHash('sha256')
    .update(JSON.stringify([title, bodyHash, facts, authorId, date]))
    .digest()
    .readUInt32BE();

/**
 * Brings the fingerprint of a story up to date: the sum of its entries' versions, which is the same on every node that has the same entries,
 * in whatever order they came.
 */
export function writeLiveState(
  store: ContentStore,
  before: DocumentVersion | null,
  after: DocumentVersion | null,
): void {
  const add = store.prepare(
    'INSERT INTO live VALUES (?, ?) ON CONFLICT (story) DO UPDATE SET sum = sum + excluded.sum',
  );
  if (before?.story != null) add.run(before.story, -versionOf(before));
  if (after?.story != null) add.run(after.story, versionOf(after));
}

/** Most characters of entries in the search index, so that indexing doesn't get slower with each entry. */
const mostIndexed = 40_000;

/** The text of a story for the search index, with its newest entries. @param body the story's own text, which anyone may read */
export const withEntries = (store: ContentStore, id: number, { live }: DocumentFacts, body: string): string =>
  live
    ? `${body}\n${entriesText(
        liveReads({ store, tags: new Set() }, (html) => html),
        id,
        mostIndexed,
      )}`.trim()
    : body;

export interface ReadState {
  readonly store: ContentStore;
  readonly tags: Set<string>;
}

type LiveReads = Pick<
  ContentReader,
  'liveEntries' | 'liveEntry' | 'livePlace' | 'liveState' | 'liveModified' | 'liveStories'
>;

/** The reads of live coverage of one reader. @param links resolves the links of a body, and notes their tags */
export function liveReads(read: ReadState, links: (html: string) => string): LiveReads {
  const { store, tags } = read;
  return {
    liveEntries(story, { list = 'story', ...filter }) {
      tags.add(tag.live(story));
      const lists = [listOf(list, story)];
      const items = listIds(store, lists, filter, 20).flatMap((id) => entry(read, id, links) ?? []);
      return { items, total: listTotal(store, lists, filter) };
    },
    liveEntry(id) {
      const found = entry(read, id, links);
      return found && storyOf(read, found.story) ? found : null;
    },
    livePlace({ id, story, pinned, date }) {
      tags.add(tag.live(story));
      if (pinned) return 0;
      const sql = 'SELECT count(*) AS n FROM listing WHERE list = ? AND (date, id) > (?, ?)';
      return Number(store.prepare(sql).get(listOf('story', story), date, id)?.n ?? 0);
    },
    liveState(story) {
      tags.add(tag.live(story));
      return stateOf(store, story);
    },
    liveModified({ id, isLive }) {
      const row = store.prepare(lastChange).get(id, listOf('story', id), listOf('pinned', id));
      const modified = typeof row?.modified === 'string' ? row.modified : null;
      // Other stories change themselves when their coverage begins: a sitemap of thousands doesn't note a tag of each.
      if (isLive || modified !== null) tags.add(tag.live(id));
      return modified;
    },
    liveStories: () => liveStories(store),
  };
}

const entryById = `SELECT ${documentColumns}, d.body_hash, b.body FROM ${documentSource} LEFT JOIN bodies b ON b.id = d.id
  WHERE d.id = ? AND d.type = 'live-entries'`;
/** Stories without entries have no row in `live`, and cost one look-up. */
const lastChange = `SELECT max(d.modified) AS modified FROM live v CROSS JOIN listing l CROSS JOIN documents d
  WHERE v.story = ? AND l.list IN (?, ?) AND d.id = l.id`;
const storyById = `SELECT ${documentColumns} FROM ${documentSource} WHERE d.id = ? AND d.type = 'articles'`;

function entry({ store, tags }: ReadState, id: number, links: (html: string) => string): LiveEntry | null {
  tags.add(tag.entry(id));
  const row = store.prepare(entryById).get(id) as Row | undefined;
  if (!row) return null;
  const facts = JSON.parse(String(row.facts)) as DocumentFacts;
  const author = authorRefOf(row);
  for (const person of creditedIn(row)) tags.add(tag.byline(person));
  const [title, date, bodyHash] = [String(row.title), String(row.date), String(row.body_hash)];
  const authorId = row.author_id === null ? null : Number(row.author_id);
  return {
    id,
    story: facts.story ?? 0,
    title,
    bodyHtml: links(String(row.body ?? '')),
    author,
    date,
    modified: String(row.modified),
    pinned: facts.pinned ?? false,
    keyEvent: facts.keyEvent ?? false,
    version: versionOf({ title, bodyHash, facts: String(row.facts), authorId, date }).toString(36),
  };
}

/** Row of a published story that is or was covered live. */
function storyOf({ store, tags }: ReadState, id: number): Row | null {
  tags.add(tag.article(id));
  tags.add(tag.navigation);
  const row = store.prepare(storyById).get(id) as Row | undefined;
  return row && coverageIn(String(row.facts)) ? row : null;
}

function stateOf(store: ContentStore, story: number): string {
  const sum = Number(store.prepare('SELECT sum FROM live WHERE story = ?').get(story)?.sum ?? 0);
  const lists = (['story', 'pinned'] as const).map((list) => listTotal(store, [listOf(list, story)], {}));
  return `${lists.reduce((total, n) => total + n, 0)}-${sum.toString(36)}`;
}

function liveStories(store: ContentStore): readonly LiveStory[] {
  return listIds(store, [liveStoriesList], {}, 1000).flatMap((id) => {
    const stored = readCard(store, id);
    if (!stored) return [];
    const { slug, access } = stored.card;
    return [{ id, path: `/article/${slug}`, access, state: stateOf(store, id) }];
  });
}
