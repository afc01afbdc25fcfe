/**
 * The port of several workers: accepts connections and hands each to a worker, in turn. A connection stays open here until its worker has
 * taken it, so no connection is lost if a worker is killed before it has started to read.
 */
import type { ChildProcess } from 'node:child_process';
import { createServer, type Server, type Socket } from 'node:net';
import { machineMs, takenWithinMs } from './messages.ts';

export interface PublicPortOptions {
  /** Called when a worker hasn't taken a connection in time. */
  readonly onUnresponsive: (worker: ChildProcess) => void;
  /** Milliseconds after which a worker that takes no connection is given up (default 10,000). */
  readonly timeoutMs?: number;
}

export interface PublicPort {
  /** Listens on the port; the caller opens it. */
  readonly server: Server;
  /** Gives connections to this worker from now on. */
  add(worker: ChildProcess): void;
  /** Takes back the connections that this worker hasn't taken. */
  remove(worker: ChildProcess): void;
  /** A worker has taken a connection. */
  taken(worker: ChildProcess, number: number): void;
  /** A worker was too late for a connection: it is handed to another one, unless that has already happened. */
  declined(worker: ChildProcess, number: number): void;
  /** Refuses new connections. */
  close(): void;
}

interface Given {
  readonly socket: Socket;
  readonly worker: ChildProcess;
  readonly at: number;
}

/** Later than the moment until which a worker may still take the connection. */
const givenAgainMs = takenWithinMs + 500;

interface State {
  readonly workers: ChildProcess[];
  /** Connections that were handed to a worker and not taken yet, by number. */
  readonly given: Map<number, Given>;
  /** Connections that came while there was no worker. */
  readonly waiting: Socket[];
  /** Workers that haven't taken a connection in time, and since when; they get no more before they take one. */
  readonly silent: Map<ChildProcess, number>;
  number: number;
  next: number;
}

const checkEveryMs = 500;

export function createPublicPort({ onUnresponsive, timeoutMs = 10_000 }: PublicPortOptions): PublicPort {
  const state: State = { workers: [], given: new Map(), waiting: [], silent: new Map(), number: 0, next: 0 };
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    // The supervisor reads nothing from a connection and leaves its end to the worker.
    socket.on('error', () => {});
    give(state, socket);
  });
  const check = setInterval(() => {
    for (const [number, { socket, worker, at }] of state.given) {
      if (machineMs() - at < givenAgainMs) continue;
      state.given.delete(number);
      if (!state.silent.has(worker)) state.silent.set(worker, at);
      give(state, socket);
    }
    for (const [worker, since] of state.silent) if (machineMs() - since > timeoutMs) onUnresponsive(worker);
  }, checkEveryMs).unref();
  return {
    server,
    add(worker) {
      state.workers.push(worker);
      for (const socket of state.waiting.splice(0)) give(state, socket);
    },
    remove(worker) {
      state.silent.delete(worker);
      const at = state.workers.indexOf(worker);
      if (at >= 0) state.workers.splice(at, 1);
      for (const [number, given] of state.given) {
        if (given.worker !== worker) continue;
        state.given.delete(number);
        give(state, given.socket);
      }
    },
    taken(worker, number) {
      state.silent.delete(worker);
      state.given.get(number)?.socket.destroy();
      state.given.delete(number);
    },
    declined(worker, number) {
      state.silent.delete(worker);
      const socket = state.given.get(number)?.socket;
      state.given.delete(number);
      if (socket) give(state, socket);
    },
    close() {
      clearInterval(check);
      server.close();
    },
  };
}

function give(state: State, socket: Socket): void {
  const { workers, given, waiting, silent } = state;
  const able = silent.size === 0 ? workers : workers.filter((worker) => !silent.has(worker));
  const worker = able[state.next++ % able.length] ?? workers[0];
  if (!worker) {
    waiting.push(socket);
    return;
  }
  const number = ++state.number;
  const at = machineMs();
  given.set(number, { socket, worker, at });
  // An error means that the worker has ended; its connections are taken back then.
  worker.send({ kind: 'connection', number, at }, socket, { keepOpen: true }, () => {});
}
