/**
 * The server of a worker: it listens on a Unix socket in the data folder, which only this user may open, and receives connections of the
 * public port from the supervisor (public-port.ts).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { clientHeader } from './forward.ts';

/** Longest path of a Unix socket on all systems. */
const longestPath = 100;

/** Folder of the workers' sockets. */
export const socketsFolder = (dataDir: string): string => join(resolve(dataDir), 'sockets');

/** Path of this process's socket. */
export function innerSocket(dataDir: string): string {
  const name = `${process.pid}.sock`;
  const inData = join(socketsFolder(dataDir), name);
  return inData.length <= longestPath ? inData : join(mkdtempSync(join(tmpdir(), 'broadsheet-')), name);
}

export function listenInside(server: Server, socket: string): Promise<void> {
  rmSync(socket, { force: true });
  return new Promise<void>((done, failed) => {
    server.once('error', failed);
    server.listen(socket, done);
  });
}

/** Connections of the public port. */
const fromOutside = new WeakSet<Socket>();

/** Serves a connection that the supervisor has accepted. */
export function takeConnection(server: Server, socket: Socket): void {
  fromOutside.add(socket);
  socket.setNoDelay(true);
  server.emit('connection', socket);
}

/** The client's address: as stated by a serving worker that passes the request on, or else as determined by `outside`. */
export const forwardedAddress =
  (outside: (incoming: IncomingMessage) => string) =>
  (incoming: IncomingMessage): string =>
    fromOutside.has(incoming.socket) ? outside(incoming) : String(incoming.headers[clientHeader] ?? 'unknown');

/** The request's id, in the same way. */
export const forwardedId =
  (header: string, outside: (incoming: IncomingMessage) => string) =>
  (incoming: IncomingMessage): string =>
    fromOutside.has(incoming.socket) ? outside(incoming) : String(incoming.headers[header]);
