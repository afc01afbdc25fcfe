/** The writer's server for its serving workers, on a Unix socket in the data folder, which only this user may open. */
import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createHttpServer } from '../http/http-server.ts';
import { requestIds } from '../http/request-id.ts';
import type { HttpServerOptions } from '../http/server-options.ts';
import { shutDown } from '../http/shutdown.ts';
import { forwardedClients } from './forward.ts';

/** Longest path of a Unix socket on all systems. */
const longestPath = 100;

export interface WriterServer {
  /** Path of the socket. */
  readonly socket: string;
  listen(): Promise<void>;
  close(): Promise<void>;
}

/** @param options those of the public server; the client's address and the request's id come from the serving worker */
export function createWriterServer(options: HttpServerOptions, dataDir: string): WriterServer {
  const inData = resolve(dataDir, 'writer.sock');
  const socket =
    inData.length <= longestPath ? inData : join(mkdtempSync(join(tmpdir(), 'broadsheet-')), 'writer.sock');
  const requestId = requestIds(1);
  let clientAddress = (_: IncomingMessage): string => 'unknown';
  const server = createHttpServer({ ...options, requestId, clientAddress: (incoming) => clientAddress(incoming) });
  clientAddress = forwardedClients(server);
  return {
    socket,
    async listen() {
      // A process that was killed leaves it behind.
      rmSync(socket, { force: true });
      await new Promise<void>((done, failed) => {
        server.once('error', failed);
        // Without `exclusive`, the supervisor would open it and share it with the other workers.
        server.listen({ path: socket, exclusive: true }, done);
      });
    },
    async close() {
      await shutDown(server);
      rmSync(socket, { force: true });
    },
  };
}
