/** How far sync has come, kept in the content store and written in the same transaction as what it brought. */

import type { DocumentType } from '../../lib/content/model.ts';
import type { ContentStore } from '../store/content-store.server.ts';

/** Order in which types are read: what the front page needs comes first. */
export const documentTypes: readonly DocumentType[] = ['pages', 'articles', 'video', 'crosswords', 'authors'];

export interface BackfillCursor {
  readonly offset: number;
  readonly total: number;
  readonly done: boolean;
}

export interface WalkCursor {
  readonly offset: number;
  /** Highest id seen on this lap. */
  readonly last: number;
  /** Laps walked to the end. */
  readonly laps: number;
}

export function readCursor<T>(store: ContentStore, name: string, standard: T): T {
  const row = store.prepare('SELECT value FROM cursors WHERE name = ?').get(name);
  return row ? (JSON.parse(String(row.value)) as T) : standard;
}

export function writeCursor(store: ContentStore, name: string, value: unknown): void {
  store
    .prepare('INSERT INTO cursors VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value')
    .run(name, JSON.stringify(value));
}

export const backfillCursor = (store: ContentStore, type: DocumentType | 'comments'): BackfillCursor =>
  readCursor(store, `backfill:${type}`, { offset: 0, total: 0, done: false });

/** Whether the first copy of everything is done. */
export const isCopied = (store: ContentStore): boolean =>
  [...documentTypes, 'comments' as const].every((type) => backfillCursor(store, type).done);

export const walkCursor = (store: ContentStore, type: DocumentType | 'comments'): WalkCursor =>
  readCursor(store, `walk:${type}`, { offset: 0, last: 0, laps: 0 });
