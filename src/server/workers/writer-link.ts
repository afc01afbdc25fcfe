/**
 * The writer's side of the serving workers: sends the names of replaced pages, and knows when every worker has confirmed them. A worker
 * that doesn't respond is ended, because it may show withdrawn content.
 */
import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue } from 'prom-client';
import { type Conditions, createConditions } from '../../lib/jobs/conditions.ts';
import type { LiveSink } from '../live/live-feed.ts';
import type { Counted, CountedBefore, FromWriter, LiveMessage, Opening, ToWriter, Unresponsive } from './messages.ts';

export interface WriterLinkOptions {
  /** Sends to the supervisor. */
  readonly send: (message: FromWriter | Counted | Unresponsive) => void;
  /** Milliseconds in which a worker has to respond (default 2000). */
  readonly timeoutMs?: number;
}

export interface WriterLink {
  /** The data with which serving workers start; called for each of them. */
  open(opening: () => Omit<Opening, 'kind'>): void;
  /** Pages that the writer has replaced in the store. */
  replaced(names: readonly string[] | 'all'): void;
  /** The banner that pages show from now on; `null`: none. */
  banner(html: string | null): void;
  /** Resolves when every serving worker shows this banner, and has forgotten the pages that were replaced so far. */
  workersUpdated(): Promise<void>;
  /** Sends the serving workers live stories and their events. */
  readonly live: LiveSink;
  /**
   * Metrics of the serving workers, as `Registry.getMetricsAsJSON` returns them, including the counts of processes that have ended:
   * without those the sum would decrease, which Prometheus takes for a restart from zero.
   *
   * @param own metrics of this process, to which the others are added; a later writer also adds them
   */
  metrics(own: readonly object[]): Promise<readonly (readonly object[])[]>;
  /** Calls `listener` with the reads of pages that the serving workers have counted, by name. */
  onReads(listener: (reads: readonly (readonly [name: string, count: number])[]) => void): void;
  /** Handles a message of the supervisor. */
  receive(message: ToWriter | CountedBefore): void;
}

interface State extends Required<WriterLinkOptions> {
  opening: (() => Omit<Opening, 'kind'>) | null;
  /** The last number that each serving worker has answered. */
  readonly workers: Map<number, number>;
  /** Checked at each message. */
  readonly received: Conditions;
  /** The last metrics of each serving worker, with the number of the message that they answer. */
  readonly measured: Map<number, { readonly number: number; readonly metrics: readonly object[] }>;
  /** Sum of the counts of processes that have ended. */
  ended: readonly object[];
  readonly readsListeners: ((reads: readonly (readonly [name: string, count: number])[]) => void)[];
  /** Replaced pages that haven't been sent. */
  pendingNames: Set<string> | 'all';
  isSendDue: boolean;
  number: number;
}

export function createWriterLink(options: WriterLinkOptions): WriterLink {
  const state: State = {
    timeoutMs: 2000,
    ...options,
    opening: null,
    workers: new Map(),
    received: createConditions(),
    measured: new Map(),
    ended: [],
    readsListeners: [],
    pendingNames: new Set(),
    isSendDue: false,
    number: 0,
  };
  return {
    open(opening) {
      state.opening = opening;
      for (const worker of state.workers.keys()) welcome(state, worker);
    },
    replaced: (names) => replaced(state, names),
    banner(html) {
      if (state.workers.size === 0) return;
      // Messages come in the order of their numbers.
      sendReplaced(state);
      state.send({ to: 'all', message: { kind: 'banner', number: ++state.number, html } });
    },
    workersUpdated: () => workersUpdated(state),
    live: {
      stories: (stories) => sendLive(state, { kind: 'live-stories', stories }),
      send: (story, events) => sendLive(state, { kind: 'live-events', story, events }),
    },
    metrics: (own) => metrics(state, own),
    onReads: (listener) => void state.readsListeners.push(listener),
    receive: (message) => receive(state, message),
  };
}

function welcome({ opening, send }: State, worker: number): void {
  if (opening) send({ to: worker, message: { kind: 'open', ...opening() } });
}

