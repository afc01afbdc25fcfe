/** What all reads of one request share: they look up documents, and record the tags of what they return (docs/decisions/0002). */
import type { Card, DocumentType } from '../../lib/content/model.ts';
import type { Slice } from '../../lib/content/reader.ts';
import { tag } from '../../lib/content/tags.ts';
import { canonicalSlug } from '../wire/values.ts';
import { resolveLinks } from './body-links.ts';
import { readCard } from './cards.server.ts';
import type { ContentStore } from './content-store.server.ts';
import { type ListFilter, listIds, listTotal } from './lists.server.ts';
import { creditedIn, documentColumns, documentSource, type Row } from './rows.server.ts';

/** The reads of one request. */
export interface Read {
  readonly store: ContentStore;
  /** Tags of everything read so far. */
  readonly tags: Set<string>;
}

/** Selects documents with their bodies; a condition follows. */
export const withBodies = `SELECT ${documentColumns}, d.body_hash, b.body, b.opening
  FROM ${documentSource} LEFT JOIN bodies b ON b.id = d.id`;
/** WordPress lets a page below another one have the slug of a page of the site, whose address it must not take. */
const bySlug = `${withBodies} WHERE d.type = ? AND d.slug = ? ORDER BY d.facts ->> 'child' IS NOT NULL, d.modified DESC LIMIT 1`;
const byId = `${withBodies} WHERE d.id = ? AND d.type = ?`;

/** The row of a document with its body. If there is none, the page changes when one appears. */
export function findBySlug({ store, tags }: Read, type: DocumentType, slug: string): Row | null {
  const key = canonicalSlug(slug);
  const row = store.prepare(bySlug).get(type, key) as Row | undefined;
  if (!row) tags.add(tag.slug(type, key));
  return row ?? null;
}

/** The row of a document with its body. */
export const findById = ({ store }: Read, type: DocumentType, id: number): Row | null =>
  (store.prepare(byId).get(id, type) as Row | undefined) ?? null;

/** Resolves the links of a text. */
export const withLinks = ({ store, tags }: Read, html: string): string =>
  resolveLinks(html, store, (own) => void tags.add(own));

/** Notes the names that a document shows. If an author's document is missing, the page changes when it arrives. */
export function noteCredited({ tags }: Read, row: Row): void {
  for (const id of creditedIn(row)) tags.add(tag.byline(id));
}

/** The card of an article. An id without a published article still tags the page, which changes when the article appears. */
export function readCardOf({ store, tags }: Read, id: number): Card | null {
  tags.add(tag.card(id));
  const stored = readCard(store, id);
  if (!stored) return null;
  tags.add(tag.navigation);
  if (stored.card.test?.state === 'running') tags.add(tag.headlineTests);
  for (const credited of stored.credited) tags.add(tag.byline(credited));
  return stored.card;
}

/**
 * One page of the documents in every one of `lists`.
 *
 * @param defaultLimit limit when the filter names none
 * @param read what is returned of a document; `null` leaves it out
 */
export function readSlice<T>(
  store: ContentStore,
  lists: readonly string[],
  filter: ListFilter,
  defaultLimit: number,
  read: (id: number) => T | null,
): Slice<T> {
  const items = listIds(store, lists, filter, defaultLimit).flatMap((id) => read(id) ?? []);
  return { items, total: listTotal(store, lists, filter) };
}
