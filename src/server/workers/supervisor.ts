/**
 * `WORKERS`: one process that renders (the writer) and further ones that serve what is cached, behind one port. The supervisor starts them,
 * passes their messages on, starts again what ends, and stops them in order: the serving workers first, because they need the writer.
 */
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { backOff } from '../../lib/jobs/tasks.ts';
import type { Logger } from '../../lib/logging.ts';
import type { FromServing, FromWriter, Listening, ToServing, ToWriter, Unresponsive } from './messages.ts';

/** The program of both kinds of worker; the kind is its argument. */
const program = fileURLToPath(new URL('./worker.ts', import.meta.url));
export type WorkerKind = 'writer' | 'serving';

export interface Workers {
  /** Port that they listen on. */
  readonly port: number;
  /** Stops all of them in order. */
  stop(): Promise<void>;
}

type FromWorker = FromServing | FromWriter | Unresponsive | Listening;

interface State {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Logger;
  writer: Worker | null;
  readonly serving: Map<number, Worker>;
  readonly listening: PromiseWithResolvers<number>;
  /** Whether the writer has listened once: from then on it is started again when it ends. */
  hasListened: boolean;
  isStopping: boolean;
  /** Ends one after the other without having listened, by kind. */
  readonly failures: Record<WorkerKind, number>;
  readonly timers: Set<NodeJS.Timeout>;
}

/** Milliseconds before an ended worker is started again: first and longest. */
const again = { baseMs: 100, capMs: 10_000 };

/**
 * Starts the workers.
 *
 * @param count of all workers, the writer included
 * @throws Error when the writer ends before it listens; it has said why
 */
export async function startWorkers(
  env: Readonly<Record<string, string | undefined>>,
  count: number,
  log: Logger,
): Promise<Workers> {
  const state: State = {
    env,
    log,
    writer: null,
    serving: new Map(),
    listening: Promise.withResolvers(),
    hasListened: false,
    isStopping: false,
    failures: { writer: 0, serving: 0 },
    timers: new Set(),
  };
  // One queue of new connections for all: a process that is killed takes none of them with it.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  start(state, 'writer');
  const port = await state.listening.promise;
  for (let more = 1; more < count; more++) start(state, 'serving');
  return { port, stop: () => stop(state) };
}

function start(state: State, kind: WorkerKind): void {
  if (state.isStopping) return;
  const { env, failures } = state;
  cluster.setupPrimary({ exec: program, args: [kind], silent: false });
  const worker = cluster.fork(env);
  if (kind === 'writer') state.writer = worker;
  else state.serving.set(worker.id, worker);
  worker.on('message', (message: FromWorker) => receive(state, kind, worker, message));
  worker.on('error', () => {});
  worker.once('online', () => {
    // A writer that is started again doesn't know the serving workers.
    if (kind === 'writer') for (const id of state.serving.keys()) tellWriter(state, { kind: 'joined', from: id });
  });
  worker.once('exit', (code, signal) => {
    if (kind === 'writer') writerEnded(state);
    else servingEnded(state, worker);
    if (state.isStopping) return;
    failures[kind]++;
    state.log.error({ worker: worker.id, kind, code, signal }, 'A worker ended; it is started again');
    const timer = setTimeout(
      () => {
        state.timers.delete(timer);
        start(state, kind);
      },
      backOff(failures[kind], again.baseMs, again.capMs),
    );
    state.timers.add(timer);
  });
}

function writerEnded(state: State): void {
  state.writer = null;
  for (const worker of state.serving.values()) tell(worker, { kind: 'writer-gone' });
  if (state.hasListened || state.isStopping) return;
  // The first writer has said why it can't start: a setting, a port.
  state.isStopping = true;
  state.listening.reject(new Error("The site can't start; the lines above say why."));
}

function servingEnded(state: State, worker: Worker): void {
  state.serving.delete(worker.id);
  tellWriter(state, { kind: 'left', from: worker.id });
}

const tell = (worker: Worker, message: ToServing): void => {
  if (worker.isConnected()) worker.send(message, () => {});
};

function tellWriter({ writer }: State, message: ToWriter): void {
  if (writer?.isConnected()) writer.send(message, () => {});
}

function receive(state: State, kind: WorkerKind, worker: Worker, message: FromWorker): void {
  if ('listening' in message) {
    state.failures[kind] = 0;
    if (kind === 'serving') {
      state.log.info({ worker: worker.id }, 'A worker serves cached pages');
      return;
    }
    state.hasListened = true;
    state.listening.resolve(message.listening);
  } else if ('unresponsive' in message) {
    state.log.error(
      { worker: message.unresponsive },
      "A serving worker doesn't respond; it may show withdrawn pages, and is ended",
    );
    state.serving.get(message.unresponsive)?.process.kill('SIGKILL');
  } else if ('to' in message) {
    for (const [id, each] of state.serving) if (message.to === 'all' || message.to === id) tell(each, message.message);
  } else {
    tellWriter(state, { ...message, from: worker.id } as ToWriter);
  }
}

async function stop(state: State): Promise<void> {
  state.isStopping = true;
  for (const timer of state.timers) clearTimeout(timer);
  await Promise.all([...state.serving.values()].map(end));
  if (state.writer) await end(state.writer);
}

async function end(worker: Worker): Promise<void> {
  if (worker.isDead()) return;
  const ended = once(worker, 'exit');
  tell(worker, { kind: 'stop' });
  await ended;
}
