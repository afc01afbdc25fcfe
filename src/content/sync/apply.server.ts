/**
 * Turns responses of WordPress into entries and writes them to the content store: ingest, one transaction for all of them, then one
 * notification of the changes. A document that fails validation is recorded with its address, field and value; the others are stored.
 * In a cluster the entries go into the content log first, and this node applies them as every other node does.
 */
import type { DocumentType } from '../../lib/content/model.ts';
import { tag } from '../../lib/content/tags.ts';
import { createKeyedMutex, type WithLock } from '../../lib/jobs/tasks.ts';
import type { Logger } from '../../lib/logging.ts';
import { isDamage } from '../../lib/sqlite-files.server.ts';
import { PoolClosed } from '../../lib/workers/pool.server.ts';
import type { Ingester } from '../ingest/ingester.server.ts';
import type { ContentChange, ContentLogAppender } from '../service.ts';
import { isRestricted } from '../store/access.server.ts';
import {
  aheadOf,
  chooseEntries,
  type EntryAhead,
  forgetAhead,
  isAhead,
  rememberAhead,
  withEntriesAhead,
} from '../store/ahead-of-log.server.ts';
import { pageTags } from '../store/changed-tags.ts';
import type { ContentStore } from '../store/content-store.server.ts';
import { applyEntries, type ContentEntry, type EntriesChange } from '../store/entries.server.ts';
import type { Fetched, StoredChange } from '../store/write.server.ts';
import type { Client } from '../wire/client.server.ts';
import { instantOf, type Rejection } from '../wire/values.ts';
import { ownPaths, pathsOfTags } from './changed-paths.ts';
import type { Notifier } from './notifier.server.ts';

export interface Applied {
  readonly stored: number;
  readonly withdrawn: number;
  readonly rejected: number;
  /** The paths that the listener refreshed, or the paths that most likely show the change. */
  readonly refreshed: readonly string[];
}

export interface Applier {
  /**
   * @param raws documents as received, all of one type
   * @param alongside further entries of the same transaction, such as a cursor
   * @param onStored called when the documents are in the content store; their pages may still be rendered
   */
  documents(
    type: DocumentType,
    raws: readonly unknown[],
    fetched: Fetched,
    alongside?: readonly ContentEntry[],
    onStored?: () => void,
  ): Promise<Applied>;
  /** @param alongside as for {@link Applier.documents} @param onStored as for {@link Applier.documents} */
  comments(
    raws: readonly unknown[],
    fetched: Fetched,
    alongside?: readonly ContentEntry[],
    onStored?: () => void,
  ): Promise<Applied>;
  /** Any other entries: withdrawals, sections, menus, cursors. @param onStored as for {@link Applier.documents} */
  write(entries: readonly ContentEntry[], onStored?: () => void): Promise<Applied>;
  /** Records a document that couldn't even be fetched. */
  reject(rejection: Rejection): Promise<Applied>;
  /**
   * Applies entries of the content log, except those that are older than what this node has applied ahead of the log.
   *
   * @param revision the log's, stored with them
   * @param tags further tags that changed up to this revision
   * @returns the paths that the listener refreshed
   * @throws Error at once, when they can't be written
   */
  applyLog(entries: readonly ContentEntry[], revision: number, tags: ReadonlySet<string>): Promise<readonly string[]>;
  /**
   * The entry that withdraws a stored document, or makes a free one paid; `null` for anything else.
   *
   * @param raw the document as received, `null` if WordPress doesn't have it any more
   * @param dated time of the stored version, so that every later entry of the log counts, whatever the nodes' clocks say, and WordPress's
   *   clock of its answer
   */
  withdrawalOf(type: DocumentType, id: number, raw: unknown, dated: Fetched): Promise<EntryAhead | null>;
  /** The entry that withdraws a comment; `null` if WordPress shows it. @param dated as for {@link Applier.withdrawalOf} */
  commentWithdrawalOf(id: number, raw: unknown, dated: Fetched): Promise<EntryAhead | null>;
  /** Applies a withdrawal ahead of the content log. @param askedAt `Fetched.at` of the request that brought it */
  applyAhead(entry: EntryAhead, askedAt: number): void;
  /** Counts of documents since the start. */
  readonly counts: { stored: number; withdrawn: number; rejected: number };
}

export interface ApplierOptions {
  readonly store: ContentStore;
  readonly client: Client;
  readonly ingester: Ingester;
  readonly log: Logger;
  readonly now: () => number;
  readonly notifier: Notifier;
  /** Called after every write. */
  readonly afterCommit?: (() => void) | undefined;
  /** The content log of a cluster; without one, entries are applied at once. */
  readonly contentLog?: ContentLogAppender | undefined;
}

/** Revision of the content log that a content store has; 0 if it follows none. */
export const logRevision = (store: ContentStore): number => Number(store.getMeta('log-revision') ?? 0);

/** Whether a stored page must stop being served at once: its document was withdrawn, or is for fewer readers now. */
const mustBeWithdrawn = ({ status, isStricter }: StoredChange): boolean => status === 'withdrawn' || isStricter;

