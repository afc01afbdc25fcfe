/**
 * The port of several workers: accepts connections and gives each to a worker, in turn. A connection stays open here until its worker has
 * taken it, so that a worker that is killed takes none with it that it hasn't begun to read.
 */
import type { ChildProcess } from 'node:child_process';
import { createServer, type Server, type Socket } from 'node:net';

export interface DoorOptions {
  /** Called when a worker hasn't taken a connection in time. */
  readonly onUnresponsive: (worker: ChildProcess) => void;
  /** Milliseconds in which a worker takes a connection (default 10,000). */
  readonly patienceMs?: number;
}

export interface Door {
  /** Listens on the port; the caller opens it. */
  readonly server: Server;
  /** Gives connections to this worker from now on. */
  add(worker: ChildProcess): void;
  /** Takes back what this worker hasn't taken. */
  remove(worker: ChildProcess): void;
  /** A worker has taken a connection. */
  accepted(number: number): void;
  /** Refuses new connections. */
  close(): void;
}

interface Given {
  readonly socket: Socket;
  readonly worker: ChildProcess;
  readonly at: number;
}

interface State {
  readonly workers: ChildProcess[];
  /** Connections that a worker was given and hasn't taken, by number. */
  readonly given: Map<number, Given>;
  /** Connections that came while there was no worker. */
  readonly waiting: Socket[];
  number: number;
  next: number;
}

const checkEveryMs = 1000;

export function createDoor({ onUnresponsive, patienceMs = 10_000 }: DoorOptions): Door {
  const state: State = { workers: [], given: new Map(), waiting: [], number: 0, next: 0 };
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    // The supervisor reads nothing, and has no opinion on how a connection ends.
    socket.on('error', () => {});
    give(state, socket);
  });
  const check = setInterval(() => {
    const late = [...state.given.values()].filter(({ at }) => performance.now() - at > patienceMs);
    for (const worker of new Set(late.map((one) => one.worker))) onUnresponsive(worker);
  }, checkEveryMs).unref();
  return {
    server,
    add(worker) {
      state.workers.push(worker);
      for (const socket of state.waiting.splice(0)) give(state, socket);
    },
    remove(worker) {
      const at = state.workers.indexOf(worker);
      if (at >= 0) state.workers.splice(at, 1);
      for (const [number, given] of state.given) {
        if (given.worker !== worker) continue;
        state.given.delete(number);
        give(state, given.socket);
      }
    },
    accepted(number) {
      state.given.get(number)?.socket.destroy();
      state.given.delete(number);
    },
    close() {
      clearInterval(check);
      server.close();
    },
  };
}

function give(state: State, socket: Socket): void {
  const { workers, given, waiting } = state;
  const worker = workers[state.next++ % workers.length];
  if (!worker) {
    waiting.push(socket);
    return;
  }
  const number = ++state.number;
  given.set(number, { socket, worker, at: performance.now() });
  // An error is the end of the worker, which takes back what it was given.
  worker.send({ kind: 'connection', number }, socket, { keepOpen: true }, () => {});
}
