/**
 * Withdrawals that a node has applied ahead of the content log, because it couldn't read the log: its content store differs from the log by
 * these until the log has a later entry of the same document.
 */
import type { ContentStore } from './content-store.server.ts';
import type { ContentEntry } from './entries.server.ts';

export type EntryAhead = Extract<ContentEntry, { readonly kind: 'document' | 'withdrawal' }>;

const isOfDocument = (entry: ContentEntry): entry is EntryAhead =>
  entry.kind === 'document' || entry.kind === 'withdrawal';

/** Id of the document that an entry stores or withdraws. */
export const idOfEntry = (entry: EntryAhead): number => (entry.kind === 'document' ? entry.document.id : entry.id);

export const typeOfEntry = (entry: EntryAhead) => (entry.kind === 'document' ? entry.document.type : entry.type);

const keyOf = (entry: EntryAhead): string => `ahead:${idOfEntry(entry)}`;

export function rememberAhead(store: ContentStore, entries: readonly ContentEntry[]): void {
  for (const entry of entries) if (isOfDocument(entry)) store.setMeta(keyOf(entry), JSON.stringify(entry));
}

/** Forgets what the log has overtaken. @param entries of the log */
export function forgetAhead(store: ContentStore, entries: readonly ContentEntry[]): void {
  if (!isAhead(store)) return;
  for (const entry of entries)
    if (isOfDocument(entry)) store.prepare('DELETE FROM meta WHERE key = ?').run(keyOf(entry));
}

// The character after the colon, so that SQLite reads a range of its index.
const range = "FROM meta WHERE key >= 'ahead:' AND key < 'ahead;'";

export const isAhead = (store: ContentStore): boolean => store.prepare(`SELECT 1 ${range} LIMIT 1`).get() !== undefined;

export const entriesAhead = (store: ContentStore): EntryAhead[] =>
  store
    .prepare(`SELECT value ${range}`)
    .all()
    .map(({ value }) => JSON.parse(String(value)) as EntryAhead);
