/**
 * The HTTP server: cached pages first (fast path, then node:http), everything else in answer.ts. Every response has the security
 * headers.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from '../../lib/logging.ts';
import { attachFastPath } from '../../press/fast-path/fast-path.ts';
import { answer, fail } from './answer.ts';
import { answerFromCache, serveFromCache } from './cached-pages.ts';
import type { HttpServer, HttpServerOptions, ServerState } from './server-options.ts';
import { trackConnections } from './shutdown.ts';

/** Counters of a server; created before it where another part reads them. */
export const createServerCounts = (): ServerState['counts'] => ({ hits: 0, notModified: 0, misses: 0, errors: 0 });

/** Creates the server; the caller starts listening, and stops it with `shutDown` (shutdown.ts). */
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
    // The server closed this connection while the request was in flight; the client sees that and may retry.
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

// Responds to input that never becomes a request: a malformed head, an unknown method, CONNECT.

/** Statuses by the code of Node's error; anything else is 400. */
const statuses: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_INVALID_METHOD: 501,
};

/**
 * Attaches these responses to a server.
 *
 * @param always headers of every response
 */
export function answerBrokenRequests(server: Server, always: Readonly<Record<string, string>>): void {
  const fixed = Object.entries(always).map(([name, value]) => `${name}: ${value}\r\n`);
  const end = (socket: Duplex, status: number, more = ''): void => {
    socket.end(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${fixed.join('')}${more}content-length: 0\r\nconnection: close\r\n\r\n`,
    );
  };
  server.on('connect', (_request, socket) => {
    socket.on('error', () => socket.destroy());
    end(socket, 405, 'allow: GET, HEAD\r\n');
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // The client would read a status line in the middle of a response as part of its body.
    const answering = (socket as { _httpMessage?: { headersSent?: boolean } })._httpMessage?.headersSent === true;
    if (!socket.writable || answering || error.code === 'ECONNRESET') socket.destroy();
    else end(socket, statuses[error.code ?? ''] ?? 400);
  });
}
