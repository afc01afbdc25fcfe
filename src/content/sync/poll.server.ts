/**
 * Keeps the content store current without webhooks: polls for modified documents, compares the newest by date (a scheduled post appears
 * without being modified), reads which documents WordPress says were withdrawn, and walks slowly over all ids to find documents that were
 * deleted or unpublished without that. It reads only ids and dates, and fetches a document when they differ from the content store's.
 */
import type { DocumentType } from '../../lib/content/model.ts';
import { instantAt } from '../../lib/instants.ts';
import { type CopiedType, copiedTypes, documentTypes, readCursor, walkCursor } from '../store/content-store.server.ts';
import { topStoriesPage } from '../store/entries.server.ts';
import { fetchChanges, SyncProblem } from '../wire/fetch.server.ts';
import { fetchPage, firstPosition, type List, type Page, type Position, pagesOf } from '../wire/list-pages.server.ts';
import * as wire from '../wire/schemas.ts';
import { canonicalSlug, idIn, rejectionOf } from '../wire/values.ts';
import type { Refresh, SyncContext } from './refresh.server.ts';
import { withdrawingEvents } from './withdraw-missed.server.ts';

type Summary = { readonly id: number; readonly modified_gmt: string; readonly slug?: string; readonly status: string };

const summaryFields = 'id,modified,modified_gmt,slug,status';
const pageSize = 100;
/** Seconds by which a poll looks back behind the newest known change: commits and clocks are inexact. */
const overlapSeconds = 120;
const newestCompared = 20;
/** Pages of documents dated later than WordPress's present, as an import may leave them; the walk finds the ones beyond. */
const futurePages = 5;
/** Milliseconds after which a rejected document is fetched again without a change: the cause may have been elsewhere. */
const retryRejectedMs = 3_600_000;
/** Most documents of one page whose absence is verified one by one. */
const mostMissing = 200;

interface PollCursor {
  /** The newest change so far, never later than WordPress's clock at that time. */
  readonly high: string;
  /** Our clock when `high` was found, epoch milliseconds. */
  readonly at?: number;
}

/**
 * The instant, by WordPress's clock, from which a poll looks for changes.
 *
 * The clock that dates documents may be wrong, and may be corrected in either direction, so the newest date is not enough: changes
 * since the last poll are dated after the last poll's time by WordPress's present clock.
 *
 * @param began our clock
 * @param present WordPress's clock
 */
function lookFrom({ high, at }: PollCursor, began: number, present: number): number {
  const lastPoll = present - Math.max(0, began - (at ?? began));
  return Math.min(Date.parse(high), lastPoll) - overlapSeconds * 1000;
}

export interface Poll {
  /** Polls everything modified since the last poll, the newest by date, sections, menus and the newest comments. */
  run(): Promise<void>;
  /**
   * Walks up to `pages` pages of ids of every type that isn't in `finished`, and adds the types that are complete.
   *
   * @returns whether all types are complete
   */
  walk(pages: number, finished: Set<string>): Promise<boolean>;
}

interface PollContext extends SyncContext {
  readonly refresh: Refresh;
  /** When WordPress's list of changes was last read, by our clock; `null` before that. */
  changesAt: number | null;
  /** Deliveries in that list, whose changes are known. */
  known: ReadonlySet<string>;
}

/** Creates the poll of a content store. */
export function createPoll(context: SyncContext, refresh: Refresh): Poll {
  const poll: PollContext = { ...context, refresh, changesAt: null, known: new Set() };
  return { run: () => run(poll), walk: (pages, finished) => walk(poll, pages, finished) };
}

/** A list of the documents of a type, with the few fields that show whether a document has changed. */
const listOf = (type: DocumentType, { orderby, order, query }: Omit<List, 'path'>): List => ({
  path: `/wp/v2/${type}`,
  orderby,
  order,
  query: { _fields: summaryFields, ...query },
});

