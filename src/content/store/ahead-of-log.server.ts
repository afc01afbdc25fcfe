/**
 * Withdrawals that a node has applied ahead of the content log, because it couldn't read the log: its content store differs from the log by
 * these until the log has a later entry of the same name.
 */
import { levelOf } from '../../lib/access/model.ts';
import type { IngestedSection } from '../ingest/document.ts';
import { canonicalSlug } from '../wire/values.ts';
import type { ContentStore, CopiedType } from './content-store.server.ts';
import { type ContentEntry, entryName } from './entries.server.ts';
import type { Fetched } from './write.server.ts';

/** Kinds of entries that withdraw something; a document withdraws when it has become paid. */
type AheadKind = 'document' | 'withdrawal' | 'comment-withdrawal';

type SectionsEntry = Extract<ContentEntry, { readonly kind: 'sections' }>;

/**
 * This node's sections without those that WordPress has removed. Unlike other entries it isn't WordPress's whole answer: added or
 * edited sections wait for the log.
 */
export type SectionsAhead = SectionsEntry & {
  readonly fetched: Fetched;
  /** Ids of the removed sections; earlier versions didn't write them. */
  readonly removed?: readonly number[];
};

/** `fetched.clock` is that of WordPress's answer; `fetched.at` is that of the stored version where it has one. */
export type EntryAhead =
  | (Extract<ContentEntry, { readonly kind: AheadKind }> & { readonly fetched: Fetched })
  | SectionsAhead;

type Remembered = EntryAhead & {
  /** Time of this node's request, on the scale of `Fetched.at`; earlier versions didn't write it. */
  readonly askedAt?: number;
  /** The log has an entry of the same second of WordPress's clock, so it isn't known which of the two is newer. */
  readonly isDoubtful?: boolean;
};

/** What to ask WordPress for to replace an entry; sections have the id 0. */
export interface FetchTarget {
  readonly type: CopiedType | 'sections';
  readonly id: number;
}

export function fetchTargetOf(entry: EntryAhead): FetchTarget {
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

const remember = (store: ContentStore, entry: Remembered): void => store.setMeta(keyOf(entry), JSON.stringify(entry));

/** @param askedAt time of this node's request, on the scale of `Fetched.at` */
export const rememberAhead = (store: ContentStore, entry: EntryAhead, askedAt: number): void =>
  remember(store, { ...entry, askedAt });

/** What this node has applied ahead of the log for the same name as `entry`. */
export function aheadOf(store: ContentStore, entry: ContentEntry): Remembered | null {
  const value = store.getMeta(keyOf(entry));
  return value === null ? null : (JSON.parse(value) as Remembered);
}

const fetchedOf = (entry: ContentEntry): Fetched | undefined => ('fetched' in entry ? entry.fetched : undefined);

/**
 * Whether WordPress answered with an entry of the log after the answer that this node has applied ahead of it; also true if an answer
 * has no clock.
 */
function overtakes(entry: ContentEntry, ahead: Remembered): boolean {
  const [clock, known] = [fetchedOf(entry)?.clock ?? 0, ahead.fetched.clock];
  return clock === 0 || known === 0 || clock > known;
}

/** Deletes withdrawals ahead of the log that the log has overtaken. @param entries of the log */
export function forgetAhead(store: ContentStore, entries: readonly ContentEntry[]): void {
  if (!isAhead(store)) return;
  for (const entry of entries) {
    const ahead = aheadOf(store, entry);
    if (ahead && overtakes(entry, ahead)) store.prepare('DELETE FROM meta WHERE key = ?').run(keyOf(entry));
  }
}

/**
 * Chooses what to apply of the log. An entry that isn't newer than a withdrawal that this node has applied ahead of the log is left out,
 * because it would show the withdrawn content again. A list of sections that isn't newer is applied without the removed sections, because
 * it may have a section that makes stories paid.
 *
 * A withdrawal of the same second of WordPress's clock is marked as doubtful in the content store: it isn't known which of the two is
 * newer.
 */
export function chooseEntries(store: ContentStore, entries: readonly ContentEntry[]): readonly ContentEntry[] {
  if (!isAhead(store)) return entries;
  return entries.flatMap((entry): ContentEntry[] => {
    const ahead = aheadOf(store, entry);
    if (!ahead || overtakes(entry, ahead)) return [entry];
    if (isSections(entry) && isSections(ahead)) return [withoutRemoved(entry, ahead)];
    if (fetchedOf(entry)?.clock === ahead.fetched.clock) remember(store, { ...ahead, isDoubtful: true });
    return [];
  });
}

const isSections = <Entry extends ContentEntry>(entry: Entry): entry is Entry & { readonly kind: 'sections' } =>
  entry.kind === 'sections';

/**
 * A section that makes its stories paid can't be removed: without it the stories would be free until the log has their new
 * sections.
 */
export const isRemovable = ({ slug }: Pick<IngestedSection, 'slug'>): boolean =>
  levelOf('default', [canonicalSlug(slug)]) === 'default';

function withoutRemoved(entry: SectionsEntry, { removed = [] }: SectionsAhead): ContentEntry {
  const sections = entry.sections.filter((section) => !removed.includes(section.id) || !isRemovable(section));
  return { ...entry, sections };
}

// `;` follows `:` in ASCII: with two bounds instead of LIKE, SQLite reads only this range of its index.
const fromAhead = "FROM meta WHERE key >= 'ahead:' AND key < 'ahead;'";

export const isAhead = (store: ContentStore): boolean =>
  store.prepare(`SELECT 1 ${fromAhead} LIMIT 1`).get() !== undefined;

export const entriesAhead = (store: ContentStore): Remembered[] =>
  store
    .prepare(`SELECT value ${fromAhead}`)
    .all()
    .map(({ value }) => JSON.parse(String(value)) as Remembered);

/**
 * What the node that syncs appends: first what it has applied ahead of the log, then its entries without those that it fetched earlier.
 * What was applied ahead gets the time of this node's request, which is later than everything that it has appended so far, and a time of
 * WordPress's clock after WordPress's answers, so that it counts for this node, too. Doubtful withdrawals aren't appended, and neither are
 * the sections, which lack what WordPress has added: this node fetches them again.
 */
export function withEntriesAhead(
  store: ContentStore,
  entries: readonly ContentEntry[],
): { readonly entries: readonly ContentEntry[]; readonly ahead: readonly EntryAhead[] } {
  const later = entries.flatMap((entry): ContentEntry[] => {
    const [ahead, fetched] = [aheadOf(store, entry), fetchedOf(entry)];
    if (!ahead || !fetched) return [entry];
    if (fetched.at < (ahead.askedAt ?? 0))
      return isSections(entry) && isSections(ahead) ? [withoutRemoved(entry, ahead)] : [];
    const isLater = fetched.clock === 0 || fetched.clock > ahead.fetched.clock;
    return [isLater ? entry : redated(entry, fetched.at, ahead.fetched.clock)];
  });
  const ahead = entriesAhead(store).flatMap(({ askedAt, isDoubtful, ...entry }) =>
    isDoubtful || isSections(entry) ? [] : [redated(entry, askedAt ?? entry.fetched.at, entry.fetched.clock)],
  );
  return { entries: later, ahead };
}

/** Dated one second after a time of WordPress's clock; 0: unknown. */
const redated = <Entry extends ContentEntry>(entry: Entry, at: number, clock: number): Entry => {
  const fetched: Fetched = { at, clock: clock === 0 ? 0 : clock + 1 };
  return { ...entry, fetched };
};
