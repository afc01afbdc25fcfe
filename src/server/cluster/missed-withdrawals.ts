/**
 * A node that is cut off from PostgreSQL asks WordPress what was withdrawn, so that it stops serving it. The node can't tell whether
 * PostgreSQL is down for all nodes, so that cached pages must stay available, or only for itself, while the others keep publishing;
 * WordPress knows what changed.
 */
import type { Content } from '../../content/service.ts';
import type { FetchTarget } from '../../content/store/ahead-of-log.server.ts';
import { backOff, repeat } from '../../lib/jobs/tasks.ts';
import type { Logger } from '../../lib/logging.ts';
import type { ClusterNode } from './node.ts';

export interface MissedWithdrawalsOptions {
  readonly node: Pick<ClusterNode, 'isConnected' | 'cutOffMs' | 'send'>;
  readonly content: Pick<Content, 'withdrawMissed' | 'followed'>;
  readonly log: Logger;
  /** Milliseconds between two questions. */
  readonly everyMs: number;
}

export interface MissedWithdrawals {
  /** WordPress has sent a valid webhook; a node that is cut off asks at once what changed. */
  webhookCame(): void;
  stop(): Promise<void>;
}

interface State extends MissedWithdrawalsOptions {
  /**
   * Whether the node was cut off at the previous check too: a process that has slept reads the log late, but before the next
   * check.
   */
  isCutOff: boolean;
  /** Monotonic time of the last answer while cut off. */
  answeredAt: number;
  failures: number;
  /** Number of messages sent about withdrawals that the log doesn't have yet. */
  reminders: number;
  pausedUntil: number;
}

/** Changes up to this time earlier are requested, too: a webhook may have waited for its turn. */
const overlapMs = 60_000;
const longestPauseMs = 30_000;
const longestReminderMs = 600_000;

/** What it knows when it begins, and when the node is no longer cut off. */
const initial = { answeredAt: Number.NEGATIVE_INFINITY, failures: 0, reminders: 0, pausedUntil: 0 };

/** Starts to look. */
export function watchForMissedWithdrawals(options: MissedWithdrawalsOptions): MissedWithdrawals {
  const state: State = { ...options, isCutOff: false, ...initial };
  const task = repeat(options.everyMs, (signal) => check(state, signal));
  return {
    webhookCame() {
      if (options.node.cutOffMs === null) return;
      state.pausedUntil = 0;
      state.isCutOff = true;
      void task.runNow();
    },
    stop: () => task.stop(),
  };
}

async function check(state: State, signal: AbortSignal): Promise<void> {
  const { node, content, log, everyMs } = state;
  const cutOffMs = node.cutOffMs;
  const isSecondCheck = state.isCutOff;
  state.isCutOff = cutOffMs !== null;
  if (cutOffMs === null) {
    if (state.answeredAt > 0 || state.failures > 0) Object.assign(state, initial);
    if (node.isConnected) await remind(state);
    return;
  }
  const began = performance.now();
  const isEmpty = cutOffMs === Number.POSITIVE_INFINITY && content.followed.revision() === 0;
  if (isEmpty || !isSecondCheck || began < state.pausedUntil) return;
  try {
    const sinceMs = Math.min(cutOffMs, began - state.answeredAt) + overlapMs;
    const withdrawn = await content.withdrawMissed(sinceMs / 1000, signal);
    if (withdrawn > 0)
      log.warn({ withdrawn }, 'This node is cut off from PostgreSQL and withdrew what WordPress withdrew');
    state.answeredAt = began;
    state.failures = 0;
  } catch (error) {
    if (signal.aborted) return;
    const problem = (error as Error).message;
    if (state.failures === 0)
      log.warn(
        { problem },
        "This node is cut off from PostgreSQL and can't ask WordPress what was withdrawn; retrying",
      );
    state.pausedUntil = performance.now() + backOff(++state.failures, 2 * everyMs, longestPauseMs);
  }
}

/** Asks the node that syncs to fetch again what this node has withdrawn while the log still has the old version. */
async function remind(state: State): Promise<void> {
  const ahead = state.content.followed.ahead();
  if (ahead.length === 0) state.reminders = 0;
  if (ahead.length === 0 || performance.now() < state.pausedUntil) return;
  state.pausedUntil = performance.now() + backOff(++state.reminders, 2 * state.everyMs, longestReminderMs);
  for (const name of ahead) await state.node.send({ wanted: wantedKey(name) }).catch(() => {});
}

const wantedKey = ({ type, id }: FetchTarget): string => `${type}/${id}`;

/** The content that a node wants the syncing node to fetch again; `null` if the message asks for something else. */
export function wantedContent(wanted: string): FetchTarget | null {
  const [, type, id] =
    /^(articles|live-entries|video|crosswords|authors|podcasts|fronts|pages|comments|sections)\/(\d+)$/u.exec(wanted) ??
    [];
  return type ? { type: type as FetchTarget['type'], id: Number(id) } : null;
}
