/**
 * Fetches documents that readers request before the first copy has reached them, by slug, at once and within limits. Each slug has one
 * request, however many callers wait; a few requests run at a time, clients take turns, and missing slugs are remembered.
 */

import { type BoundedMap, createBoundedMap } from '../../lib/bounded-map.ts';
import type { DocumentType } from '../../lib/content/model.ts';
import { withTimeLimit } from '../../lib/jobs/tasks.ts';
import { createFairQueue, type FairQueue, QueueFull } from '../../lib/workers/fair-queue.ts';
import { backfillCursor } from '../store/content-store.server.ts';
import { fetchList } from '../wire/fetch.server.ts';
import { canonicalSlug } from '../wire/values.ts';
import type { SyncContext } from './refresh.server.ts';

/**
 * - `found`: the content store has the document now.
 * - `missing`: WordPress has no published document of this slug, or the copy is complete.
 * - `unavailable`: unknown for now; the caller may retry.
 */
export type LookUpAnswer = 'found' | 'missing' | 'unavailable';

export interface LookUp {
  /** @param client network address of the caller; clients take turns */
  find(type: DocumentType, slug: string, client: string): Promise<LookUpAnswer>;
  /** Resolves when no request is in flight any more. */
  close(): Promise<void>;
}

export type LookUpOptions = Pick<SyncContext, 'store' | 'client' | 'applier' | 'log' | 'now'>;

/** WordPress answers a handful of requests a second, and serves the first copy at the same time. */
const queueLimits = { atOnce: 2, perClient: 1, waitingPerClient: 8, waiting: 64 };
/** Longest wait of a caller, milliseconds. The request continues after it. */
const timeoutMs = 8000;
/** How long a missing slug is remembered. If it is published in that time, the webhook delivers it. */
const missingForMs = 60_000;
/** After a failure, no look-up calls WordPress for this long. */
const pauseMs = 2000;
const mostRemembered = 10_000;
/** WordPress takes several slugs separated by commas, and none of its own slugs is longer. */
const slugForm = /^[^,\s/]{1,600}$/u;

const findDocument = 'SELECT 1 FROM documents WHERE type = ? AND slug = ?';

interface LookUpState extends LookUpOptions {
  readonly queue: FairQueue;
  readonly stopping: AbortController;
  /** Requests in flight, by slug. */
  readonly flights: Map<string, Promise<LookUpAnswer>>;
  /** Requests in the queue, by slug and caller. */
  readonly waiting: Map<string, Promise<LookUpAnswer>>;
  readonly underWay: Set<Promise<unknown>>;
  /** Slugs that WordPress doesn't have, with the time until which that is assumed. */
  readonly missing: BoundedMap<number>;
  pausedUntil: number;
}

/** Creates the look-up of a content store. */
export function createLookUp(options: LookUpOptions): LookUp {
  const lookUp: LookUpState = {
    ...options,
    queue: createFairQueue(queueLimits),
    stopping: new AbortController(),
    flights: new Map(),
    waiting: new Map(),
    underWay: new Set(),
    missing: createBoundedMap(mostRemembered),
    pausedUntil: 0,
  };
  return { find: (type, asked, address) => find(lookUp, type, asked, address), close: () => close(lookUp) };
}

const isStored = (lookUp: LookUpState, type: DocumentType, slug: string): boolean =>
  lookUp.store.prepare(findDocument).get(type, slug) !== undefined;

/** Calls WordPress once; the document is in the content store before this resolves. */
async function fetchDocument(lookUp: LookUpState, type: DocumentType, slug: string): Promise<LookUpAnswer> {
  if (isStored(lookUp, type, slug)) return 'found';
  if ((lookUp.missing.get(`${type}:${slug}`) ?? 0) > lookUp.now()) return 'missing';
  if (lookUp.now() < lookUp.pausedUntil) return 'unavailable';
  try {
    const query = { slug, per_page: 1 };
    const { items, answer } = await fetchList(lookUp.client, `/wp/v2/${type}`, query, {
      tries: 1,
      signal: lookUp.stopping.signal,
    });
    if (items.length > 0) {
      // After the write, the pages that show the document are rendered again; the caller doesn't wait for that.
      const stored = Promise.withResolvers<void>();
      const applied = lookUp.applier.documents(type, items, answer.fetched, [], () => stored.resolve());
      track(lookUp, applied);
      await Promise.race([stored.promise, applied]);
    }
    if (isStored(lookUp, type, slug)) return 'found';
    lookUp.missing.set(`${type}:${slug}`, lookUp.now() + missingForMs);
    return 'missing';
  } catch (error) {
    if (!lookUp.stopping.signal.aborted)
      lookUp.log.warn({ type, slug, error: String(error) }, 'content: a document could not be looked up');
    lookUp.pausedUntil = lookUp.now() + pauseMs;
    return 'unavailable';
  }
}

function track(lookUp: LookUpState, work: Promise<unknown>): void {
  const tracked = work.catch(() => {}).finally(() => lookUp.underWay.delete(tracked));
  lookUp.underWay.add(tracked);
}

/** Joins the request for a slug that is in flight, or starts one. */
function fetchOnce(lookUp: LookUpState, type: DocumentType, slug: string): Promise<LookUpAnswer> {
  const key = `${type}:${slug}`;
  const known = lookUp.flights.get(key);
  if (known) return known;
  const flight = fetchDocument(lookUp, type, slug).finally(() => lookUp.flights.delete(key));
  lookUp.flights.set(key, flight);
  return flight;
}

/** The same, in the caller's turn; a caller that waits for a slug already gets the same promise. */
function fetchInTurn(lookUp: LookUpState, type: DocumentType, slug: string, address: string): Promise<LookUpAnswer> {
  const key = `${type}:${slug} ${address}`;
  const known = lookUp.flights.get(`${type}:${slug}`) ?? lookUp.waiting.get(key);
  if (known) return known;
  const answer = lookUp.queue
    .run(address, () => fetchOnce(lookUp, type, slug))
    .catch((error: unknown): LookUpAnswer => {
      if (!(error instanceof QueueFull)) throw error;
      return 'unavailable';
    })
    .finally(() => lookUp.waiting.delete(key));
  lookUp.waiting.set(key, answer);
  return answer;
}

async function find(lookUp: LookUpState, type: DocumentType, asked: string, address: string): Promise<LookUpAnswer> {
  if (backfillCursor(lookUp.store, type).done) return 'missing';
  const slug = canonicalSlug(asked);
  if (!slugForm.test(decodeURIComponent(slug))) return 'missing';
  if ((lookUp.missing.get(`${type}:${slug}`) ?? 0) > lookUp.now()) return 'missing';
  if (lookUp.stopping.signal.aborted || lookUp.now() < lookUp.pausedUntil) return 'unavailable';
  const answer = fetchInTurn(lookUp, type, slug, address);
  track(lookUp, answer);
  return withTimeLimit(timeoutMs, answer, () => 'unavailable');
}

async function close(lookUp: LookUpState): Promise<void> {
  lookUp.stopping.abort();
  await Promise.all([...lookUp.underWay]);
}