/** The documents of a page; those that can't be read are recorded as rejected. */
async function summariesOf(poll: PollContext, type: DocumentType, { items }: Page): Promise<Summary[]> {
  const summaries: Summary[] = [];
  for (const raw of items) {
    const parsed = wire.summary.safeParse(raw);
    if (parsed.success) summaries.push(parsed.data);
    else await poll.applier.reject(rejectionOf(type, raw, parsed.error));
  }
  return summaries;
}

/** Whether the content store's version of a document differs from WordPress's. */
function differs(poll: PollContext, type: DocumentType, { id, modified_gmt, slug, status }: Summary): boolean {
  const topStories = type === 'pages' ? topStoriesPage(poll.store) : null;
  if (topStories?.id === id) return topStories.modified !== modified_gmt;
  const rejected = poll.store.prepare('SELECT modified, tried FROM rejected WHERE type = ? AND id = ?').get(type, id);
  if (rejected && Math.abs(poll.now() - Number(rejected.tried)) < retryRejectedMs) {
    // A document that couldn't be fetched has no date of its own.
    const unchanged =
      rejected.modified === ''
        ? Date.parse(modified_gmt) <= Number(rejected.tried)
        : rejected.modified === modified_gmt;
    if (unchanged) return false;
  }
  const row = poll.store
    .prepare('SELECT modified, slug, fetched_clock, partial FROM documents WHERE id = ? AND type = ?')
    .get(id, type);
  if (status !== 'publish') return row !== undefined;
  if (!row || row.partial === 1 || rejected) return true;
  if (row.modified !== modified_gmt || (slug && canonicalSlug(slug) !== row.slug)) return true;
  // A document that was fetched within the second of its modification may have been modified again in that second.
  const [second, at] = [Math.floor(Date.parse(modified_gmt) / 1000), Number(row.fetched_clock)];
  // If the date is far in the future, it can't show that the document was fetched in the second of its modification.
  return at > 0 && at <= second && second - at <= overlapSeconds;
}

const refreshChanged = (poll: PollContext, type: DocumentType, summaries: readonly Summary[]): Promise<void> =>
  poll.refresh.documents(
    type,
    summaries.filter((summary) => differs(poll, type, summary)).map(({ id }) => id),
  );

async function pollModified(poll: PollContext, type: DocumentType): Promise<void> {
  const cursor = readCursor<PollCursor>(poll.store, `poll:${type}`, { high: '1970-01-02T00:00:00Z', at: poll.now() });
  const [began, present] = [poll.now(), poll.client.clock()];
  const after = lookFrom(cursor, began, present);
  const list = listOf(type, { orderby: 'modified', order: 'asc', query: { modified_after: instantAt(after) } });
  let newest = cursor.high;
  let future = 0;
  for await (const page of pagesOf(poll, list, pageSize, { signal: poll.signal })) {
    const summaries = await summariesOf(poll, type, page);
    await refreshChanged(poll, type, summaries);
    for (const { modified_gmt } of summaries) if (modified_gmt > newest) newest = modified_gmt;
    if (summaries[0] && Date.parse(summaries[0].modified_gmt) > present + overlapSeconds * 1000) future++;
    if (future === futurePages || poll.signal.aborted) break;
  }
  if (poll.signal.aborted) return;
  const high = instantAt(Math.min(Date.parse(newest), present));
  const value: PollCursor = { high, at: began };
  await poll.applier.write([{ kind: 'cursor', name: `poll:${type}`, value }]);
}

/** Fetches documents of the content store that a list of WordPress lacks; only WordPress's response for each document withdraws it. */
async function refreshMissing(poll: PollContext, type: CopiedType, ids: readonly number[]): Promise<void> {
  for (const id of ids.slice(0, mostMissing)) await poll.refresh.document(type, id);
}