/** Longest body, characters. A newspaper's longest stories have a tenth of it, and a thread must be able to hold it as a tree. */
const longestBody = 2_000_000;

function refuseLongBody(raw: unknown): void {
  const content = (raw as { content?: { rendered?: unknown } } | null)?.content?.rendered;
  const length = typeof content === 'string' ? content.length : 0;
  if (length > longestBody) throw new Error(`the body has ${length} characters, ${longestBody} is the limit`);
}

interface ApplyState extends ApplierOptions {
  readonly counts: Applier['counts'];
  readonly withLock: WithLock;
}

/** Creates the applier of a content store. */
export function createApplier(options: ApplierOptions): Applier {
  const state: ApplyState = {
    ...options,
    counts: { stored: 0, withdrawn: 0, rejected: 0 },
    withLock: createKeyedMutex(),
  };
  return {
    counts: state.counts,
    reject: (rejection) => commit(state, [rejectionEntry(state, rejection)]),
    async documents(type, raws, fetched, alongside = [], onStored) {
      const entries = await Promise.all(raws.map((raw) => documentEntry(state, type, raw, fetched)));
      return commit(state, [...entries, ...alongside], onStored);
    },
    async comments(raws, fetched, alongside = [], onStored) {
      const entries = await Promise.all(raws.map((raw) => commentEntry(state, raw, fetched)));
      return commit(state, [...entries, ...alongside], onStored);
    },
    write: (entries, onStored) => commit(state, entries, onStored),
    applyLog: (entries, revision, tags) => applyNow(state, entries, { revision, tags }).refreshed,
    withdrawalOf: (type, id, raw, dated) => withdrawalOf(state, type, id, raw, dated),
    commentWithdrawalOf: (id, raw, fetched) => commentWithdrawalOf(state, id, raw, fetched),
    applyAhead: (entry, askedAt) => void applyNow(state, [entry], { ahead: entry, askedAt }),
  };
}

function rejectionEntry(state: ApplyState, rejection: Rejection): ContentEntry {
  const { type, id, field, value, problem } = rejection;
  const url = state.client.address(id > 0 ? `/wp/v2/${type}/${id}` : `/wp/v2/${type}`);
  state.log.warn({ url, field, value, problem }, 'content: document rejected as invalid');
  return { kind: 'rejection', rejection, url, tried: state.now() };
}

/** Applies entries at once, or through the content log. */
async function commit(state: ApplyState, entries: readonly ContentEntry[], onStored?: () => void): Promise<Applied> {
  const { contentLog } = state;
  if (!contentLog || entries.length === 0) {
    const { summary, refreshed } = applyNow(state, entries, null);
    onStored?.();
    return { ...summary, refreshed: await refreshed };
  }
  // Entries are committed one at a time, so that each preview starts from the state after the previous entry.
  const { expected, refreshed } = await state.withLock('content-log', async () => {
    if (!isAhead(state.store)) {
      const change = preview(state.store, entries);
      return { expected: change, ...(await contentLog.append(entries, change.tags)) };
    }
    const later = withEntriesAhead(state.store, entries);
    const change = preview(state.store, later.entries);
    // The preview began from a content store that differs from the log, so its tags may lack some.
    const tags = change.tags.union(new Set([tag.site]));
    return { expected: change, ...(await contentLog.append(later.entries, tags, later.ahead)) };
  });
  onStored?.();
  return { ...summaryOf(expected), refreshed: await refreshed };
}

/** Finds out what entries would change. */
function preview(store: ContentStore, entries: readonly ContentEntry[]): EntriesChange {
  let change: EntriesChange = { changes: [], tags: new Set(), withdrawnTags: new Set(), rejected: 0 };
  const undo = new Error('undo');
  try {
    store.transaction(() => {
      change = applyEntries(store, entries);
      throw undo;
    });
  } catch (error) {
    if (error !== undo) throw error;
  }
  return change;
}

type Summary = Omit<Applied, 'refreshed'>;

const summaryOf = ({ changes, rejected }: EntriesChange): Summary => ({
  stored: changes.filter(({ status }) => status === 'created' || status === 'changed').length,
  withdrawn: changes.filter(({ status }) => status === 'withdrawn').length,
  rejected,
});

/**
 * Runs the transaction and notifies the listener.
 *
 * @param source the content log's revision and tags for these entries, or an entry that the log doesn't have yet; `null` without a log
 */
