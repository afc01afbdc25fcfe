/** How far sync has come, kept in the mirror and written in the same transaction as what it brought. */

import type { DocumentType } from '../../lib/content/model.ts';
import type { Mirror } from '../store/mirror.server.ts';

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

export function readCursor<T>(mirror: Mirror, name: string, standard: T): T {
  const row = mirror.prepare('SELECT value FROM cursors WHERE name = ?').get(name);
  return row ? (JSON.parse(String(row.value)) as T) : standard;
}

export function writeCursor(mirror: Mirror, name: string, value: unknown): void {
  mirror
    .prepare('INSERT INTO cursors VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value')
    .run(name, JSON.stringify(value));
}

export const backfillCursor = (mirror: Mirror, type: DocumentType | 'comments'): BackfillCursor =>
  readCursor(mirror, `backfill:${type}`, { offset: 0, total: 0, done: false });

/** Whether the first copy of everything is done. */
export const isCopied = (mirror: Mirror): boolean =>
  [...documentTypes, 'comments' as const].every((type) => backfillCursor(mirror, type).done);

export const walkCursor = (mirror: Mirror, type: DocumentType | 'comments'): WalkCursor =>
  readCursor(mirror, `walk:${type}`, { offset: 0, last: 0, laps: 0 });
