/**
 * Live coverage: the entries of a story are documents of their own, in lists of the story. Their order, totals and pages work like those of
 * every other list; this file defines the lists, and the fingerprint by which open pages know whether they have everything.
 */
import { createHash } from 'node:crypto';
import type { LiveEntry, LiveStory } from '../../lib/content/model.ts';
import type { ContentReader, LiveList } from '../../lib/content/reader.ts';
import { tag } from '../../lib/content/tags.ts';
import { entriesText } from '../../lib/live/model.ts';
import type { DocumentFacts } from '../ingest/document.ts';
import { readCard } from './cards.server.ts';
import type { DocumentVersion } from './changed-tags.ts';
import type { ContentStore } from './content-store.server.ts';
import { listIds, listTotal } from './lists.server.ts';
import { findById, noteCredited, type Read, readSlice, withLinks } from './read.server.ts';
import { authorIdOf, authorRefOf, factsOf } from './rows.server.ts';

const listOf = (list: LiveList, story: number): string => `live-entries:${list}:${story}`;
const liveStoriesList = 'articles:live';

/** The live coverage lists that contain a document. Pinned entries have their own list above the others. */
export function liveListsOf({ type, facts }: Pick<DocumentVersion, 'type' | 'facts'>): string[] {
  const { story, pinned, keyEvent, live } = facts;
  if (type === 'articles') return live?.state === 'live' ? [liveStoriesList] : [];
  if (story === undefined) return [];
  const lists = [listOf(pinned ? 'pinned' : 'story', story)];
  return keyEvent ? [...lists, listOf('key', story)] : lists;
}

type Versioned = Pick<DocumentVersion, 'title' | 'bodyHash' | 'facts' | 'authorId' | 'date'>;

/** A number of 32 bits that changes with everything that an entry shows. */
const versionOf = ({ title, bodyHash, facts, authorId, date }: Versioned): number =>
  createHash('sha256')
    .update(JSON.stringify([title, bodyHash, JSON.stringify(facts), authorId, date]))
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
  if (before?.facts.story !== undefined) add.run(before.facts.story, -versionOf(before));
  if (after?.facts.story !== undefined) add.run(after.facts.story, versionOf(after));
}

/** Most characters of entries in the search index, so that indexing doesn't get slower with each entry. */
const mostIndexed = 40_000;

/** The text of a story for the search index, with its newest entries. @param body the story's own text, which anyone may read */
export const withEntries = (store: ContentStore, id: number, { live }: DocumentFacts, body: string): string =>
  live ? `${body}\n${entriesText(liveReads({ store, tags: new Set() }), id, mostIndexed)}`.trim() : body;

type LiveReads = Pick<
  ContentReader,
  'liveEntries' | 'liveEntry' | 'livePlace' | 'liveState' | 'liveModified' | 'liveStories'
>;

/** The reads of live coverage of one reader. */
export function liveReads(read: Read): LiveReads {
  const { store, tags } = read;
  return {
    liveEntries(story, { list = 'story', ...filter }) {
      tags.add(tag.live(story));
      return readSlice(store, [listOf(list, story)], filter, 20, (id) => readEntry(read, id));
    },
    liveEntry(id) {
      const found = readEntry(read, id);
      return found && isCovered(read, found.story) ? found : null;
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

/** Stories without entries have no row in `live`, and cost one look-up. */
const lastChange = `SELECT max(d.modified) AS modified FROM live v CROSS JOIN listing l CROSS JOIN documents d
  WHERE v.story = ? AND l.list IN (?, ?) AND d.id = l.id`;

function readEntry(read: Read, id: number): LiveEntry | null {
  read.tags.add(tag.entry(id));
  const row = findById(read, 'live-entries', id);
  if (!row) return null;
  const facts = factsOf(row);
  noteCredited(read, row);
  const [title, date, bodyHash] = [String(row.title), String(row.date), String(row.body_hash)];
  return {
    id,
    story: facts.story ?? 0,
    title,
    bodyHtml: withLinks(read, String(row.body ?? '')),
    author: authorRefOf(row),
    date,
    modified: String(row.modified),
    pinned: facts.pinned ?? false,
    keyEvent: facts.keyEvent ?? false,
    version: versionOf({ title, bodyHash, facts, authorId: authorIdOf(row), date }).toString(36),
  };
}

/** Whether a story is published, and is or was covered live. */
function isCovered({ store, tags }: Read, id: number): boolean {
  tags.add(tag.article(id));
  tags.add(tag.navigation);
  const row = store.prepare("SELECT facts FROM documents WHERE id = ? AND type = 'articles'").get(id);
  return row !== undefined && factsOf(row).live !== undefined;
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