async function pollNewest(poll: PollContext, type: DocumentType): Promise<void> {
  const list = listOf(type, { orderby: 'date', order: 'desc' });
  const page = await fetchPage(poll, list, firstPosition, newestCompared, { signal: poll.signal });
  const summaries = await summariesOf(poll, type, page);
  await refreshChanged(poll, type, summaries);
  const received = new Set(summaries.map(({ id }) => id));
  const stored = poll.store
    .prepare('SELECT id FROM listing WHERE list = ? ORDER BY date DESC, id DESC LIMIT ?')
    .all(type, newestCompared)
    .map((row) => Number(row.id));
  // Below the last document that both lists contain, their lengths differ and they can't be compared.
  const common = stored.findLastIndex((id) => received.has(id));
  const comparable = page.items.length < newestCompared ? stored : stored.slice(0, common + 1);
  await refreshMissing(
    poll,
    type,
    comparable.filter((id) => !received.has(id)),
  );
}

/**
 * Ends a page of the walk: fetches the stored documents of its range that WordPress's list lacks, and moves the cursor.
 *
 * @param highest id of the page
 * @param storedBetween ids in the content store above the first number and up to the second
 * @returns whether the walk is complete
 */
async function endPage(
  poll: PollContext,
  type: CopiedType,
  received: readonly number[],
  highest: number,
  ended: boolean,
  storedBetween: (above: number, upTo: number) => number[],
): Promise<boolean> {
  const cursor = walkCursor(poll.store, type);
  const last = Math.max(cursor.last, highest);
  const stored = storedBetween(cursor.last, ended ? Number.MAX_SAFE_INTEGER : last);
  const known = new Set(received);
  await refreshMissing(
    poll,
    type,
    stored.filter((id) => !known.has(id)),
  );
  const value = ended ? { offset: 0, last: 0 } : { offset: cursor.offset + pageSize, last };
  await poll.applier.write([{ kind: 'cursor', name: `walk:${type}`, value }]);
  return ended;
}

function walkPosition(poll: PollContext, type: CopiedType): Position {
  const { offset, last } = walkCursor(poll.store, type);
  return { offset, key: last > 0 ? { at: '', id: last } : null };
}

const idsOf = (raws: readonly unknown[]): number[] => raws.map(idIn);

async function walkPage(poll: PollContext, type: DocumentType): Promise<boolean> {
  const list = listOf(type, { orderby: 'id', order: 'asc' });
  const page = await fetchPage(poll, list, walkPosition(poll, type), pageSize, { signal: poll.signal });
  const summaries = await summariesOf(poll, type, page);
  await refreshChanged(poll, type, summaries);
  const received = summaries.map(({ id }) => id);
  return endPage(poll, type, received, Math.max(0, ...idsOf(page.items)), page.ended, (above, upTo) => {
    const stored = poll.store
      .prepare(
        `SELECT id FROM documents WHERE id > ?1 AND id <= ?2 AND type = ?3 AND partial = 0
        UNION SELECT id FROM rejected WHERE id > ?1 AND id <= ?2 AND type = ?3 ORDER BY id`,
      )
      .all(above, upTo, type)
      .map((row) => Number(row.id));
    const topStories = type === 'pages' ? topStoriesPage(poll.store) : null;
    if (topStories && topStories.id > above && topStories.id <= upTo) stored.push(topStories.id);
    return stored;
  });
}

async function pollComments(poll: PollContext): Promise<void> {
  const list = { path: '/wp/v2/comments', orderby: 'date_gmt', order: 'desc' } as const;
  for await (const page of pagesOf(poll, list, pageSize, { signal: poll.signal })) {
    const fresh = page.items.filter((raw) => !hasComment(poll, (raw as { id?: unknown } | null)?.id));
    await poll.applier.comments(fresh, page.answer.fetched);
    if (fresh.length < pageSize || poll.signal.aborted) return;
  }
}

