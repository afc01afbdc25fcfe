/**
 * Writes to the content store. Every function returns its changes as tags; the caller wraps several in one `store.transaction` where
 * they belong together.
 */
import { createHash } from 'node:crypto';
import type { Author, DocumentType, Sound } from '../../lib/content/model.ts';
import { tag } from '../../lib/content/tags.ts';
import type { IngestedDocument } from '../ingest/document.ts';
import { indexStory, markForReindex, unindexStory } from '../search/index.server.ts';
import { canonicalSlug } from '../wire/values.ts';
import { indexedText, isStricter, withPublicText } from './access.server.ts';
import { bylineNames, creditedIds } from './bylines.server.ts';
import { forgetCards } from './cards.server.ts';
import { type DocumentVersion, pageTags, tagsOfDocument } from './changed-tags.ts';
import { backfillCursor, type ContentStore } from './content-store.server.ts';
import { storedSlots } from './front.server.ts';
import { testedListsOf } from './headline-tests.server.ts';
import { changedNeighborIds } from './lists.server.ts';
import { liveListsOf, writeLiveState } from './live.server.ts';
import { indexEntry } from './live-search.server.ts';
import { sectionSlugOf, storedTopStories } from './navigation.server.ts';
import { authorIdOf, factsOf } from './rows.server.ts';

/** When a document was fetched from WordPress. */
export interface Fetched {
  /** Epoch milliseconds of the request, strictly rising within the process. */
  readonly at: number;
  /** WordPress's own clock, epoch seconds; 0 if the response doesn't state it. */
  readonly clock: number;
}

export interface StoredChange {
  /** `stale`: fetched earlier than the version in the content store, and ignored. */
  readonly status: 'created' | 'changed' | 'unchanged' | 'withdrawn' | 'absent' | 'stale';
  readonly type: DocumentType;
  readonly id: number;
  readonly tags: ReadonlySet<string>;
  /** Slug before and after the change; `null` if there was no document before, or is none after. */
  readonly slugs: readonly [before: string | null, after: string | null];
  /** An article that fewer readers may read in whole than before. */
  readonly isStricter: boolean;
}

const notStored = (status: 'stale' | 'absent', type: DocumentType, id: number): StoredChange => ({
  status,
  type,
  id,
  tags: new Set(),
  slugs: [null, null],
  isStricter: false,
});

/** The version in the content store, or `null`. */
function storedVersion(
  store: ContentStore,
  id: number,
): (DocumentVersion & { fetched: number; partial: boolean }) | null {
  const row = store.prepare('SELECT * FROM documents WHERE id = ?').get(id);
  if (!row) return null;
  return {
    id,
    type: row.type as DocumentType,
    slug: String(row.slug),
    title: String(row.title),
    excerpt: String(row.excerpt),
    image: row.image === null ? null : String(row.image),
    authorId: authorIdOf(row),
    terms: JSON.parse(String(row.terms)),
    date: String(row.date),
    modified: String(row.modified),
    facts: factsOf(row),
    bodyHash: String(row.body_hash),
    fetched: Number(row.fetched),
    partial: row.partial === 1,
  };
}

function versionOf(document: IngestedDocument): DocumentVersion {
  return {
    id: document.id,
    type: document.type,
    slug: canonicalSlug(document.slug),
    title: document.title,
    excerpt: document.excerpt,
    image: document.image ? JSON.stringify(document.image) : null,
    authorId: document.authorId,
    terms: document.terms,
    date: document.date,
    modified: document.modified,
    facts: document.facts,
    bodyHash: createHash('sha256')
      .update(document.bodyHtml)
      .update('\0')
      .update(document.openingHtml)
      .digest('base64url')
      .slice(0, 22),
  };
}

/** The lists that contain a document. */
function listsOf(version: DocumentVersion | null): string[] {
  if (!version) return [];
  const { type, terms, facts } = version;
  if (type === 'live-entries') return [type, ...liveListsOf(version)];
  if (type === 'pages' || type === 'authors' || type === 'podcasts' || type === 'fronts') return [type];
  const podcast = facts.sound?.podcast ?? null;
  return [
    type,
    ...[...new Set(terms)].map((term) => `${type}:section:${term}`),
    ...(podcast === null ? [] : [`${type}:podcast:${podcast}`]),
    ...liveListsOf(version),
    ...testedListsOf(version),
    ...creditedIds(version).map((id) => `${type}:author:${id}`),
  ];
}

