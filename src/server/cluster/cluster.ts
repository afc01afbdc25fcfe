/**
 * The cluster: processes that share a PostgreSQL and do each piece of work only once. One of them has the lease and syncs from
 * WordPress into the content log; all follow the log. A webhook may reach any node, which passes it on to the holder and answers
 * when its own pages are fresh. See docs/decisions/0031-cluster.md.
 */
import type { Content, FollowedStore, WebhookAnswer, WebhookRequest } from '../../content/service.ts';
import type { ContentEntry } from '../../content/store/entries.server.ts';
import { type BoundedMap, createBoundedMap } from '../../lib/bounded-map.ts';
import { tag } from '../../lib/content/tags.ts';
import { type RepeatedTask, repeat, withTimeLimit } from '../../lib/jobs/tasks.ts';
import { inSpan } from '../../lib/tracing.ts';
import type { ChangeFeed } from '../change-feed.ts';
import { type AnswerMessage, bodyOf, longestMessage, type Message, type WebhookMessage, webhookOf } from './channel.ts';
import { applyMs, type ClusterLog, tagEntry } from './cluster-log.ts';
import { type LogBatch, tagKind } from './content-log.ts';
import { type MissedWithdrawals, wantedContent, watchForMissedWithdrawals } from './missed-withdrawals.ts';
import { type ClusterNode, createClusterNode, type NodeOptions, type NodeStats } from './node.ts';
import { type ArrivedChange, createPurges, type Purges, withdrawMs } from './purges.ts';
import { type AssetStore, createPostgresAssets, createSharedAssets, type SharedAssets } from './shared-assets.ts';
import { createSharedPages, type SharedPages, type SharedPagesStats } from './shared-pages.ts';

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
  /** Milliseconds in which a webhook has to be answered (default 9000: the plugin waits ten seconds). */
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

export interface ClusterStats extends NodeStats {
  /** Webhooks passed on to the node that syncs, and webhooks received from other nodes. */
  readonly passedOn: number;
  readonly received: number;
  readonly pages: SharedPagesStats;
}

interface State extends ClusterOptions {
  readonly webhookMs: number;
  readonly node: ClusterNode;
  /** Webhooks that wait for the holder's answer, by number. */
  readonly unanswered: Map<number, { readonly message: WebhookMessage; answer(answer: AnswerMessage | null): void }>;
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
  readonly counts: { passedOn: number; received: number };
  webhooks: number;
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
    // Answers, or the message about a new holder, may have been missed while disconnected.
    onConnect: () => passOnUnanswered(state),
    onLease: (epoch) => void leaseChanged(state, epoch),
  });
  const purges = createPurges(node, contentLog);
  const state: State = {
    ...options,
    webhookMs: options.webhookMs ?? 9000,
    node,
    purges,
    unanswered: new Map(),
    shares: new Map(),
    unpublished: new Set(),
    publishedAt: createBoundedMap(mostPublished),
    maintenance: [],
    takingOver: null,
    missed: null,
    counts: { passedOn: 0, received: 0 },
    webhooks: 0,
  };
  return {
    receive: (request, onAccepted) => receive(state, request, onAccepted),
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
    stats: () => ({ ...node.stats(), ...state.counts, pages: sumOf([...state.shares.values()]) }),
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
  const { page, build, webhook, answer, lease, wanted } = message;
  if (wanted !== undefined && state.clusterLog.leads()) answerWanted(state, wanted);
  if (page !== undefined && build !== undefined) state.shares.get(build)?.announced(page);
  const { version } = state.clusterLog;
  if (webhook && state.node.epoch !== null && (webhook.version ?? version) === version) {
    // A stopping node has closed its content store: the node that received the webhook asks the next holder, or WordPress sends the webhook
    // again.
    answerWebhook(state, webhook).catch((error: unknown) =>
      state.log.warn({ err: error }, "A webhook of another node couldn't be answered"),
    );
  }
  if (answer?.to === state.node.id) receiveAnswer(state, answer);
  // The previous holder may not have received these.
  if (lease !== undefined) passOnUnanswered(state);
}

/** An answer from another version says nothing about the nodes of this version. */
function receiveAnswer({ unanswered }: State, answer: AnswerMessage): void {
  const asked = unanswered.get(answer.id);
  if (asked && (answer.version ?? asked.message.version) === asked.message.version) asked.answer(answer);
}

function answerWanted({ content, onWanted, log }: State, wanted: string): void {
  const named = wantedContent(wanted);
  if (!named) return void onWanted?.(wanted);
  content.refresh(named.type, named.id).catch((error: Error) => {
    log.warn({ wanted, problem: error.message }, "What a node withdrew couldn't be fetched; retrying");
  });
}

const unavailable = (error: string): WebhookAnswer => ({
  status: 503,
  headers: { 'Retry-After': '5' },
  body: { ok: false, reason: 'cluster', error },
});

async function receive(state: State, request: WebhookRequest, onTaken?: () => void): Promise<WebhookAnswer> {
  const refused = state.content.verify(request);
  if (refused) return refused;
  const [answer, failure] = await Promise.all([receiveForOwn(state, request, onTaken), passOnToOthers(state, request)]);
  const isHandled = answer.status === 200 || answer.status === 409;
  return isHandled && failure ? failure : answer;
}

