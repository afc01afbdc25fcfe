/**
 * The cluster: processes that share a PostgreSQL and do each piece of work only once. One of them has the lease and syncs from
 * WordPress into the content log; all follow the log. A webhook may reach any node, which passes it on to the holder and answers
 * when its own pages are fresh. See docs/decisions/0031-cluster.md.
 */
import type { Content, FollowedStore } from '../../content/service.ts';
import type { ContentEntry } from '../../content/store/entries.server.ts';
import { type BoundedMap, createBoundedMap } from '../../lib/bounded-map.ts';
import { tag } from '../../lib/content/tags.ts';
import { type RepeatedTask, repeat } from '../../lib/jobs/tasks.ts';
import { inSpan } from '../../lib/tracing.ts';
import type { ChangeFeed } from '../change-feed.ts';
import type { Message } from './channel.ts';
import { applyMs, type ClusterLog, tagEntry } from './cluster-log.ts';
import { type LogBatch, tagKind } from './content-log.ts';
import { type MissedWithdrawals, wantedContent, watchForMissedWithdrawals } from './missed-withdrawals.ts';
import { type ClusterNode, createClusterNode, type NodeOptions, type NodeStats } from './node.ts';
import { type ArrivedChange, createPurges, type Purges } from './purges.ts';
import { type AssetStore, createPostgresAssets, createSharedAssets, type SharedAssets } from './shared-assets.ts';
import { createSharedPages, type SharedPages, type SharedPagesStats } from './shared-pages.ts';
import { createWebhooks, type Webhooks, type WebhooksStats } from './webhooks.ts';

export interface ClusterOptions extends Pick<NodeOptions, 'listenUrl' | 'log' | 'workersUpdated' | 'beatMs'> {
  readonly clusterLog: ClusterLog;
  readonly content: Pick<Content, 'receive' | 'verify' | 'pollNow' | 'followed' | 'withdrawMissed' | 'refresh'>;
  /** Gets changed tags, such as new prices, while the other nodes can't be reached. */
  readonly changes: Pick<ChangeFeed, 'publish'>;
  /** Where the nodes share hashed files (default PostgreSQL). */
  readonly assetStore?: AssetStore | undefined;
  /** Called when this node begins to sync for the cluster, and when a node's readers want a newer value, see `SharedValues`. */
  readonly onLead?: () => void;
  readonly onWanted?: (key: string) => void;
  /** See `WebhooksOptions`. */
  readonly webhookMs?: number;
}

export interface Cluster {
  /** Receives a webhook on any node. */
  readonly receive: Content['receive'];
  readonly node: ClusterNode;
  /**
   * Publishes changed tags to all nodes.
   *
   * @param by `holder`: every node notices this change, but only the lease's holder publishes it
   */
  publish(tags: ReadonlySet<string>, by: 'holder' | 'any'): void;
  /** Call it when a change of the content has reached this node. */
  arrived(): ArrivedChange;
  /** See `Purges.repeatWith`. */
  readonly repeatPurgesWith: Purges['repeatWith'];
  /** Pages of this build that the nodes share. */
  shareOf(build: string): SharedPages;
  /** Hashed files that the nodes share. @param source folder of the running build's */
  shareAssets(source: string): SharedAssets;
  start(): void;
  stop(): Promise<void>;
  stats(): ClusterStats;
}

export interface ClusterStats extends NodeStats, WebhooksStats {
  readonly pages: SharedPagesStats;
}

interface State extends ClusterOptions {
  readonly node: ClusterNode;
  readonly webhooks: Webhooks;
  readonly shares: Map<string, SharedPages>;
  /** Tags whose change this node has found, and the holder hasn't published yet. */
  readonly unpublished: Set<string>;
  /** When the log last had a tag, by the monotonic clock. */
  readonly publishedAt: BoundedMap<number>;
  readonly purges: Purges;
  readonly maintenance: RepeatedTask[];
  /** Makes this node the one that syncs, while it has the lease. */
  takingOver: RepeatedTask | null;
  missed: MissedWithdrawals | null;
}