function hasComment(poll: PollContext, id: unknown): boolean {
  if (typeof id !== 'number') return false;
  const query =
    "SELECT 1 FROM comments WHERE id = ? UNION ALL SELECT 1 FROM rejected WHERE type = 'comments' AND id = ?";
  return poll.store.prepare(query).get(id, id) !== undefined;
}

/** Comments have no date of modification, so the walk reads them whole. */
async function walkComments(poll: PollContext): Promise<boolean> {
  const list = { path: '/wp/v2/comments', orderby: 'id', order: 'asc' } as const;
  const page = await fetchPage(poll, list, walkPosition(poll, 'comments'), pageSize, { signal: poll.signal });
  await poll.applier.comments(page.items, page.answer.fetched);
  const received = idsOf(page.items);
  const sql = `SELECT id FROM comments WHERE id > ?1 AND id <= ?2
    UNION SELECT id FROM rejected WHERE id > ?1 AND id <= ?2 AND type = 'comments' ORDER BY id`;
  return endPage(poll, 'comments', received, Math.max(0, ...received), page.ended, (above, upTo) =>
    poll.store
      .prepare(sql)
      .all(above, upTo)
      .map((row) => Number(row.id)),
  );
}

/**
 * Fetches what WordPress's list of changes says was withdrawn, and the comments in it: no other list names them, and the walk needs an hour
 * for a large archive. The list has every delivery that the site hasn't confirmed.
 */
async function pollWithdrawn(poll: PollContext): Promise<void> {
  if (!poll.client.signsIn) return;
  const began = poll.now();
  const seconds = Math.abs(began - (poll.changesAt ?? began)) / 1000 + overlapSeconds;
  const changes = await fetchChanges(poll.client, seconds, { tries: 2, signal: poll.signal }).catch(
    (error: unknown) => {
      if (!(error instanceof SyncProblem)) throw error;
      // Older plugins have no such list, and credentials that may not read it are reported elsewhere. The walk finds the same.
      if (![401, 403, 404].includes(error.failure?.status ?? 0) && !poll.signal.aborted)
        poll.log.warn({ problem: error.message }, "content: WordPress's list of changes couldn't be read");
      return null;
    },
  );
  if (!changes) return;
  const fresh = changes.filter(({ delivery }) => !poll.known.has(delivery));
  for (const type of documentTypes) {
    const gone = fresh.filter((each) => each.type === type && withdrawingEvents.has(each.event)).map(({ id }) => id);
    await poll.refresh.documents(
      type,
      [...new Set(gone)].filter((id) => hasDocument(poll, type, id)),
    );
  }
  const comments = fresh.filter(({ type, id }) => type === 'comments' && hasComment(poll, id)).map(({ id }) => id);
  for (const id of new Set(comments)) await poll.refresh.document('comments', id);
  poll.known = new Set(changes.map(({ delivery }) => delivery));
  poll.changesAt = began;
}

const hasDocument = (poll: PollContext, type: DocumentType, id: number): boolean =>
  poll.store.prepare('SELECT 1 FROM documents WHERE id = ? AND type = ?').get(id, type) !== undefined;

async function run(poll: PollContext): Promise<void> {
  await poll.refresh.alert();
  await poll.refresh.sections();
  await poll.refresh.menus();
  await pollWithdrawn(poll);
  for (const type of documentTypes) {
    await pollModified(poll, type);
    if (type !== 'authors' && type !== 'pages' && type !== 'fronts') await pollNewest(poll, type);
  }
  await pollComments(poll);
}

async function walk(poll: PollContext, pages: number, finished: Set<string>): Promise<boolean> {
  for (const kind of copiedTypes) {
    for (let page = 0; page < pages && !finished.has(kind) && !poll.signal.aborted; page++) {
      const ended = await (kind === 'comments' ? walkComments(poll) : walkPage(poll, kind));
      if (ended) finished.add(kind);
    }
  }
  return finished.size === copiedTypes.length;
}