/** Handles a webhook for the nodes whose content stores have this node's version. */
function receiveForOwn(state: State, request: WebhookRequest, onTaken?: () => void): Promise<WebhookAnswer> {
  const taken = (): void => {
    state.missed?.webhookCame();
    onTaken?.();
  };
  if (state.node.epoch !== null) return receiveAsHolder(state, request, taken);
  taken();
  return passOnAndWait(state, request, state.clusterLog.version);
}

/**
 * Passes a webhook on to the nodes of other versions: during a release each version of the content store has its own log and holder.
 *
 * @returns the answer of a holder that failed to handle it; refusals by another build are ignored
 */
async function passOnToOthers(state: State, request: WebhookRequest): Promise<WebhookAnswer | undefined> {
  // Without PostgreSQL this node responds with 503 anyway.
  const versions = await state.node.otherVersions().catch(() => []);
  const answers = await Promise.all(versions.map((version) => passOnAndWait(state, request, version)));
  return answers.find(({ status }) => status >= 500);
}

/** Handles a webhook on the node that syncs; withdrawn content is gone on every node before it is answered. */
async function receiveAsHolder(
  state: State,
  request: WebhookRequest,
  onAccepted?: () => void,
  isTimeChecked?: boolean,
): Promise<WebhookAnswer> {
  if (!state.clusterLog.leads()) {
    if (!(await withTimeLimit(state.webhookMs / 2, takeOver(state), () => false).catch(() => false)))
      return unavailable("the node that syncs with WordPress isn't ready yet; send it again");
  }
  const answer = await state.content.receive(request, onAccepted, isTimeChecked);
  // A duplicate (409) may come while the first one still waits for the other nodes.
  if (answer.status !== 200 && answer.status !== 409) return answer;
  const revision = state.content.followed.revision();
  const everywhere = await state.node.waitForAllNodes('applied', revision, withdrawMs);
  if (!everywhere)
    state.log.warn({ revision }, "Some nodes don't show the latest change yet; they aren't ready until they do");
  return answer;
}

function messageOf(state: State, { headers, rawBody }: WebhookRequest, version: number): WebhookMessage | null {
  // Only the headers that the verification needs: others may identify the sender.
  const signed = Object.entries(headers).flatMap(([name, value]) =>
    name.startsWith('x-newsroom-') && typeof value === 'string' ? [[name, value] as const] : [],
  );
  const message = { from: state.node.id, id: ++state.webhooks, headers: Object.fromEntries(signed), version };
  return webhookOf(message, Buffer.from(rawBody));
}

/** Passes a webhook on; if that is impossible, it is answered at once. */
const passOn = (state: State, webhook: WebhookMessage): void =>
  void state.node.send({ webhook }).catch((error: Error) => {
    state.log.warn({ problem: error.message }, "A webhook couldn't be passed on; WordPress will send it again");
    state.unanswered.get(webhook.id)?.answer(null);
  });

/** Passes unanswered webhooks on again; the holder handles each delivery only once. */
function passOnUnanswered(state: State): void {
  for (const { message } of state.unanswered.values()) passOn(state, message);
}

/** Passes a webhook on to the node that syncs into the content log of a version; a new holder gets it again. */
async function passOnAndWait(state: State, request: WebhookRequest, version: number): Promise<WebhookAnswer> {
  const { unanswered, node, webhookMs, clusterLog, counts } = state;
  const message = messageOf(state, request, version);
  if (!message) return unavailable('the webhook is too long to be passed on');
  counts.passedOn++;
  const { promise, resolve } = Promise.withResolvers<AnswerMessage | null>();
  unanswered.set(message.id, { message, answer: resolve });
  passOn(state, message);
  const answer = await withTimeLimit(webhookMs, promise, () => null);
  unanswered.delete(message.id);
  if (!answer) return unavailable("the node that syncs with WordPress didn't answer; send it again");
  if (answer.status === 200 && version === clusterLog.version) await node.waitForRevision(answer.revision, 2000);
  const { status, headers, body } = answer;
  return { status, body, ...(headers ? { headers } : {}) };
}

/** Handles a webhook that another node has received. */
async function answerWebhook(state: State, { from, id, headers, ...packed }: WebhookMessage): Promise<void> {
  state.counts.received++;
  // The node that received it has checked its time; this node's clock may be another.
  const request: WebhookRequest = { headers, rawBody: bodyOf(packed) };
  const { status, ...rest } = await inSpan('webhook passed on', {}, async (span) => {
    const answer = await receiveAsHolder(state, request, undefined, true);
    span.set({ 'broadsheet.webhook.status': answer.status });
    return answer;
  });
  const revision = state.content.followed.revision();
  const answer: AnswerMessage = {
    to: from,
    id,
    // The previous holder may have handled it, and only its answer was lost.
    status: status === 409 ? 200 : status,
    body: shortened(rest.body as Record<string, unknown>),
    revision,
    version: state.clusterLog.version,
    ...(rest.headers ? { headers: { ...rest.headers } } : {}),
  };
  await state.node.send({ answer }).catch(() => {});
}

/** The body without the list of fresh pages where it is too long for a message. */
const shortened = (body: Record<string, unknown>): Record<string, unknown> =>
  JSON.stringify(body).length < longestMessage - 1000 ? body : { ...body, refreshed: [] };
