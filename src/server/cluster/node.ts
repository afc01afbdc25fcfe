/**
 * This process as a node of a cluster on PostgreSQL. It listens on one connection of its own, which also holds the lease while this
 * node is the one that syncs with WordPress; it follows the content log into its content store; and it reports its progress, so that
 * the writer knows when every node shows a change.
 */
import { setTimeout as timer } from 'node:timers/promises';
import { sql } from 'kysely';
import { type Conditions, createConditions } from '../../lib/jobs/conditions.ts';
import { oneAtATime, repeat, withTimeLimit } from '../../lib/jobs/tasks.ts';
import type { Logger } from '../../lib/logging.ts';
import { type Listening, listen } from '../database/listen.ts';
import { channel, databaseNow, type Message, messageSchema } from './channel.ts';
import type { ClusterLog } from './cluster-log.ts';
import type { LogBatch } from './content-log.ts';

/** The content store of this node. */
export interface Follower {
  /** Revision of the content log that it has applied. */
  revision(): number;
  /** Makes the store follow this log: it is emptied, unless it already does. */
  followLog(log: string): void;
  /**
   * Writes a batch. Withdrawn content is gone when this returns.
   *
   * @returns resolves when the pages that show the batch are fresh
   * @throws Error at once, when the batch can't be written
   */
  apply(batch: LogBatch): Promise<void>;
}

export interface NodeOptions extends Pick<ClusterLog, 'id' | 'version' | 'db' | 'contentLog' | 'lease' | 'goneMs'> {
  /** Address for the listening connection: PostgreSQL itself, or a pooler that gives each client a session. */
  readonly listenUrl: string;
  readonly follower: Follower;
  readonly log: Logger;
  /** Resolves when no other process of this node serves replaced or removed pages (default: there is no other process). */
  readonly workersUpdated?: (() => Promise<void>) | undefined;
  readonly onMessage?: (message: Message) => void;
  /** Called each time that messages begin to arrive; those sent before were missed. */
  readonly onConnect?: () => void;
  /** Called when this node has got the lease, with its epoch, or lost it. */
  readonly onLease?: (epoch: number | null) => void;
  /** Milliseconds between two renewals of the lease, which are also looks into the log (default 1000). */
  readonly beatMs?: number;
}

export interface ClusterNode {
  readonly id: string;
  /** The epoch while this node syncs with WordPress, else `null`. */
  readonly epoch: number | null;
  /** Whether changes reach this node at present. */
  readonly isConnected: boolean;
  /**
   * Milliseconds since this node last saw the end of the log, infinite if it never has; `null` while it can read the log, even if it is
   * behind.
   */
  readonly cutOffMs: number | null;
  /** Whether this node can read the log but hasn't seen its end lately, as after a start, or while its own disk is full. */
  readonly isBehind: boolean;
  /** Reads the log to its end, for this long at most. */
  catchUp(ms: number): Promise<void>;
  start(): void;
  stop(): Promise<void>;
  /** Sends a message to every node, this one included. @throws DatabaseUnavailable */
  send(message: Message): Promise<void>;
  /** @returns whether this node has the content of a revision within a time */
  waitForRevision(revision: number, ms: number): Promise<boolean>;
  /**
   * @param what `applied`: withdrawn content is gone; `fresh`: the new pages are there
   * @returns whether every node has reached this state within a time; `false` also while PostgreSQL is down
   */
  waitForAllNodes(what: 'applied' | 'fresh', revision: number, ms: number): Promise<boolean>;
  /** Versions of the content log that other nodes have, as during a release. */
  otherVersions(): Promise<readonly number[]>;
  stats(): NodeStats;
}

export interface NodeStats {
  /** Version of the content log. */
  readonly version: number;
  readonly leads: boolean;
  readonly isConnected: boolean;
  readonly revision: number;
  /** Milliseconds since this node last saw the end of the log. */
  readonly lagMs: number;
}

interface State extends NodeOptions {
  readonly beatMs: number;
  readonly stopping: AbortController;
  /** Checked when this node has applied a batch. */
  readonly progress: Conditions;
  listening: Listening | null;
  /** Reads the log to its end; a call during a read causes one more read. */
  follow(): Promise<void>;
  /** Revisions whose pages are being rendered. */
  readonly rendering: Set<number>;
  /** Reports this node's progress; a call during a report causes one more. */
  report(): Promise<void>;
  readonly createdAt: number;
  /** Monotonic times at which the last read of the log ended, and the last one that reached its end. */
  readAt: number;
  endReadAt: number;
  /** Monotonic time at which this node was last at the end of the log: when that read began. */
  caughtUpAt: number;
  /** `caughtUpAt` as this node last reported it to PostgreSQL, by which `waitForAllNodes` finds the nodes to wait for. */
  connectedAt: number;
  /** Monotonic times: of the last report, and of the moment since which `waitForAllNodes` has continuously waited for this node. */
  reportedAt: number;
  listedSince: number;
  problem: string | null;
}

