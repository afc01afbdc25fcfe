/**
 * Withdrawals that a node has applied ahead of the content log, because it couldn't read the log: its content store differs from the log by
 * these until the log has a later entry of the same name.
 */
import type { DocumentType } from '../../lib/content/model.ts';
import type { ContentStore } from './content-store.server.ts';
import { type ContentEntry, entryName } from './entries.server.ts';
import type { Fetched } from './write.server.ts';

/** Kinds of entries that withdraw something; a document withdraws when it has become paid. */
type AheadKind = 'document' | 'withdrawal' | 'comment-withdrawal' | 'sections';

/** `fetched.clock` is that of WordPress's answer; `fetched.at` is that of the stored version where it has one. */
export type EntryAhead = Extract<ContentEntry, { readonly kind: AheadKind }> & { readonly fetched: Fetched };

/** With the time of this node's request, on the scale of `Fetched.at`. */
type Remembered = EntryAhead & { readonly askedAt: number };

/** What WordPress is asked for to replace an entry; the id of the sections is 0. */
export interface AheadName {
  readonly type: DocumentType | 'comments' | 'sections';
  readonly id: number;
}

export function aheadName(entry: EntryAhead): AheadName {
  switch (entry.kind) {
    case 'document':
      return { type: entry.document.type, id: entry.document.id };
    case 'withdrawal':
      return { type: entry.type, id: entry.id };
    case 'comment-withdrawal':
      return { type: 'comments', id: entry.id };
    case 'sections':
      return { type: 'sections', id: 0 };
  }
}

function keyOf(entry: ContentEntry): string {
  const { kind, id } = entryName(entry);
  return kind === 'document' ? `ahead:${id}` : `ahead:${kind}:${id}`;
}

/** @param askedAt time of this node's request, on the scale of `Fetched.at` */
export function rememberAhead(store: ContentStore, entry: EntryAhead, askedAt: number): void {
  store.setMeta(keyOf(entry), JSON.stringify({ ...entry, askedAt } satisfies Remembered));
}

function remembered(store: ContentStore, entry: ContentEntry): Remembered | null {
  const value = store.getMeta(keyOf(entry));
  return value === null ? null : (JSON.parse(value) as Remembered);
}

const fetchedOf = (entry: ContentEntry): Fetched | undefined => ('fetched' in entry ? entry.fetched : undefined);

/** Forgets what the log has overtaken. @param entries of the log */
export function forgetAhead(store: ContentStore, entries: readonly ContentEntry[]): void {
  if (!isAhead(store)) return;
  for (const entry of entries) store.prepare('DELETE FROM meta WHERE key = ?').run(keyOf(entry));
}

/**
 * The entries of the log that count: WordPress answered them after what this node has applied ahead of the log, by WordPress's clock, whose
 * unit is a second. An earlier one would show again what is withdrawn. Where an answer doesn't state the clock, the log counts.
 */
export function entriesThatCount(store: ContentStore, entries: readonly ContentEntry[]): readonly ContentEntry[] {
  if (!isAhead(store)) return entries;
  return entries.filter((entry) => {
    const clock = fetchedOf(entry)?.clock ?? 0;
    const ahead = remembered(store, entry)?.fetched.clock ?? 0;
    return clock === 0 || ahead === 0 || clock > ahead;
  });
}

// The character after the colon, so that SQLite reads a range of its index.
const range = "FROM meta WHERE key >= 'ahead:' AND key < 'ahead;'";

export const isAhead = (store: ContentStore): boolean => store.prepare(`SELECT 1 ${range} LIMIT 1`).get() !== undefined;

export const entriesAhead = (store: ContentStore): EntryAhead[] =>
  store
    .prepare(`SELECT value ${range}`)
    .all()
    .map(({ value }) => {
      const { askedAt: _, ...entry } = JSON.parse(String(value)) as Remembered;
      return entry;
    });

const afterClock = <Entry extends ContentEntry>(entry: Entry, clock: number): Entry =>
  clock === 0 ? entry : { ...entry, fetched: { ...fetchedOf(entry), clock: clock + 1 } };

/**
 * What the node that syncs appends: first what it has applied ahead of the log, then its entries without those that it fetched before that.
 * Both are dated after its answers by WordPress's clock, so that they count for this node, too.
 */
export function withEntriesAhead(
  store: ContentStore,
  entries: readonly ContentEntry[],
): { readonly entries: readonly ContentEntry[]; readonly ahead: readonly EntryAhead[] } {
  const later = entries.flatMap((entry) => {
    const [ahead, fetched] = [remembered(store, entry), fetchedOf(entry)];
    if (!ahead || !fetched) return [entry];
    if (fetched.at < ahead.askedAt) return [];
    const isLater = fetched.clock === 0 || fetched.clock > ahead.fetched.clock;
    return [isLater ? entry : afterClock(entry, ahead.fetched.clock)];
  });
  return { entries: later, ahead: entriesAhead(store).map((entry) => afterClock(entry, entry.fetched.clock)) };
}