/** @returns tags of the documents that this one is now a neighbor of */
function writeListing(store: ContentStore, before: DocumentVersion | null, after: DocumentVersion | null): string[] {
  const isMoved = before?.date !== after?.date;
  const [was, is] = [listsOf(before), listsOf(after)];
  const remove = store.prepare('DELETE FROM listing WHERE list = ? AND date = ? AND id = ?');
  for (const list of was) if (before && (isMoved || !is.includes(list))) remove.run(list, before.date, before.id);
  if (!after) return [];
  const added = is.filter((list) => isMoved || !was.includes(list));
  const add = store.prepare('INSERT OR IGNORE INTO listing VALUES (?, ?, ?)');
  for (const list of added) add.run(list, after.date, after.id);
  return added.flatMap((list) => changedNeighborIds(store, list, after).map(tag.neighbors));
}

/** Brings the list of all notes up to date. */
function writeCorrections(store: ContentStore, before: DocumentVersion | null, after: DocumentVersion | null): void {
  const [was = [], is = []] = [before?.facts.corrections, after?.facts.corrections];
  if (JSON.stringify(was) === JSON.stringify(is)) return;
  if (before) store.prepare('DELETE FROM corrections WHERE id = ?').run(before.id);
  const add = store.prepare('INSERT INTO corrections VALUES (?, ?, ?)');
  for (const [place, { date }] of is.entries()) if (after) add.run(date, after.id, place);
}

/** Brings the sound of a story up to date. */
function writeSound(
  store: ContentStore,
  before: DocumentVersion | null,
  after: DocumentVersion | null,
  sound?: Sound,
): void {
  if (before?.facts.sound?.mark === after?.facts.sound?.mark) return;
  if (before) store.prepare('DELETE FROM sounds WHERE id = ?').run(before.id);
  if (after && sound) store.prepare('INSERT INTO sounds VALUES (?, ?)').run(after.id, JSON.stringify(sound));
}

/**
 * Records what the pages of fronts show before fronts are written. If the site has shown a scheduled front already and WordPress then
 * publishes it, nothing changes.
 *
 * @returns gives the tags of the pages that show something else after it
 */
function compareFronts(store: ContentStore, versions: readonly (DocumentVersion | null)[]): () => string[] {
  const keys = new Set(versions.flatMap((version) => (version?.type === 'fronts' ? [version.slug] : [])));
  const shown = (key: string): string => JSON.stringify(storedSlots(store, key));
  const before = new Map([...keys].map((key) => [key, shown(key)]));
  return () => [...before].filter(([key, was]) => shown(key) !== was).map(([key]) => tag.front(key));
}

const insertDocument = `INSERT INTO documents
  (id, type, slug, title, excerpt, image, author_id, terms, date, modified, facts, partial, fetched, fetched_clock, body_hash)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET type = excluded.type, slug = excluded.slug, title = excluded.title,
  excerpt = excluded.excerpt, image = excluded.image, author_id = excluded.author_id, terms = excluded.terms,
  date = excluded.date, modified = excluded.modified, facts = excluded.facts, partial = excluded.partial,
  fetched = excluded.fetched, fetched_clock = excluded.fetched_clock, body_hash = excluded.body_hash`;

function writeDocument(store: ContentStore, version: DocumentVersion, partial: boolean, fetched: Fetched): void {
  forgetCards(store, version);
  store
    .prepare(insertDocument)
    .run(
      version.id,
      version.type,
      version.slug,
      version.title,
      version.excerpt,
      version.image,
      version.authorId,
      JSON.stringify(version.terms),
      version.date,
      version.modified,
      JSON.stringify(version.facts),
      partial ? 1 : 0,
      fetched.at,
      fetched.clock,
      version.bodyHash,
    );
}