/** Milliseconds between two looks at the other nodes. */
const checkEveryMs = 20;

export function createClusterNode(options: NodeOptions): ClusterNode {
  const { id, goneMs } = options;
  const state: State = {
    ...options,
    beatMs: options.beatMs ?? 1000,
    stopping: new AbortController(),
    progress: createConditions(),
    listening: null,
    follow: () => beat.runNow(),
    rendering: new Set(),
    report: oneAtATime(() => writeReport(state)),
    createdAt: performance.now(),
    readAt: Number.NEGATIVE_INFINITY,
    endReadAt: Number.NEGATIVE_INFINITY,
    caughtUpAt: Number.NEGATIVE_INFINITY,
    connectedAt: Number.NEGATIVE_INFINITY,
    reportedAt: Number.NEGATIVE_INFINITY,
    listedSince: Number.NEGATIVE_INFINITY,
    problem: null,
  };
  const beat = repeat(state.beatMs, () => readLog(state));
  return {
    id,
    get epoch() {
      return state.lease.epoch;
    },
    get isConnected() {
      return isConnected(state);
    },
    get cutOffMs() {
      return isConnected(state) || canRead(state) ? null : performance.now() - state.caughtUpAt;
    },
    get isBehind() {
      return canRead(state) && performance.now() - state.endReadAt >= goneMs;
    },
    catchUp: (ms) => withTimeLimit(ms, state.follow(), () => {}),
    start() {
      state.listening ??= connect(state);
    },
    async stop() {
      state.stopping.abort();
      await beat.stop();
      await state.listening?.stop();
      // A report that arrives after the deletion would let the others wait for this node. None starts after the stop.
      await state.report();
      await sql`delete from cluster_nodes where id = ${id}`.execute(options.db).catch(() => {});
    },
    send: (message) => send(state, message),
    waitForRevision: (revision, ms) => waitForRevision(state, revision, ms),
    waitForAllNodes: (what, revision, ms) => waitForAllNodes(state, what, revision, ms),
    otherVersions: () => otherVersions(state),
    stats: () => ({
      version: state.version,
      leads: state.lease.epoch !== null,
      isConnected: isConnected(state),
      revision: state.follower.revision(),
      lagMs: Math.round(performance.now() - Math.max(state.caughtUpAt, state.createdAt)),
    }),
  };
}

/** A node whose content store can't be written, as on a full disk, must not keep the lease. */
const isFit = (state: State): boolean => state.problem === null || isConnected(state);

const isConnected = ({ connectedAt, goneMs }: State): boolean => performance.now() - connectedAt < goneMs;

/** Whether the log was readable lately; a node that has just started is given the same time. */
const canRead = ({ readAt, createdAt, goneMs }: State): boolean =>
  performance.now() - Math.max(readAt, createdAt) < goneMs;

function connect(state: State): Listening {
  return listen({
    url: state.listenUrl,
    channel,
    log: state.log,
    beatMs: state.beatMs,
    onMessage: (payload) => handle(state, payload),
    onConnect() {
      void state.follow();
      state.onConnect?.();
    },
    async onBeat(session) {
      const before = state.lease.epoch;
      const epoch = await state.lease.hold(session, isFit(state));
      if (epoch !== before) state.onLease?.(epoch);
    },
    onDisconnect() {
      if (state.lease.epoch === null) return;
      state.lease.lost();
      state.onLease?.(null);
    },
  });
}

function handle(state: State, payload: string): void {
  let message: Message;
  try {
    message = messageSchema.parse(JSON.parse(payload));
  } catch {
    // A message of a version with another protocol.
    void state.follow();
    return;
  }
  if (message.revision !== undefined && message.revision > state.follower.revision()) void state.follow();
  state.onMessage?.(message);
}

const send = async ({ db }: State, message: Message): Promise<void> => {
  await sql`select pg_notify(${sql.raw(channel)}, ${JSON.stringify(message)})`.execute(db);
};