function applyNow(
  state: ApplyState,
  entries: readonly ContentEntry[],
  source:
    | { readonly revision: number; readonly tags: ReadonlySet<string> }
    | { readonly ahead: EntryAhead; readonly askedAt: number }
    | null,
): { summary: Summary; refreshed: Promise<readonly string[]> } {
  const { store, counts, notifier } = state;
  let outcome: { summary: Summary; change: ContentChange | null; recordKey: string };
  try {
    outcome = store.transaction(() => {
      const isFromLog = source !== null && 'revision' in source;
      const chosen = isFromLog ? chooseEntries(store, entries) : entries;
      const own = applyEntries(store, chosen);
      if (isFromLog) {
        store.setMeta('log-revision', String(source.revision));
        forgetAhead(store, chosen);
      } else if (source) rememberAhead(store, source.ahead, source.askedAt);
      const applied = isFromLog ? { ...own, tags: own.tags.union(source.tags) } : own;
      const change = applied.tags.size > 0 ? changeOf(applied) : null;
      const recordKey = change ? notifier.record(change) : '';
      return { summary: summaryOf(applied), change, recordKey };
    });
  } catch (error) {
    if (isDamage(error)) store.rebuild(String(error));
    throw error;
  }
  const { summary, change, recordKey } = outcome;
  state.afterCommit?.();
  counts.stored += summary.stored;
  counts.withdrawn += summary.withdrawn;
  counts.rejected += summary.rejected;
  // A caller that finds nothing new may have come just after the change, so it waits until the listener has processed the change.
  return { summary, refreshed: change ? notifier.notify(change, recordKey) : notifier.settled().then(() => []) };
}

async function withdrawalOf(
  state: ApplyState,
  type: DocumentType,
  id: number,
  raw: unknown,
  fetched: Fetched,
): Promise<EntryAhead | null> {
  const entry: ContentEntry =
    raw === null ? { kind: 'withdrawal', type, id, fetched } : await documentEntry(state, type, raw, fetched);
  if (entry.kind !== 'document' && entry.kind !== 'withdrawal') return null;
  // A document that this node has already withdrawn ahead of the log is withdrawn again with the time of the later answer.
  const isPublic = entry.kind === 'document' && !isRestricted(state.store, entry.document);
  const isRenewed = !isPublic && aheadOf(state.store, entry) !== null;
  return isRenewed || preview(state.store, [entry]).changes.some(mustBeWithdrawn) ? entry : null;
}

async function commentWithdrawalOf(
  state: ApplyState,
  id: number,
  raw: unknown,
  fetched: Fetched,
): Promise<EntryAhead | null> {
  const isGone = raw === null || (await state.ingester.comment(raw)).kind === 'withheld';
  return isGone ? { kind: 'comment-withdrawal', id, fetched } : null;
}

/** When the stored version of a document was fetched, also of an author known only from a story; `null` if there is none. */
export function fetchedOf(store: ContentStore, type: DocumentType, id: number): Fetched | null {
  const row = store.prepare('SELECT fetched, fetched_clock FROM documents WHERE id = ? AND type = ?').get(id, type);
  return row ? { at: Number(row.fetched), clock: Number(row.fetched_clock) } : null;
}

async function documentEntry(
  state: ApplyState,
  type: DocumentType,
  raw: unknown,
  fetched: Fetched,
): Promise<ContentEntry> {
  try {
    refuseLongBody(raw);
    const result = await state.ingester.document(type, raw);
    if (result.kind === 'rejected') return rejectionEntry(state, result.rejection);
    if (result.kind === 'withheld') return { kind: 'withdrawal', type, id: result.id, fetched };
    return { kind: 'document', document: result.document, fetched };
  } catch (error) {
    if (error instanceof PoolClosed) throw error;
    const { id: number, modified_gmt } = (raw ?? {}) as { id?: unknown; modified_gmt?: unknown };
    const problem = error instanceof Error ? error.message : String(error);
    const modified = instantOf(modified_gmt) ?? '';
    return rejectionEntry(state, { type, id: Number(number) || 0, field: '(document)', value: '', problem, modified });
  }
}

async function commentEntry(state: ApplyState, raw: unknown, fetched: Fetched): Promise<ContentEntry> {
  const result = await state.ingester.comment(raw);
  if (result.kind === 'rejected') return rejectionEntry(state, result.rejection);
  if (result.kind === 'withheld') return { kind: 'comment-withdrawal', id: result.id, fetched };
  return { kind: 'comment', comment: result.document, fetched };
}

/** Of a withdrawn document that isn't copied yet, a page may be left from an earlier content store. */
const mayBeShown = (change: StoredChange): boolean =>
  mustBeWithdrawn(change) || (change.status === 'absent' && change.tags.size > 0);

const pageTag = ({ type, id, slugs }: StoredChange): string[] => pageTags(type, id, slugs[0]);

/** The change that the listener gets. */
export function changeOf({ changes, tags, withdrawnTags }: Omit<EntriesChange, 'rejected'>): ContentChange {
  return {
    tags,
    paths: [...new Set([...changes.flatMap(ownPaths), ...pathsOfTags(tags)])],
    withdrawn: changes
      .filter(mustBeWithdrawn)
      .flatMap(({ type, slugs }) => (slugs[0] === null ? [] : [{ type, slug: slugs[0] }])),
    withdrawnTags: [...new Set([...changes.filter(mayBeShown).flatMap(pageTag), ...withdrawnTags])],
    published: changes.flatMap(({ status, type, slugs }) =>
      status === 'created' && slugs[1] !== null ? [{ type, slug: slugs[1] }] : [],
    ),
  };
}