/** Milliseconds between two offers of the files, and between two deletions of old pages. */
const offerEveryMs = 600_000;
const pruneEveryMs = 3_600_000;
/** Milliseconds between two tries of a holder that doesn't sync yet. */
const takeOverEveryMs = 1000;
/** Milliseconds within which different nodes notice the same change. */
const foundWithinMs = 30_000;
/** Most tags for which the time of publication is stored. */
const mostPublished = 1000;

export function createCluster(options: ClusterOptions): Cluster {
  const { clusterLog, listenUrl, content, changes, log, workersUpdated, beatMs } = options;
  const { id, contentLog, version, db } = clusterLog;
  const node = createClusterNode({
    ...clusterLog,
    listenUrl,
    log,
    workersUpdated,
    beatMs,
    follower: followerOf(clusterLog, content.followed, (tags) => notePublished(state, tags)),
    onMessage: (message) => handle(state, message),
    onConnect: () => state.webhooks.passOnAgain(),
    onLease: (epoch) => void leaseChanged(state, epoch),
  });
  const purges = createPurges(node, contentLog);
  const state: State = {
    ...options,
    node,
    webhooks: createWebhooks({
      ...options,
      node,
      takeOver: () => takeOver(state),
      onTaken: () => state.missed?.webhookCame(),
    }),
    purges,
    shares: new Map(),
    unpublished: new Set(),
    publishedAt: createBoundedMap(mostPublished),
    maintenance: [],
    takingOver: null,
    missed: null,
  };
  return {
    receive: state.webhooks.receive,
    node,
    publish(tags, by) {
      if (by === 'holder' && node.epoch === null) return publishLater(state, tags);
      contentLog.append([...tags].map(tagEntry), null).catch((error: Error) => {
        log.warn({ problem: error.message }, "A change couldn't be sent to the other nodes; only this node shows it");
        if (by === 'holder') publishLater(state, tags);
        return changes.publish({ tags, withdrawn: [], isOwn: true });
      });
    },
    arrived: () => purges.arrived(content.followed.revision()),
    repeatPurgesWith: purges.repeatWith,
    shareOf(build) {
      const revision = content.followed.revision;
      const isAhead = (): boolean => content.followed.ahead().length > 0;
      const pages = createSharedPages({ db, version, build, node: id, log, revision, isAhead, everything: tag.site });
      state.shares.set(build, pages);
      return pages;
    },
    shareAssets(source) {
      const store = options.assetStore ?? createPostgresAssets({ db });
      const assets = createSharedAssets({ store, source, log });
      state.maintenance.push(repeat(offerEveryMs, assets.offer));
      return assets;
    },
    start: () => start(state),
    async stop() {
      for (const task of state.maintenance) await task.stop();
      await state.missed?.stop();
      clusterLog.close();
      return node.stop();
    },
    stats: () => ({ ...node.stats(), ...state.webhooks.stats(), pages: sumOf([...state.shares.values()]) }),
  };
}

/** Starts the node and its repeated tasks. */
function start(state: State): void {
  const { node, content, log, beatMs = takeOverEveryMs } = state;
  state.takingOver = repeat(
    beatMs,
    async () => {
      await publishPending(state);
      await takeOver(state);
    },
    (error) => log.warn({ problem: (error as Error).message }, "This node can't sync for the cluster yet; retrying"),
  );
  node.start();
  const everyMs = 2 * beatMs;
  state.missed = watchForMissedWithdrawals({ node, content, log, everyMs });
  state.maintenance.push(
    state.takingOver,
    repeat(
      pruneEveryMs,
      () => prune(state),
      (error) => log.warn({ err: error }, 'Old pages of the cluster remain'),
    ),
  );
}

/** Deletes the pages and the content of builds that no node runs any more; once for the cluster. */
async function prune({ node, clusterLog, shares }: State): Promise<void> {
  if (node.epoch === null) return;
  await clusterLog.contentLog.prune();
  for (const pages of shares.values()) await pages.prune();
}