async function readLog(state: State): Promise<void> {
  const { contentLog, follower, log } = state;
  try {
    // Read first: unless the log was restored from a backup, its end can't be behind this revision later.
    const read = follower.revision();
    const { id, revision } = await contentLog.head();
    follower.followLog(id);
    if (revision < Math.min(read, follower.revision())) {
      log.warn(
        {},
        'The content log ends before what this node has read: PostgreSQL was restored. All nodes copy the content again',
      );
      follower.followLog(await contentLog.beginAnew(id));
    }
    for (;;) {
      const began = performance.now();
      const batch = await contentLog.read(follower.revision());
      state.readAt = performance.now();
      if (batch.entries.length === 0) {
        state.caughtUpAt = began;
        state.endReadAt = state.readAt;
        break;
      }
      apply(state, batch);
    }
    void state.report();
    if (state.problem !== null) log.info({}, 'Changes of the cluster arrive again');
    state.problem = null;
  } catch (error) {
    const { message } = error as Error;
    if (message !== state.problem) log.warn({ problem: message }, "Changes of the cluster don't arrive; retrying");
    state.problem = message;
  }
}

function apply(state: State, batch: LogBatch): void {
  const fresh = state.follower.apply(batch);
  state.rendering.add(batch.revision);
  fresh
    .catch((error: unknown) => state.log.error({ err: error }, "The pages of a change couldn't be refreshed"))
    .finally(() => {
      state.rendering.delete(batch.revision);
      void state.report();
    });
  state.progress.check();
  void state.report();
}

async function writeReport(state: State): Promise<void> {
  const { db, id, version, follower, rendering, workersUpdated } = state;
  // Changes that arrive at the same time are combined into one report.
  await Promise.resolve();
  const { caughtUpAt } = state;
  // Others would wait for a node that still copies the archive, although it isn't connected yet.
  if (state.stopping.signal.aborted || caughtUpAt === Number.NEGATIVE_INFINITY) return;
  const applied = follower.revision();
  const fresh = Math.min(applied, ...[...rendering].map((revision) => revision - 1));
  await workersUpdated?.();
  const sentAt = performance.now();
  await sql`insert into cluster_nodes (id, version, seen, applied, fresh)
    values (${id}, ${version}, ${sql.raw(databaseNow)}, ${applied}, ${fresh})
    on conflict (id) do update set seen = excluded.seen, applied = excluded.applied, fresh = excluded.fresh`
    .execute(db)
    .then(
      () => reported(state, caughtUpAt, sentAt),
      () => {},
    );
}

/**
 * A report was written. During a break the other nodes didn't wait for this one, so it may have missed a change: it counts as connected
 * again only after it has read the log to its end since the break.
 */
function reported(state: State, caughtUpAt: number, sentAt: number): void {
  const now = performance.now();
  const isNew = now - state.reportedAt >= state.goneMs;
  if (isNew) state.listedSince = now;
  state.reportedAt = sentAt;
  if (caughtUpAt >= state.listedSince) state.connectedAt = caughtUpAt;
  else if (isNew && !state.stopping.signal.aborted) void state.follow();
}

function waitForRevision(state: State, revision: number, ms: number): Promise<boolean> {
  const isApplied = (): boolean => state.follower.revision() >= revision;
  if (!isApplied()) void state.follow();
  return state.progress.until(isApplied, ms);
}

async function waitForAllNodes(
  state: State,
  what: 'applied' | 'fresh',
  revision: number,
  ms: number,
): Promise<boolean> {
  const { db, version, goneMs } = state;
  const until = performance.now() + ms;
  const query = sql<{ least: number | null }>`select min(${sql.ref(what)}) as least from cluster_nodes
    where version = ${version} and seen > ${sql.raw(databaseNow)} - ${goneMs}`;
  for (;;) {
    // A failed statement says nothing about the nodes; it is repeated.
    const { rows } = await query.execute(db).catch(() => ({ rows: [] }));
    if ((rows[0]?.least ?? 0) >= revision) return true;
    if (performance.now() > until || state.stopping.signal.aborted) return false;
    await timer(checkEveryMs, undefined, { ref: false });
  }
}

async function otherVersions({ db, version, goneMs }: State): Promise<readonly number[]> {
  const { rows } = await sql<{ version: number }>`select distinct version from cluster_nodes
    where version <> ${version} and seen > ${sql.raw(databaseNow)} - ${goneMs}`.execute(db);
  return rows.map((row) => row.version);
}
