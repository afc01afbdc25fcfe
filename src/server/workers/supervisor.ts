/**
 * `WORKERS`: one process that renders (the writer) and others that serve cached pages, behind one port. The supervisor accepts connections
 * and hands them out in turn, passes on the workers' messages, restarts workers that end, and stops them in order: the serving workers
 * first, because they need the writer.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { backOff } from '../../lib/jobs/tasks.ts';
import type { Logger } from '../../lib/logging.ts';
import type { Config } from '../config/config.ts';
import { listen } from '../http/listen.ts';
import { socketsFolder } from './inner-socket.ts';
import type { Counted, CountedBefore, FromWorker, ToServing, ToWriter } from './messages.ts';
import { createPublicPort, type PublicPort } from './public-port.ts';

/** The program of both kinds of worker; the kind is its argument. */
const program = fileURLToPath(new URL('./worker.ts', import.meta.url));
export type WorkerKind = 'writer' | 'serving';

export interface Workers {
  /** Port of the site. */
  readonly port: number;
  /** Stops all of them in order. */
  stop(): Promise<void>;
}

interface State {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Logger;
  readonly publicPort: PublicPort;
  writer: ChildProcess | null;
  /** By process id, which is also the worker's id. */
  readonly serving: Map<number, ChildProcess>;
  counted: Counted['counted'];
  readonly ready: PromiseWithResolvers<void>;
  /** Whether a writer was ready once: from then on it is started again when it ends. */
  wasReady: boolean;
  isStopping: boolean;
  /** Number of consecutive exits before becoming ready, by kind. */
  readonly failures: Record<WorkerKind, number>;
  readonly timers: Set<NodeJS.Timeout>;
}

/** Milliseconds before an ended worker is started again: first and longest. */
const restartWaits = { baseMs: 100, capMs: 10_000 };
/** Milliseconds within which a worker must confirm that it is stopping. */
const stoppingMs = 5000;

/**
 * Starts the workers.
 *
 * @throws Error if the writer ends before it is ready (it has printed why), or if the port can't be opened
 */
export async function startWorkers(
  env: Readonly<Record<string, string | undefined>>,
  config: Pick<Config, 'workers' | 'host' | 'port' | 'dataDir' | 'siteUrl'>,
  log: Logger,
): Promise<Workers> {
  // Killed workers leave their sockets behind. No other site uses the folder (data-dir.ts).
  rmSync(socketsFolder(config.dataDir), { recursive: true, force: true });
  mkdirSync(socketsFolder(config.dataDir), { mode: 0o700 });
  const state: State = {
    env,
    log,
    publicPort: createPublicPort({ onUnresponsive: (worker) => endUnresponsive(state, worker) }),
    writer: null,
    serving: new Map(),
    counted: { ended: [], serving: [] },
    ready: Promise.withResolvers(),
    wasReady: false,
    isStopping: false,
    failures: { writer: 0, serving: 0 },
    timers: new Set(),
  };
  start(state, 'writer');
  await state.ready.promise;
  try {
    await listen(state.publicPort.server, config);
  } catch (error) {
    await stop(state);
    throw error;
  }
  const { port } = state.publicPort.server.address() as AddressInfo;
  log.info({ host: config.host, port, site: config.siteUrl, workers: config.workers }, 'The site is listening');
  for (let more = 1; more < config.workers; more++) start(state, 'serving');
  return { port, stop: () => stop(state) };
}

