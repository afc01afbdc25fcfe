/**
 * The first copy of the archive: newest first, so that an edition is available early. Each commit includes the cursor, so that the copy
 * continues where it was after `kill -9`.
 */
import { tag } from '../../lib/content/tags.ts';
import { instantAt } from '../../lib/instants.ts';
import {
  type BackfillCursor,
  backfillCursor,
  type CopiedType,
  copiedTypes,
  documentTypes,
  isCopied,
  readCursor,
} from '../store/content-store.server.ts';
import type { ContentEntry } from '../store/entries.server.ts';
import { storedTopStories } from '../store/navigation.server.ts';
import { describeFailure, type Failure } from '../wire/client.server.ts';
import { fetchStatus, requireBody, SyncProblem } from '../wire/fetch.server.ts';
import { fetchPage, type List, type Page, type Position } from '../wire/list-pages.server.ts';
import * as wire from '../wire/schemas.ts';
import { idIn } from '../wire/values.ts';
import type { Applied } from './apply.server.ts';
import { mayBeOneDocument, type Refresh, type SyncContext } from './refresh.server.ts';

/** Numbers of documents in a request, tried in turn while WordPress fails, so that one broken document doesn't block the others. */
const sizes = [50, 20, 5, 1] as const;
const firstSize = 20;
const reportEveryMs = 5000;

export interface Backfill {
  /** Fetches everything that is missing. @throws SyncProblem */
  run(): Promise<void>;
  readonly complete: boolean;
  secondsLeft(): number | null;
}

interface BackfillState extends SyncContext {
  readonly refresh: Refresh;
  readonly onReady: () => Promise<unknown>;
  began: number;
  doneAtStart: number;
  reported: number;
}

/** Creates the back-fill of a content store. */
export function createBackfill(context: SyncContext, refresh: Refresh, onReady: () => Promise<unknown>): Backfill {
  const backfill: BackfillState = { ...context, refresh, onReady, began: 0, doneAtStart: 0, reported: 0 };
  return {
    get complete() {
      return isCopied(context.store);
    },
    secondsLeft: () => secondsLeft(backfill),
    run: () => run(backfill),
  };
}

function totals(backfill: BackfillState): { done: number; total: number } {
  let [done, total] = [0, 0];
  for (const kind of copiedTypes) {
    const cursor = backfillCursor(backfill.store, kind);
    done += cursor.done ? cursor.total : cursor.offset;
    total += cursor.total;
  }
  return { done, total };
}

function secondsLeft(backfill: BackfillState): number | null {
  const { done, total } = totals(backfill);
  const spent = backfill.now() - backfill.began;
  if (backfill.began === 0 || done >= total || done <= backfill.doneAtStart || spent < 200) return null;
  return Math.round((((total - done) / (done - backfill.doneAtStart)) * spent) / 1000);
}

function report(backfill: BackfillState, kind: CopiedType): void {
  if (backfill.now() - backfill.reported < reportEveryMs) return;
  backfill.reported = backfill.now();
  const { done, total } = totals(backfill);
  const left = secondsLeft(backfill);
  const percent = total === 0 ? 0 : Math.floor((done / total) * 100);
  backfill.log.info(
    { type: kind, done, total, percent, secondsLeft: left },
    `content: back-fill ${done} of ${total}${left === null ? '' : `, about ${left} s left`}`,
  );
}

const listOf = (kind: CopiedType, query: List['query'] = {}): List => ({
  path: `/wp/v2/${kind}`,
  orderby: kind === 'comments' ? 'date_gmt' : 'date',
  order: 'desc',
  query,
});

async function requestChunk(
  backfill: BackfillState,
  kind: CopiedType,
  position: Position,
  size: number,
): Promise<Page> {
  // A smaller request follows one that failed on every try.
  const options = { signal: backfill.signal, tries: size < firstSize ? 1 : 4 };
  const page = await fetchPage(backfill, listOf(kind), position, size, options);
  requireBody(page.answer);
  return page;
}

/** Fetches a chunk; where WordPress fails, a smaller one, down to the single broken document. */
async function fetchChunk(backfill: BackfillState, kind: CopiedType, position: Position, most: number): Promise<Page> {
  for (const size of sizes.filter((each) => each <= most)) {
    try {
      return await requestChunk(backfill, kind, position, size);
    } catch (error) {
      const failure = error instanceof SyncProblem ? error.failure : null;
      if (!failure || !mayBeOneDocument(failure)) throw error;
      await fetchStatus(backfill.client, { tries: 1, signal: backfill.signal });
      if (size === 1) return rejectOne(backfill, kind, position, failure);
    }
  }
  throw new SyncProblem(`WordPress fails on every request size for ${kind}`);
}