/**
 * Records that a document had a slug.
 *
 * @param which `last`: it has just lost it; `once`: it had it at some time. Several documents may have had a slug one after the other, as a daily
 *   column has, and the newest of them probably had it last
 * @returns tags of the responses that this changes: a stored 404, or a redirect to another document
 */
export function rememberSlug(
  store: ContentStore,
  type: DocumentType,
  slug: string,
  id: number,
  which: 'last' | 'once' = 'last',
): string[] {
  const { changes } = store
    .prepare(
      `INSERT INTO old_slugs VALUES (?, ?, ?) ON CONFLICT (type, slug) DO UPDATE SET id = excluded.id
      WHERE id ${which === 'last' ? '<>' : '<'} excluded.id`,
    )
    .run(type, slug, id);
  return changes > 0 ? [tag.slug(type, slug)] : [];
}

/**
 * Tags of all former addresses of a document that appears, moves or is withdrawn: each of them responds with a redirect or a 410,
 * depending on where the document is now.
 */
function formerAddresses(store: ContentStore, before: DocumentVersion | null, after: DocumentVersion | null): string[] {
  const either = after ?? before;
  if (!either || (before && after && before.slug === after.slug)) return [];
  const rows = store.prepare('SELECT slug FROM old_slugs WHERE id = ? AND type = ?').all(either.id, either.type);
  return rows.map(({ slug }) => tag.slug(either.type, String(slug)));
}

/**
 * Stores one document. Of two responses of WordPress, the one to the later request counts; an earlier one counts only if its `modified`
 * is later.
 */
export function storeDocument(store: ContentStore, given: IngestedDocument, fetched: Fetched): StoredChange {
  return store.transaction(() => {
    const document = withPublicText(store, given);
    let before = storedVersion(store, document.id);
    const after = versionOf(document);
    const withdrawal = store.prepare('SELECT fetched FROM withdrawn WHERE id = ?').get(document.id);
    const lastFetched = before && !before.partial ? before.fetched : Number(withdrawal?.fetched ?? 0);
    if (lastFetched > fetched.at && !(before && !before.partial && after.modified > before.modified)) {
      return notStored('stale', after.type, after.id);
    }
    const tags = new Set<string>();
    if (before && before.type !== after.type) {
      for (const each of withdrawDocument(store, document.id, { at: before.fetched, clock: 0 }).tags) tags.add(each);
      before = null;
    }
    for (const author of [document.author, ...(document.others ?? [])]) {
      if (author) storePartialAuthor(store, author, fetched, tags);
    }
    const changedFronts = compareFronts(store, [before, after]);
    writeDocument(store, after, false, fetched);
    for (const each of writeListing(store, before, after)) tags.add(each);
    writeCorrections(store, before, after);
    writeSound(store, before, after, document.sound);
    writeLiveState(store, before, after);
    store.prepare('DELETE FROM withdrawn WHERE id = ?').run(after.id);
    store.prepare('DELETE FROM rejected WHERE type = ? AND id = ?').run(after.type, after.id);
    const former = document.oldSlugs.map(canonicalSlug).filter((slug) => slug !== '' && slug !== after.slug);
    const lost = before && before.slug !== after.slug ? before.slug : null;
    for (const slug of new Set(lost === null ? former : [lost, ...former])) {
      const which = slug === lost ? 'last' : 'once';
      for (const each of rememberSlug(store, after.type, slug, after.id, which)) tags.add(each);
    }
    for (const each of formerAddresses(store, before, after)) tags.add(each);
    if (!before || before.bodyHash !== after.bodyHash) {
      store
        .prepare(
          'INSERT INTO bodies VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET body = excluded.body, opening = excluded.opening',
        )
        .run(after.id, document.bodyHtml, document.openingHtml);
    }
    const choice = storedTopStories(store);
    const own = tagsOfDocument(before, after, sectionSlugOf(store), choice?.ids ?? []);
    for (const each of changedFronts()) own.add(each);
    for (const each of own) tags.add(each);
    const moved = before?.date !== after.date;
    if (after.type === 'articles' && (own.has(tag.search) || moved)) indexArticle(store, document);
    if (after.type === 'live-entries' && own.size > 0) indexEntry(store, before, after);
    if (after.type === 'authors' && before?.title !== after.title) markForReindex(store, after.id);
    const status = before ? (own.size > 0 ? 'changed' : 'unchanged') : 'created';
    return {
      status,
      type: after.type,
      id: after.id,
      tags,
      slugs: [before?.slug ?? null, after.slug],
      isStricter: after.type === 'articles' && before !== null && isStricter(store, before, document),
    };
  });
}

