/**
 * The HTTP server: health, static files and the gate of the first edition here, everything else rendered by Astro.
 * Security headers go out with every answer.
 */
import { createHash } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Logger } from '../lib/logging.ts';
import { bestEncoding, etagMatches, isCompressible } from './encodings.ts';
import { brokenPage, noEditionPage } from './fallback-pages.ts';
import { publicAddress, RefusedRequest, type Rendered, type RenderPage, renderWhole, toRequest } from './renderer.ts';
import type { SecurityHeaders } from './security.ts';
import type { Statics } from './statics.ts';

export interface FrontOptions {
  /** Public origin, no slash at its end. */
  readonly siteUrl: string;
  readonly statics: Statics;
  readonly security: SecurityHeaders;
  readonly render: RenderPage;
  /** What a request gets as `Astro.locals`. */
  readonly locals: () => App.Locals;
  /** Whether there is an edition to serve. */
  readonly editionReady: () => boolean;
  /** What `/readyz` says beside `ready`. */
  readonly readiness: () => object;
  readonly log: Logger;
  /** Bounds on slow askers, milliseconds. */
  readonly timeouts?: { readonly headersMs?: number; readonly requestMs?: number; readonly checkEveryMs?: number };
}

/** Seconds after which to ask again while there is no edition. */
const retryAfter = '5';
const freshAlways = 'public, max-age=0, must-revalidate';
/** What is answered without an edition: machines' calls and pictures; their routes know what they can do. */
const ungated = /^\/(?:api\/|image$)/;

const brotli = promisify(brotliCompress);
const gz = promisify(gzip);