function replaced(state: State, names: readonly string[] | 'all'): void {
  if (state.workers.size === 0) return;
  if (names === 'all') state.pendingNames = 'all';
  else if (state.pendingNames !== 'all') for (const name of names) state.pendingNames.add(name);
  if (state.isSendDue) return;
  state.isSendDue = true;
  // Pages replaced in the same turn of the event loop are combined into one message.
  setImmediate(() => sendReplaced(state));
}

function sendReplaced(state: State): void {
  if (!state.isSendDue) return;
  const { opening, pendingNames, send } = state;
  state.isSendDue = false;
  state.pendingNames = new Set();
  if (!opening || state.workers.size === 0) return;
  const { isReady, isStored } = opening();
  const sent = pendingNames === 'all' ? pendingNames : [...pendingNames];
  send({ to: 'all', message: { kind: 'replaced', number: ++state.number, names: sent, isReady, isStored } });
}

/** A worker that joins later gets the stories when it starts. */
function sendLive({ opening, workers, send }: State, message: LiveMessage): void {
  if (opening && workers.size > 0) send({ to: 'all', message });
}

async function workersUpdated(state: State): Promise<void> {
  sendReplaced(state);
  const { number, workers, received, timeoutMs } = state;
  const behind = (): number[] => [...workers].flatMap(([worker, done]) => (done < number ? [worker] : []));
  const isDone = (): boolean => behind().length === 0;
  if (await received.until(isDone, timeoutMs)) return;
  for (const worker of behind()) state.send({ unresponsive: worker });
  await received.until(isDone);
}

async function metrics(state: State, own: readonly object[]): Promise<readonly (readonly object[])[]> {
  if (state.workers.size > 0) await measure(state, ++state.number);
  // For a worker that hasn't answered in time, its last answer is used.
  const { measured, ended, send } = state;
  const serving = [...measured].map(([worker, last]) => [worker, countsOf(last.metrics)] as const);
  send({ counted: { ended: sumOf([countsOf(own), ended]), serving } });
  const all = [...measured.values()].map((last) => last.metrics);
  return ended.length > 0 ? [...all, ended] : all;
}

/** Asks each worker for its metrics, and waits for the answers for a second at most. */
async function measure({ workers, measured, received, send }: State, number: number): Promise<void> {
  const asked = [...workers.keys()];
  // An answer confirms all messages before it, too.
  send({ to: 'all', message: { kind: 'measure', number } });
  const hasAnswered = (worker: number): boolean => (measured.get(worker)?.number ?? 0) >= number;
  await received.until(() => asked.every((worker) => hasAnswered(worker) || !workers.has(worker)), 1000);
}

type Measured = MetricObjectWithValues<MetricValue<string>>;

function keepCounts(state: State, worker: number): void {
  const counts = countsOf(state.measured.get(worker)?.metrics ?? []);
  state.measured.delete(worker);
  if (counts.length > 0) state.ended = sumOf([counts, state.ended]);
}

/** The metrics that only grow. */
const countsOf = (metrics: readonly object[]): readonly object[] =>
  (metrics as readonly Measured[]).filter(({ type }) => String(type) === 'counter' || String(type) === 'histogram');

const sumOf = (all: readonly (readonly object[])[]): readonly object[] =>
  AggregatorRegistry.aggregate(all as Measured[][]).getMetricsAsArray();

function receive(state: State, message: ToWriter | CountedBefore): void {
  const { workers, measured, received } = state;
  if (message.kind === 'counted-before') {
    state.ended = sumOf([state.ended, ...message.counts]);
    return;
  }
  const { from } = message;
  switch (message.kind) {
    case 'joined':
      workers.set(from, state.number);
      welcome(state, from);
      break;
    case 'left':
      workers.delete(from);
      keepCounts(state, from);
      break;
    case 'metrics':
      if (workers.has(from)) measured.set(from, message);
      confirm(workers, from, message.number);
      break;
    case 'done':
      confirm(workers, from, message.number);
      break;
    case 'reads':
      for (const listener of state.readsListeners) listener(message.reads);
      break;
  }
  received.check();
}

/** Collecting metrics takes a moment, so this answer may arrive after the answer to a later message. */
function confirm(workers: Map<number, number>, from: number, number: number): void {
  const before = workers.get(from);
  if (before !== undefined && number > before) workers.set(from, number);
}