function indexArticle(store: ContentStore, document: IngestedDocument): void {
  const { id, title, excerpt, date, terms } = document;
  const author = bylineNames(store, document);
  indexStory(store, { id, title, standfirst: excerpt, author, body: indexedText(store, document), date, terms });
}

/** An author known only from an article has a provisional row until the author's own document arrives. */
function storePartialAuthor(store: ContentStore, author: Author, fetched: Fetched, tags: Set<string>): void {
  const before = storedVersion(store, author.id);
  if (before && !(before.partial && before.type === 'authors')) return;
  const withdrawal = store.prepare('SELECT fetched FROM withdrawn WHERE id = ?').get(author.id);
  if (withdrawal && Number(withdrawal.fetched) > fetched.at) return;
  const after: DocumentVersion = {
    id: author.id,
    type: 'authors',
    slug: canonicalSlug(author.slug),
    title: author.name,
    excerpt: author.excerpt,
    image: author.image ? JSON.stringify(author.image) : null,
    authorId: null,
    terms: [],
    date: before?.date ?? '1970-01-01T00:00:00Z',
    modified: before?.modified ?? '1970-01-01T00:00:00Z',
    facts: {},
    bodyHash: '',
  };
  writeDocument(store, after, true, fetched);
  writeListing(store, before, after);
  if (before?.title !== after.title) markForReindex(store, after.id);
  for (const each of tagsOfDocument(before, after, () => null)) tags.add(each);
  for (const each of formerAddresses(store, before, after)) tags.add(each);
}

/**
 * Removes a document from the content store; its address responds with 410 from now on.
 *
 * @param type the withdrawn one: a document that has another type now stays
 */
export function withdrawDocument(store: ContentStore, id: number, fetched: Fetched, type?: DocumentType): StoredChange {
  return store.transaction(() => {
    const before = storedVersion(store, id);
    const kind = type ?? before?.type ?? 'articles';
    store.prepare('DELETE FROM rejected WHERE id = ? AND type = ?').run(id, kind);
    const isStale = before && ((!before.partial && before.fetched > fetched.at) || before.type !== kind);
    if (isStale) return notStored('stale', kind, id);
    store
      .prepare(
        'INSERT INTO withdrawn VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET fetched = max(fetched, excluded.fetched)',
      )
      .run(id, kind, fetched.at);
    if (!before) {
      const tags = new Set(backfillCursor(store, kind).done ? [] : pageTags(kind, id, null));
      return { ...notStored('absent', kind, id), tags };
    }
    const changedFronts = compareFronts(store, [before]);
    rememberSlug(store, before.type, before.slug, id);
    writeListing(store, before, null);
    writeCorrections(store, before, null);
    writeSound(store, before, null);
    writeLiveState(store, before, null);
    forgetCards(store, before);
    store.prepare('DELETE FROM documents WHERE id = ?').run(id);
    store.prepare('DELETE FROM bodies WHERE id = ?').run(id);
    // Comments stay in the store, unseen, in case the article comes back.
    if (before.type === 'articles') unindexStory(store, id);
    if (before.type === 'live-entries') indexEntry(store, before, null);
    if (before.type === 'authors') markForReindex(store, id);
    const choice = storedTopStories(store);
    const tags = tagsOfDocument(before, null, sectionSlugOf(store), choice?.ids ?? []);
    for (const each of [...formerAddresses(store, before, null), ...changedFronts()]) tags.add(each);
    return { ...notStored('absent', before.type, id), status: 'withdrawn', tags, slugs: [before.slug, null] };
  });
}
