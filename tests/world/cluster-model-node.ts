/** A node of the model of the cluster (cluster-model.ts). */
import type { ModelDatabase, Page, Shown, Stored, Version } from './cluster-model-database.ts';

/** A render in progress (run-job.ts): its page is taken from another node, or claimed by this one. */
export interface Render {
  readonly page: Page;
  readonly revision: number;
  readonly shown: Shown;
  readonly claimed: boolean;
  overtaken: boolean;
}

/** A node's append: the document is fetched, then the statement is sent, then it runs. */
export interface Commit {
  readonly node: ModelNode;
  /** In the order of the append; a later entry of the same document replaces an earlier one. */
  readonly entries: readonly (readonly [number, Stored])[];
  readonly tags: ReadonlySet<string>;
  readonly epoch: number;
}

export interface ModelNode {
  readonly name: string;
  /** How wrong its clock is. */
  readonly skew: number;
  state: 'up' | 'asleep' | 'dead';
  cut: boolean;
  /** Its disk is full: it can't write its content store. */
  full: boolean;
  session: number | null;
  hasLock: boolean;
  epoch: number | null;
  /** cluster.ts: the epoch for which this node has read the log to its end, and the time of its first fetch afterward. */
  lead: { readonly epoch: number; readonly since: number } | null;
  lastAt: number;
  revision: number;
  store: Map<number, Stored>;
  /** Documents that it has withdrawn ahead of the log (ahead-of-log.server.ts), with the time of its request. */
  ahead: Map<number, Stored & { readonly askedAt: number; readonly isDoubtful: boolean }>;
  /** The withdrawals of stored documents that WordPress has reported to it, by their number. */
  told: Map<number, number>;
  /** Pages that readers get; `stale` ones are to be rendered again. */
  cache: Map<Page, { shown: Shown; stale: boolean }>;
  reading: { began: number; batch: ReturnType<ModelDatabase['read']> } | null;
  /** Time of the last read that found nothing new, and of the last one that PostgreSQL knows about. */
  caughtUp: number;
  /** Time of the last answer to a read. */
  readAt: number;
  connectedAt: number;
  /** Time of the last report, and since when PostgreSQL has known this node without a break. */
  reportedAt: number;
  listedSince: number;
  fetched: { id: number; stored: Stored } | null;
  sent: Commit | null;
  /** Revision of its last append; until that revision has been read back, it appends nothing more. */
  appended: number;
  renders: Render[];
}

const never = Number.NEGATIVE_INFINITY;

/** A node without content. */
export function newNode(name: string, skew: number): ModelNode {
  return {
    name,
    skew,
    state: 'up',
    cut: false,
    full: false,
    session: null,
    hasLock: false,
    epoch: null,
    lead: null,
    lastAt: 0,
    revision: 0,
    store: new Map(),
    ahead: new Map(),
    told: new Map(),
    cache: new Map(),
    reading: null,
    caughtUp: never,
    readAt: never,
    connectedAt: never,
    reportedAt: never,
    listedSince: never,
    fetched: null,
    sent: null,
    appended: 0,
    renders: [],
  };
}

/** Number of the version that a page shows; 0: none. */
export const visible = (version: Version | undefined): number =>
  version === undefined || version.gone ? 0 : version.number;

/** write.server.ts, `storeDocument` and `withdrawDocument`. @returns tags that change */
export function put(store: Map<number, Stored>, id: number, given: Stored): ReadonlySet<string> {
  const before = store.get(id);
  const isNewer = before && !before.gone && !given.gone && given.number > before.number;
  if (before && before.at > given.at && !isNewer) return new Set();
  store.set(id, given);
  return visible(before) === visible(given) ? new Set() : new Set([`article:${id}`, 'latest']);
}
