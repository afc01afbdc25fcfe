/**
 * Entries: everything that sync writes to the content store, as data. One process applies them as they come; in a cluster they are
 * appended to the content log first, and every node applies the log.
 */
import type { DocumentType, MenuItem } from '../../lib/content/model.ts';
import type { IngestedComment, IngestedDocument, IngestedSection } from '../ingest/document.ts';
import type { Rejection } from '../wire/values.ts';
import { updateRestrictedSections } from './access.server.ts';
import { storeComment, withdrawComment } from './comments.server.ts';
import { type ContentStore, writeCursor } from './content-store.server.ts';
import { storeMenus, storeSections, storeTopStories } from './navigation.server.ts';
import { type Fetched, rememberSlug, type StoredChange, storeDocument, withdrawDocument } from './write.server.ts';

export type ContentEntry =
  | { readonly kind: 'document'; readonly document: IngestedDocument; readonly fetched: Fetched }
  | { readonly kind: 'withdrawal'; readonly type: DocumentType; readonly id: number; readonly fetched: Fetched }
  /** Entries of comments, sections and menus that an earlier version has written don't say when they were fetched. */
  | { readonly kind: 'comment'; readonly comment: IngestedComment; readonly fetched?: Fetched }
  | { readonly kind: 'comment-withdrawal'; readonly id: number; readonly fetched?: Fetched }
  /** A document that failed validation; `tried` in epoch milliseconds. */
  | { readonly kind: 'rejection'; readonly rejection: Rejection; readonly url: string; readonly tried: number }
  /** A rejected document can be read now, or is gone. */
  | { readonly kind: 'rejection-end'; readonly type: string; readonly id: number }
  | { readonly kind: 'sections'; readonly sections: readonly IngestedSection[]; readonly fetched?: Fetched }
  | {
      readonly kind: 'menus';
      readonly menus: readonly (readonly [location: string, items: readonly MenuItem[]])[];
      readonly fetched?: Fetched;
    }
  | { readonly kind: 'former-slug'; readonly type: DocumentType; readonly slug: string; readonly id: number }
  /** Progress of the sync. */
  | { readonly kind: 'cursor'; readonly name: string; readonly value: unknown }
  /** A fact about the whole copy, with the tags that it changes. */
  | { readonly kind: 'meta'; readonly key: string; readonly value: string; readonly tags: readonly string[] };

/** What applying entries has changed. */
export interface EntriesChange {
  readonly changes: readonly StoredChange[];
  readonly tags: ReadonlySet<string>;
  /** Tags of the pages of documents whose sections have become restricted. */
  readonly withdrawnTags: ReadonlySet<string>;
  readonly rejected: number;
}

/** Names an entry in the content log: a later entry of the same name replaces it. */
export function entryName(entry: ContentEntry): { readonly kind: string; readonly id: string } {
  switch (entry.kind) {
    case 'document':
      return { kind: 'document', id: String(entry.document.id) };
    case 'withdrawal':
      return { kind: 'document', id: String(entry.id) };
    case 'comment':
      return { kind: 'comment', id: String(entry.comment.id) };
    case 'comment-withdrawal':
      return { kind: 'comment', id: String(entry.id) };
    case 'rejection':
      return { kind: 'rejection', id: `${entry.rejection.type}/${entry.rejection.id}` };
    case 'rejection-end':
      return { kind: 'rejection', id: `${entry.type}/${entry.id}` };
    case 'sections':
    case 'menus':
      return { kind: entry.kind, id: '' };
    case 'former-slug':
      return { kind: entry.kind, id: `${entry.type}/${entry.slug}` };
    case 'cursor':
      return { kind: entry.kind, id: entry.name };
    case 'meta':
      return { kind: entry.kind, id: entry.key };
  }
}

