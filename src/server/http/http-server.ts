/**
 * The HTTP server: cached pages first (fast path, then Node's own way), everything else in answer.ts. Security headers go out with
 * every response.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Logger } from '../../lib/logging.ts';
import { attachFastPath } from '../../press/fast-path/fast-path.ts';
import { answer, fail } from './answer.ts';
import { answerBrokenRequests } from './broken-requests.ts';
import { answerFromCache, serveFromCache } from './cached-pages.ts';
import type { HttpServer, HttpServerOptions, ServerState } from './server-options.ts';
import { trackConnections } from './shutdown.ts';

/** Counts of a server; created before it where something else reads them. */
export const createServerCounts = (): ServerState['counts'] => ({ hits: 0, notModified: 0, misses: 0, errors: 0 });

/** Creates the server; the caller lets it listen, and stops it with `shutDown` (shutdown.ts). */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { pages, timeouts = {}, traced, log } = options;
  const state: ServerState = {
    options,
    counts: options.counts ?? createServerCounts(),
    addressOf: options.clientAddress ?? ((incoming) => incoming.socket.remoteAddress ?? 'unknown'),
  };
  const settings = {
    maxHeaderSize: 16 * 1024,
    headersTimeout: timeouts.headersMs ?? 10_000,
    requestTimeout: timeouts.requestMs ?? 30_000,
    connectionsCheckingInterval: timeouts.checkEveryMs ?? 1000,
    keepAliveTimeout: 65_000,
    noDelay: true,
  };
  const server = createServer(settings, (incoming, outgoing) => {
    // The server has ended this connection while the request was on its way; the client sees that, and may ask again.
    if (incoming.socket.writableEnded) return;
    const exchange = { incoming, outgoing };
    if (traced) trace(log, incoming, outgoing);
    try {
      if (answerFromCache(state, exchange)) return;
    } catch (error) {
      fail(state, exchange, error);
      return;
    }
    answer(state, exchange).catch((error: unknown) => fail(state, exchange, error));
  });
  answerBrokenRequests(server, options.security.always);
  // Traced requests go through the server, which knows when a response has been sent.
  if (pages && !traced) {
    const bounds = { firstMs: server.headersTimeout, idleMs: server.keepAliveTimeout };
    attachFastPath(server, serveFromCache(state, pages), bounds);
  }
  trackConnections(server);
  return Object.assign(server, { counts: state.counts });
}

function trace(log: Logger, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const began = performance.now();
  outgoing.once('close', () => {
    const ms = Math.round(performance.now() - began);
    log.debug({ method: incoming.method, url: incoming.url, status: outgoing.statusCode, ms }, 'Answered');
  });
}
