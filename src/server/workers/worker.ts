/** The program of a worker; `supervisor.ts` starts it, with its kind as the argument, and stops it by a message. */

import type { Server } from 'node:http';
import { flushCompileCache } from 'node:module';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { exitAfter, exitAfterFailedStart } from '../exit.ts';
import { takeConnection } from './inner-socket.ts';
import {
  type Connection,
  type CountedBefore,
  type FromWorker,
  machineMs,
  type ToServing,
  type ToWriter,
  takenWithinMs,
} from './messages.ts';
import type { WorkerKind } from './supervisor.ts';

const dist = fileURLToPath(new URL('../../../dist/', import.meta.url));
const kind = process.argv[2] as WorkerKind;

type Message = ToServing | ToWriter | CountedBefore;

/** Messages that arrive before there is a receiver. */
const early: Message[] = [];
let receive = (message: Message): void => void early.push(message);

interface Running {
  readonly server: Server;
  stop(): Promise<void>;
}

const send = (message: FromWorker): void => void process.send?.(message);

async function start(): Promise<Running> {
  if (kind === 'serving') {
    const { startServingWorker } = await import('./serving-worker.ts');
    const worker = startServingWorker(process.env, dist, send);
    receive = (message) => worker.receive(message as ToServing);
    return { server: await worker.server, stop: worker.stop };
  }
  const [{ startWriter }, { createWriterLink }] = await Promise.all([import('../main.ts'), import('./writer-link.ts')]);
  const link = createWriterLink({ send });
  // Serving workers may already be running, and must be told what this start withdraws.
  receive = (message) => link.receive(message as ToWriter | CountedBefore);
  for (const message of early.splice(0)) receive(message);
  return startWriter(process.env, link);
}

let running: Running | undefined;
let isStopping = false;

function stop(exitCode: number): void {
  if (isStopping) return;
  isStopping = true;
  exitAfter(running?.stop() ?? Promise.resolve(), exitCode);
}

// A terminal and a service manager signal all processes at once; the supervisor stops them in order.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
process.on('disconnect', () => stop(0));
process.on('uncaughtException', (error) => {
  console.error(error);
  stop(1);
});
process.on('message', (message: Message | Connection, socket: Socket | undefined) => {
  if (message.kind === 'stop') {
    send({ stopping: true });
    stop(0);
  } else if (message.kind === 'connection') {
    // If the client has disconnected, there is no socket.
    if (socket && machineMs() - message.at > takenWithinMs) {
      socket.destroy();
      send({ declined: message.number });
      return;
    }
    if (running && socket) takeConnection(running.server, socket);
    send({ taken: message.number });
  } else receive(message);
});
try {
  running = await start();
  send({ ready: true });
  // Flushed now, because a process that is killed later saves no compiled code for the next start.
  flushCompileCache();
} catch (error) {
  exitAfterFailedStart(error);
}