/** Makes the server; the caller lets it listen, and stops it with `shutDown` (shutdown.ts). */
export function createFront(options: FrontOptions): Server {
  const { security, log, statics } = options;

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const url = publicAddress(incoming.url ?? '/', options.siteUrl);
    const path = decodeURIComponent(url.pathname);
    const reading = incoming.method === 'GET' || incoming.method === 'HEAD';

    if (path === '/healthz' || path === '/readyz') return health(path, incoming, outgoing);
    if (statics.has(path)) {
      if (!reading) return plain(outgoing, 405, 'This address is only for reading.', { allow: 'GET, HEAD' });
      const file = statics.answer(path, incoming.headers);
      if (file) return send(incoming, outgoing, file.status, file.headers, file.body);
    }
    if (!ungated.test(path) && !options.editionReady()) {
      return sendPage(incoming, outgoing, 503, noEditionPage, {
        'retry-after': retryAfter,
        'cache-control': 'no-store',
      });
    }

    const hangUp = new AbortController();
    outgoing.once('close', () => {
      if (!outgoing.writableEnded) hangUp.abort();
    });
    const request = await toRequest(incoming, url, hangUp.signal);
    const rendered = await renderWhole(
      options.render,
      request,
      options.locals(),
      incoming.socket.remoteAddress ?? 'unknown',
    );
    if (!outgoing.destroyed) await sendRendered(incoming, outgoing, rendered);
  }

  function health(path: string, incoming: IncomingMessage, outgoing: ServerResponse): void {
    const ready = options.editionReady();
    const status = path === '/healthz' || ready ? 200 : 503;
    const state =
      path === '/healthz' ? { ok: true, seconds: Math.round(process.uptime()) } : { ready, ...options.readiness() };
    const headers: OutgoingHttpHeaders = { 'content-type': 'application/json', 'cache-control': 'no-store' };
    if (status === 503) headers['retry-after'] = retryAfter;
    send(incoming, outgoing, status, headers, Buffer.from(`${JSON.stringify(state)}\n`));
  }

  async function sendRendered(incoming: IncomingMessage, outgoing: ServerResponse, rendered: Rendered): Promise<void> {
    const headers: OutgoingHttpHeaders = {};
    for (const [name, value] of rendered.headers) if (name !== 'set-cookie') headers[name] = value;
    const cookies = rendered.headers.getSetCookie();
    if (cookies.length > 0) headers['set-cookie'] = cookies;

    const type = String(headers['content-type'] ?? '');
    const html = type.startsWith('text/html');
    const policy = rendered.headers.get('content-security-policy');
    headers['content-security-policy'] = html ? security.page(policy) : (policy ?? security.other);
    headers['cache-control'] ??=
      rendered.status >= 500 || cookies.length > 0 || incoming.method === 'POST' ? 'no-store' : freshAlways;

    let body = rendered.body;
    if (isCompressible(type) && headers['content-encoding'] === undefined) {
      headers.vary = headers.vary ? `${headers.vary}, Accept-Encoding` : 'Accept-Encoding';
      if (
        rendered.status === 200 &&
        headers.etag === undefined &&
        !/no-store|private/.test(String(headers['cache-control']))
      ) {
        // Weak: the same page, whichever way it is compressed.
        headers.etag = `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
      }
      const encoding = body.byteLength > 1024 ? bestEncoding(incoming.headers['accept-encoding']) : null;
      if (encoding && !etagMatches(incoming.headers['if-none-match'], String(headers.etag ?? ''))) {
        headers['content-encoding'] = encoding;
        body =
          encoding === 'br'
            ? await brotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } })
            : await gz(body, { level: 5 });
      }
    }
    if (
      rendered.status === 200 &&
      headers.etag &&
      etagMatches(incoming.headers['if-none-match'], String(headers.etag))
    ) {
      delete headers['content-encoding'];
      delete headers['content-length'];
      return send(incoming, outgoing, 304, headers, null);
    }
    headers['content-length'] = body.byteLength;
    send(incoming, outgoing, rendered.status, headers, body);
  }

  function sendPage(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    status: number,
    html: string,
    headers: OutgoingHttpHeaders,
  ): void {
    const policy = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': security.page(null) };
    send(incoming, outgoing, status, { ...policy, ...headers }, Buffer.from(html));
  }

  function plain(outgoing: ServerResponse, status: number, sentence: string, headers: OutgoingHttpHeaders = {}): void {
    outgoing.writeHead(status, {
      ...security.always,
      'content-security-policy': security.other,
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
      ...headers,
    });
    outgoing.end(`${sentence}\n`);
  }

  function send(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    status: number,
    headers: OutgoingHttpHeaders,
    body: Buffer | null,
  ): void {
    const all: OutgoingHttpHeaders = { 'content-security-policy': security.other, ...headers, ...security.always };
    if (body && all['content-length'] === undefined) all['content-length'] = body.byteLength;
    outgoing.writeHead(status, all);
    outgoing.end(incoming.method === 'HEAD' || body === null ? undefined : body);
  }

  /** Whatever went wrong becomes an answer, or the end of the connection when an answer has begun. */
  function fail(error: unknown, incoming: IncomingMessage, outgoing: ServerResponse): void {
    if (outgoing.destroyed) return;
    if (outgoing.headersSent) {
      log.error({ err: error, url: incoming.url }, 'An answer broke off');
      outgoing.destroy();
    } else if (error instanceof RefusedRequest) {
      // What was not read of the request would be taken for the next one.
      plain(outgoing, error.status, error.message, { connection: 'close' });
    } else {
      log.error({ err: error, url: incoming.url }, 'A page could not be rendered');
      sendPage(incoming, outgoing, 500, brokenPage, { 'cache-control': 'no-store' });
    }
  }

  const server = createServer(
    {
      maxHeaderSize: 16 * 1024,
      headersTimeout: options.timeouts?.headersMs ?? 10_000,
      requestTimeout: options.timeouts?.requestMs ?? 30_000,
      connectionsCheckingInterval: options.timeouts?.checkEveryMs ?? 1000,
      keepAliveTimeout: 65_000,
      noDelay: true,
    },
    (incoming, outgoing) => {
      const began = performance.now();
      outgoing.once('close', () => {
        const ms = Math.round(performance.now() - began);
        log.debug({ method: incoming.method, url: incoming.url, status: outgoing.statusCode, ms }, 'Answered');
      });
      answer(incoming, outgoing).catch((error: unknown) => fail(error, incoming, outgoing));
    },
  );
  return server;
}