async function rejectOne(
  backfill: BackfillState,
  kind: CopiedType,
  position: Position,
  failure: Failure,
): Promise<Page> {
  const list = listOf(kind, { _fields: kind === 'comments' ? 'id,date_gmt' : 'id,date,modified_gmt,slug,status' });
  const page = await fetchPage(backfill, list, position, 1, { signal: backfill.signal });
  const seen = wire.summary.safeParse(page.items[0]);
  const id = idIn(page.items[0]);
  const modified = seen.success ? seen.data.modified_gmt : '';
  await backfill.applier.reject({
    type: kind,
    id,
    field: '(document)',
    value: '',
    problem: describeFailure(failure),
    modified,
  });
  return { ...page, items: [] };
}

function storeChunk(
  backfill: BackfillState,
  kind: CopiedType,
  { items, answer, next, ended, total }: Page,
): Promise<Applied> {
  const length = total ?? next.offset;
  const cursor: BackfillCursor = { offset: ended ? length : next.offset, total: length, done: ended, key: next.key };
  const alongside: ContentEntry[] = [{ kind: 'cursor', name: `backfill:${kind}`, value: cursor }];
  // The poll continues from the time of the first response.
  const { clock } = answer.fetched;
  if (kind !== 'comments' && readCursor<unknown>(backfill.store, `poll:${kind}`, null) === null && clock > 0) {
    const high = instantAt(clock * 1000);
    alongside.push({ kind: 'cursor', name: `poll:${kind}`, value: { high } });
  }
  return kind === 'comments'
    ? backfill.applier.comments(items, answer.fetched, alongside)
    : backfill.applier.documents(kind, items, answer.fetched, alongside);
}

/** Fetches one chunk, or all that remain, and fetches the next one while one is being sanitized. */
async function copyType(backfill: BackfillState, kind: CopiedType, onlyFirst: boolean): Promise<void> {
  const { offset, done, key = null } = backfillCursor(backfill.store, kind);
  if (done || backfill.signal.aborted || (onlyFirst && offset > 0)) return;
  let pending = fetchChunk(backfill, kind, { offset, key }, onlyFirst ? firstSize : sizes[0]);
  while (!backfill.signal.aborted) {
    const chunk = await pending;
    const last = onlyFirst || chunk.ended;
    if (!last) {
      pending = fetchChunk(backfill, kind, chunk.next, sizes[0]);
      // The next round awaits it; until then, a failure must not count as unhandled.
      pending.catch(() => {});
    }
    await storeChunk(backfill, kind, chunk);
    report(backfill, kind);
    if (last) return;
  }
}

async function fetchTopStories(backfill: BackfillState): Promise<void> {
  const wanted = storedTopStories(backfill.store)?.ids ?? [];
  const missing = wanted
    .filter((id) => !backfill.store.prepare('SELECT 1 FROM documents WHERE id = ?').get(id))
    .slice(0, 50);
  if (missing.length > 0) await backfill.refresh.documents('articles', missing);
}

async function run(backfill: BackfillState): Promise<void> {
  backfill.began = backfill.now();
  backfill.doneAtStart = totals(backfill).done;
  await backfill.refresh.sections();
  await backfill.refresh.menus();
  for (const type of documentTypes) await copyType(backfill, type, true);
  // A stop has skipped types, and the edition would lack them.
  if (backfill.signal.aborted) return;
  if (backfill.store.getMeta('ready') !== '1') {
    await fetchTopStories(backfill);
    await backfill.applier.write([{ kind: 'meta', key: 'ready', value: '1', tags: [tag.site] }]);
    backfill.log.info(
      { seconds: Math.round((backfill.now() - backfill.began) / 1000) },
      'content: the edition is available; older documents follow',
    );
    await backfill.onReady();
  }
  const copyOrder = [
    'articles',
    'pages',
    'fronts',
    'authors',
    'live-entries',
    'podcasts',
    'video',
    'crosswords',
    'comments',
  ] as const;
  for (const kind of copyOrder) await copyType(backfill, kind, false);
}