function start(state: State, kind: WorkerKind): void {
  if (state.isStopping) return;
  const { env, failures, serving } = state;
  const worker = fork(program, [kind], { env: { ...process.env, ...env } });
  const { pid } = worker;
  if (kind === 'writer') state.writer = worker;
  else if (pid !== undefined) serving.set(pid, worker);
  worker.on('message', (message: FromWorker) => receive(state, kind, worker, message));
  worker.on('error', (error) => state.log.error({ err: error, kind }, "A worker couldn't be started"));
  worker.once('spawn', () => {
    if (kind === 'writer') welcome(state, worker);
  });
  worker.once('close', (code, signal) => {
    state.publicPort.remove(worker);
    if (kind === 'writer') writerEnded(state);
    else if (pid !== undefined) servingEnded(state, pid);
    if (state.isStopping) return;
    failures[kind]++;
    state.log.error({ worker: pid, kind, code, signal }, 'A worker ended; it is started again');
    const timer = setTimeout(
      () => {
        state.timers.delete(timer);
        start(state, kind);
      },
      backOff(failures[kind], restartWaits.baseMs, restartWaits.capMs),
    );
    state.timers.add(timer);
  });
}

/** A restarted writer doesn't know the serving workers, nor the counts from before. */
function welcome({ serving, counted }: State, writer: ChildProcess): void {
  for (const id of serving.keys()) send(writer, { kind: 'joined', from: id });
  const ended = [counted.ended];
  for (const [id, metrics] of counted.serving) {
    if (serving.has(id)) send(writer, { kind: 'metrics', number: 0, metrics, from: id });
    else ended.push(metrics);
  }
  send(writer, { kind: 'counted-before', counts: ended });
}

function writerEnded(state: State): void {
  state.writer = null;
  for (const worker of state.serving.values()) send(worker, { kind: 'writer-gone' });
  if (state.wasReady || state.isStopping) return;
  // The first writer has printed why it can't start.
  state.isStopping = true;
  state.ready.reject(new Error("The site can't start; the lines above say why."));
}

function servingEnded({ serving, writer }: State, id: number): void {
  serving.delete(id);
  send(writer, { kind: 'left', from: id });
}

function endUnresponsive({ log, serving }: State, worker: ChildProcess): void {
  const isServing = worker.pid !== undefined && serving.has(worker.pid);
  log.error({ worker: worker.pid, isServing }, "A worker doesn't respond; it is ended");
  worker.kill('SIGKILL');
}

function send(worker: ChildProcess | null, message: ToServing | ToWriter | CountedBefore): void {
  if (worker?.connected) worker.send(message, () => {});
}

function receive(state: State, kind: WorkerKind, worker: ChildProcess, message: FromWorker): void {
  if ('taken' in message) state.publicPort.taken(worker, message.taken);
  else if ('declined' in message) state.publicPort.declined(worker, message.declined);
  else if ('ready' in message) {
    state.failures[kind] = 0;
    state.publicPort.add(worker);
    if (kind === 'serving') state.log.info({ worker: worker.pid }, 'A worker serves cached pages');
    else {
      state.wasReady = true;
      state.ready.resolve();
    }
  } else if ('unresponsive' in message) {
    const unresponsive = state.serving.get(message.unresponsive);
    if (unresponsive) endUnresponsive(state, unresponsive);
  } else if ('counted' in message) {
    state.counted = message.counted;
  } else if ('stopping' in message) {
    // The code that requested the stop waits for the worker itself.
    return;
  } else if ('to' in message) {
    for (const [id, each] of state.serving) if (message.to === 'all' || message.to === id) send(each, message.message);
  } else {
    send(state.writer, { ...message, from: worker.pid ?? 0 } as ToWriter);
  }
}

async function stop(state: State): Promise<void> {
  state.isStopping = true;
  for (const timer of state.timers) clearTimeout(timer);
  state.publicPort.close();
  await Promise.all([...state.serving.values()].map((worker) => stopWorker(state, worker)));
  if (state.writer) await stopWorker(state, state.writer);
}

async function stopWorker(state: State, worker: ChildProcess): Promise<void> {
  if (worker.exitCode !== null || worker.signalCode !== null) return;
  const ended = once(worker, 'close');
  // A worker that hangs would keep the others from stopping in order.
  const timer = setTimeout(() => endUnresponsive(state, worker), stoppingMs);
  worker.on('message', (message: FromWorker) => {
    if ('stopping' in message) clearTimeout(timer);
  });
  send(worker, { kind: 'stop' });
  await ended;
  clearTimeout(timer);
}