/** Applies entries in their order; the caller wraps it in one transaction. */
export function applyEntries(store: ContentStore, entries: readonly ContentEntry[]): EntriesChange {
  const changes: StoredChange[] = [];
  const tags = new Set<string>();
  const withdrawnTags = new Set<string>();
  let rejected = 0;
  const changed = (each: Iterable<string>): void => {
    for (const tag of each) tags.add(tag);
  };
  for (const entry of entries) {
    switch (entry.kind) {
      case 'document': {
        const change = applyDocument(store, entry.document, entry.fetched, tags);
        if (change) changes.push(change);
        break;
      }
      case 'withdrawal':
        changes.push(withdrawDocument(store, entry.id, entry.fetched, entry.type));
        forgetTopStories(store, entry.id, tags);
        break;
      case 'comment':
        endRejection(store, 'comments', entry.comment.id);
        changed(storeComment(store, entry.comment, entry.fetched));
        break;
      case 'comment-withdrawal':
        endRejection(store, 'comments', entry.id);
        changed(withdrawComment(store, entry.id, entry.fetched));
        break;
      case 'rejection':
        writeRejection(store, entry);
        rejected++;
        break;
      case 'rejection-end':
        endRejection(store, entry.type, entry.id);
        break;
      case 'sections': {
        changed(storeSections(store, entry.sections));
        const levels = updateRestrictedSections(store);
        changed(levels.tags);
        for (const each of levels.withdrawnTags) withdrawnTags.add(each);
        break;
      }
      case 'menus':
        changed(storeMenus(store, new Map(entry.menus)));
        break;
      case 'former-slug':
        changed(rememberSlug(store, entry.type, entry.slug, entry.id));
        break;
      case 'cursor':
        writeCursor(store, entry.name, entry.value);
        break;
      case 'meta':
        store.setMeta(entry.key, entry.value);
        if (entry.key === changedFilesKey) forgetSizes(store, entry.value);
        changed(entry.tags);
    }
  }
  for (const change of changes) changed(change.tags);
  return { changes, tags, withdrawnTags, rejected };
}

/** @returns `null` for the page with the front page's selection, which is a form for editors and not a page of the site */
function applyDocument(
  store: ContentStore,
  document: IngestedDocument,
  fetched: Fetched,
  tags: Set<string>,
): StoredChange | null {
  if (!document.topStories) {
    // The page has another slug now, so it is no longer that form.
    if (document.type === 'pages') forgetTopStories(store, document.id, tags);
    return storeDocument(store, document, fetched);
  }
  for (const tag of storeTopStories(store, document.topStories)) tags.add(tag);
  store.setMeta('top-stories-page', JSON.stringify([document.id, document.modified]));
  endRejection(store, document.type, document.id);
  return null;
}

/** Key of the entry that says which picture files were replaced or deleted; its value is a JSON list of addresses, or empty for all. */
export const changedFilesKey = 'changed-files';

/** A picture is measured only once, so a replaced file would keep the size of the former one. */
function forgetSizes(store: ContentStore, value: string): void {
  if (value === '') {
    store.prepare('DELETE FROM measured').run();
    return;
  }
  // `@` follows `?` in ASCII: with two bounds instead of LIKE, SQLite reads only the addresses with this file's queries.
  const forget = store.prepare("DELETE FROM measured WHERE url = ?1 OR (url >= ?1 || '?' AND url < ?1 || '@')");
  for (const file of JSON.parse(value) as string[]) forget.run(file);
}

function endRejection(store: ContentStore, type: string, id: number): void {
  store.prepare('DELETE FROM rejected WHERE type = ? AND id = ?').run(type, id);
}

function writeRejection(store: ContentStore, { rejection, url, tried }: ContentEntry & { kind: 'rejection' }): void {
  const { type, id, field, value, problem, modified } = rejection;
  store
    .prepare(
      `INSERT INTO rejected VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (type, id) DO UPDATE SET url = excluded.url,
        field = excluded.field, value = excluded.value, problem = excluded.problem, modified = excluded.modified, tried = excluded.tried`,
    )
    .run(type, id, url, field, value, problem, modified, tried);
}

/** Id and `modified` of the page `top-stories-2`; `null` while there is none. */
export function topStoriesPage(store: ContentStore): { id: number; modified: string } | null {
  const value = store.getMeta('top-stories-page');
  if (value === null || value === 'null') return null;
  const [id, modified] = JSON.parse(value) as [number, string];
  return { id, modified };
}

function forgetTopStories(store: ContentStore, id: number, tags: Set<string>): void {
  if (topStoriesPage(store)?.id !== id) return;
  store.setMeta('top-stories-page', 'null');
  for (const tag of storeTopStories(store, null)) tags.add(tag);
}