function sumOf(shares: readonly SharedPages[]): SharedPagesStats {
  const all = shares.map((share) => share.stats());
  const sum = (name: keyof SharedPagesStats): number => all.reduce((total, each) => total + each[name], 0);
  return { given: sum('given'), taken: sum('taken'), alone: sum('alone') };
}

/** The content store of this node as the log's follower. */
function followerOf(clusterLog: ClusterLog, followed: FollowedStore, onTags: (tags: ReadonlySet<string>) => void) {
  return {
    revision: followed.revision,
    followLog: followed.followLog,
    apply({ revision, entries }: LogBatch): Promise<void> {
      const content = entries.flatMap(({ kind, payload }) =>
        kind === tagKind || payload === null ? [] : [JSON.parse(payload) as ContentEntry],
      );
      const tags = new Set(entries.flatMap(({ kind, id }) => (kind === tagKind ? [id] : [])));
      const attributes = { 'broadsheet.revision': revision, 'broadsheet.entries': entries.length };
      // Outside of the span: a failure to write is reported at once.
      const refreshed = followed.apply(content, revision, tags);
      clusterLog.applied(revision, refreshed);
      onTags(tags);
      return inSpan('content log apply', attributes, () => refreshed.then(() => {}));
    },
  };
}

/**
 * Reads the log to its end as the new holder, then allows the sync to run. A holder with an outdated content store would append wrong
 * tags, and its fetches would be dated before those in the log.
 */
async function takeOver(state: State): Promise<boolean> {
  const { node, content, clusterLog, purges } = state;
  const { epoch } = node;
  if (epoch === null || clusterLog.leads()) return epoch !== null;
  // Since the lease has its new epoch, no other node can append entries.
  const unpurged = await clusterLog.contentLog.unpurged();
  if (!(await node.waitForRevision(unpurged.revision, applyMs))) return false;
  if (node.epoch !== epoch) return false;
  if (clusterLog.leads()) return true;
  clusterLog.lead(epoch, content.followed.fetchTime());
  void purges.repeat(unpurged);
  content.pollNow();
  state.onLead?.();
  return true;
}

async function leaseChanged(state: State, epoch: number | null): Promise<void> {
  const { node, log } = state;
  if (epoch === null) {
    log.warn({}, 'This node no longer syncs with WordPress for the cluster');
    return;
  }
  state.purges.begin(epoch);
  void state.takingOver?.runNow();
  await node.send({ lease: node.id }).catch(() => {});
}

function notePublished({ unpublished, publishedAt: at }: State, tags: ReadonlySet<string>): void {
  for (const each of tags) {
    unpublished.delete(each);
    at.set(each, performance.now());
  }
}

function publishLater({ unpublished, publishedAt: at }: State, tags: ReadonlySet<string>): void {
  // The holder may have published, a moment ago, a change that this node notices only now.
  const since = performance.now() - foundWithinMs;
  for (const each of tags) if ((at.get(each) ?? Number.NEGATIVE_INFINITY) < since) unpublished.add(each);
}

/** Publishes, as the holder, changes that the previous holder or this node may have been unable to publish. */
async function publishPending({ node, clusterLog, unpublished }: State): Promise<void> {
  if (node.epoch === null || unpublished.size === 0) return;
  const tags = [...unpublished];
  await clusterLog.contentLog.append(tags.map(tagEntry), null);
  for (const each of tags) unpublished.delete(each);
}

function handle(state: State, message: Message): void {
  const { page, build, wanted } = message;
  if (wanted !== undefined && state.clusterLog.leads()) answerWanted(state, wanted);
  if (page !== undefined && build !== undefined) state.shares.get(build)?.announced(page);
  state.webhooks.handle(message);
}

function answerWanted({ content, onWanted, log }: State, wanted: string): void {
  const named = wantedContent(wanted);
  if (!named) return void onWanted?.(wanted);
  content.refresh(named.type, named.id).catch((error: Error) => {
    log.warn({ wanted, problem: error.message }, "What a node withdrew couldn't be fetched; retrying");
  });
}
