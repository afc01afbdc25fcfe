/**
 * The HTTP server: cached pages first (fast path, then node:http), everything else in answer.ts. Every response has the security
 * headers.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Tenant } from '../../lib/accounts/zephr.server.ts';
import type { WalledLevel } from '../../lib/content/model.ts';
import type { Logger } from '../../lib/logging.ts';
import type { AccessCookie, PassCookie } from '../../press/delivery/access-cookie.ts';
import type { KeyOf } from '../../press/delivery/cache-key.ts';
import { attachFastPath } from '../../press/fast-path/fast-path.ts';
import type { Press } from '../../press/press.server.ts';
import type { ServerCounts } from '../operators/metrics.ts';
import { answer, fail } from './answer.ts';
import { answerFromCache, serveFromCache } from './cached-pages.ts';
import type { CopyGate } from './copy-gate.ts';
import type { Crawlers } from './crawlers.ts';
import type { RenderPage } from './page-renderer.ts';
import type { SecurityHeaders } from './security-headers.ts';
import { trackConnections } from './shutdown.ts';
import type { StaticAnswer, Statics } from './static-files.ts';

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

// What the HTTP server is given, and the state that its parts share.

export interface RenewedAccess {
  /** The reader's access level; `null`: only what is public. */
  readonly level: WalledLevel | null;
  /** Whole `Set-Cookie` values, for responses to this reader only. */
  readonly cookies: readonly string[];
}

/** @param header the request's `Cookie` header. @returns `null` where it holds no session */
export type RenewAccess = (header: string | undefined) => Promise<RenewedAccess> | null;

/** The press as the HTTP server uses it. */
export interface StoredPages {
  readonly press: Pick<Press, 'peek' | 'peekFull' | 'get' | 'encoded' | 'variantFor'>;
  readonly keyOf: KeyOf;
  readonly access: Pick<AccessCookie, 'levelFor'>;
  /** Opens single pages that were given away. */
  readonly passes?: Pick<PassCookie, 'opens'>;
}

/** The routes `/-/…` and `/metrics`. */
export interface OperatorRoutes {
  /** @returns `false` when the address is left to the pages */
  answer(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    url: URL,
    readBody: () => Promise<string>,
  ): Promise<boolean>;
  /** What the operators' page is given; `undefined` for anyone who may not see it. */
  view(incoming: IncomingMessage, url: URL): Promise<App.Locals['operators']>;
}

export interface HttpServerOptions {
  /** Public origin, no slash at its end. */
  readonly siteUrl: string;
  readonly statics: Statics;
  readonly security: SecurityHeaders;
  readonly render: RenderPage;
  /** Stored pages; without them every page is rendered for each reader. */
  readonly pages?: StoredPages;
  readonly operators?: OperatorRoutes | undefined;
  /** Asks the accounts for a new access cookie, for a page whose variant depends on one. */
  readonly renewAccess?: RenewAccess | undefined;
  /** Search engines that may read what is behind the paywall. */
  readonly crawlers?: Crawlers | undefined;
  /** A Zephr tenant that keeps the accounts. */
  readonly tenant?: Pick<Tenant, 'owns' | 'pass'> | undefined;
  /** Network address of the client; that of the connection by default. */
  readonly clientAddress?: (incoming: IncomingMessage) => string;
  /** Files of earlier builds, by their path. */
  readonly earlier?: (pathname: string, headers: IncomingMessage['headers']) => Promise<StaticAnswer | null>;
  /** Fixed texts by path, such as the key file of IndexNow. */
  readonly texts?: ReadonlyMap<string, string>;
  /** Whether every response is logged. */
  readonly traced?: boolean;
  /** What a request gets as `Astro.locals`. */
  readonly locals: () => App.Locals;
  /** Whether there is an edition to serve. */
  readonly editionReady: () => boolean;
  /** What readers get while the archive is being copied. */
  readonly copy?: CopyGate;
  /** What `/readyz` says beside `ready`. */
  readonly readiness: () => Readonly<Record<string, unknown>>;
  readonly log: Logger;
  /** Where responses are counted; counts of its own by default. */
  readonly counts?: ServerState['counts'];
  /** Bounds on slow clients, milliseconds. */
  readonly timeouts?: { readonly headersMs?: number; readonly requestMs?: number; readonly checkEveryMs?: number };
}

export interface HttpServer extends Server {
  readonly counts: ServerCounts;
}

/** State of one server, handed to the functions that answer. */
export interface ServerState {
  readonly options: HttpServerOptions;
  readonly counts: { -readonly [name in keyof ServerCounts]: ServerCounts[name] };
  readonly addressOf: (incoming: IncomingMessage) => string;
}

/** One request and its response. */
export interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}
