/**
 * The HTTP server: cached pages first (fast path, then node:http), everything else in answer.ts. Every response has the security
 * headers.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from '../../lib/logging.ts';
import { attachFastPath } from '../../press/fast-path/fast-path.ts';
import { answer, fail } from './answer.ts';
import { answerFromCache, serveFromCache } from './cached-pages.ts';
import { requestIdHeader, withRequestId } from './request-id.ts';
import { requestKind } from './request-kind.ts';
import type { Exchange, HttpServer, HttpServerOptions, ServerState } from './server-options.ts';
import { trackConnections } from './shutdown.ts';

/** Counters of a server, created before the server if other parts need them. */
export const createServerCounts = (): ServerState['counts'] => ({ hits: 0, notModified: 0, misses: 0, errors: 0 });

/** Creates the server; the caller starts listening, and stops it with `shutDown` (shutdown.ts). */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { pages, timeouts = {}, logsResponses, spans, log } = options;
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
    const exchange: Exchange = { incoming, outgoing };
    if (logsResponses) logResponse(log, exchange);
    if (spans)
      spans(
        exchange,
        (ended) => requestKind(options, ended),
        () => respond(state, exchange),
      );
    else respond(state, exchange);
  });
  // A client that doesn't read its responses would otherwise hold them in memory for as long as it likes. Live streams write a heartbeat
  // every thirty seconds, and a render may take twenty.
  server.timeout = timeouts.inactiveMs ?? 90_000;
  answerBrokenRequests(server, options.security.always);
  // Requests that are logged or recorded go through the server, which knows when a response has been sent.
  if (pages && !logsResponses && !spans) {
    const bounds = { firstMs: server.headersTimeout, idleMs: server.keepAliveTimeout };
    attachFastPath(server, serveFromCache(state, pages), bounds);
  }
  trackConnections(server);
  return Object.assign(server, { counts: state.counts });
}

function respond(state: ServerState, exchange: Exchange): void {
  try {
    if (answerFromCache(state, exchange)) {
      exchange.hit = true;
      return;
    }
  } catch (error) {
    answerUncached(state, exchange, () => Promise.reject(error));
    return;
  }
  const { respond: answerElse = answer, streams } = state.options;
  if (streams?.answer(exchange, state.addressOf(exchange.incoming))) return;
  answerUncached(state, exchange, () => answerElse(state, exchange));
}

/** Answers requests that the cache didn't: with a request id, and measured. */
function answerUncached(state: ServerState, exchange: Exchange, respond: () => Promise<void>): void {
  const { options } = state;
  const { incoming, outgoing } = exchange;
  const began = performance.now();
  const id = options.requestId?.(incoming) ?? randomUUID();
  exchange.requestId = id;
  outgoing.setHeader(requestIdHeader, id);
  outgoing.once('close', () => {
    if (!exchange.forwarded) options.answered?.(requestKind(options, exchange), performance.now() - began);
  });
  void withRequestId(id, () => respond().catch((error: unknown) => fail(state, exchange, error)));
}

function logResponse(log: Logger, exchange: Exchange): void {
  const { incoming, outgoing } = exchange;
  const began = performance.now();
  outgoing.once('close', () => {
    const ms = Math.round(performance.now() - began);
    const { method, url } = incoming;
    log.debug({ method, url, status: outgoing.statusCode, ms, requestId: exchange.requestId }, 'Answered');
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
function answerBrokenRequests(server: Server, always: Readonly<Record<string, string>>): void {
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
    // If a response has started, the client would read a status line as part of its body.
    const answering = (socket as { _httpMessage?: { headersSent?: boolean } })._httpMessage?.headersSent === true;
    if (!socket.writable || answering || error.code === 'ECONNRESET') socket.destroy();
    else end(socket, statuses[error.code ?? ''] ?? 400);
  });
}
