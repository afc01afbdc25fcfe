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
import type { Tenant } from '../../lib/accounts/zephr.server.ts';
import type { Logger } from '../../lib/logging.ts';
import type { Entry } from '../../press/cache/cached-page.ts';
import type { AccessCookie } from '../../press/delivery/access-cookie.ts';
import type { KeyOf } from '../../press/delivery/cache-key.ts';
import type { PassCookie } from '../../press/delivery/pass-cookie.ts';
import { answerPage, answerUnkept, parcelOf, type Source } from '../../press/delivery/respond.ts';
import { type AskedHeaders, attachLane, type Serve } from '../../press/fast-path/fast-path.ts';
import type { Press } from '../../press/press.server.ts';
import { RenderFailed } from '../../press/scheduler/render.server.ts';
import { PressBusy } from '../../press/scheduler/scheduler.server.ts';
import type { Variant } from '../../press/store/stored-page.ts';
import type { FrontCounts } from '../operators/metrics.ts';
import { freshAlways } from '../press/render-page.ts';
import { answerBrokenRequests } from './broken-requests.ts';
import { bestEncoding, etagMatches, isCompressible } from './content-encoding.ts';
import type { CopyGate } from './copy-gate.ts';
import type { Crawlers } from './crawlers.ts';
import { brokenPage, goneForGoodPage, noEditionPage, notCopiedPage } from './fallback-pages.ts';
import { callMethods, methodsOf, refusedMethod } from './methods.ts';
import {
  publicAddress,
  RefusedRequest,
  type Rendered,
  type RenderPage,
  renderWhole,
  toRequest,
} from './page-renderer.ts';
import { hasSession, type RenewAccess } from './renew-access.ts';
import type { SecurityHeaders } from './security-headers.ts';
import { trackConnections } from './shutdown.ts';
import type { StaticAnswer, Statics } from './static-files.ts';

/** The press as the front sees it. */
export interface StoredPages {
  readonly press: Pick<Press, 'peek' | 'peekFull' | 'get' | 'ready' | 'variantFor'>;
  readonly keyOf: KeyOf;
  readonly access: Pick<AccessCookie, 'levelFor'>;
  /** Opens single pages that were given away. */
  readonly passes?: Pick<PassCookie, 'opens'>;
}

/** Who answers `/-/…` and `/metrics`. */
export interface OperatorsDoor {
  /** @returns `false` when the address is left to the pages */
  answer(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    url: URL,
    readBody: () => Promise<string>,
  ): Promise<boolean>;
  /** What the operators' page is given; `undefined` for whoever may not see it. */
  view(incoming: IncomingMessage, url: URL): Promise<App.Locals['operators']>;
}

export interface Front extends Server {
  readonly counts: FrontCounts;
}

export interface FrontOptions {
  /** Public origin, no slash at its end. */
  readonly siteUrl: string;
  readonly statics: Statics;
  readonly security: SecurityHeaders;
  readonly render: RenderPage;
  /** Stored pages; without them every page is rendered for each reader. */
  readonly pages?: StoredPages;
  readonly operators?: OperatorsDoor;
  /** Asks the accounts for a new access cookie, for a page whose variant depends on one. */
  readonly renewAccess?: RenewAccess;
  /** Search engines that may read what is behind the wall. */
  readonly crawlers?: Crawlers;
  /** A Zephr tenant that keeps the accounts. */
  readonly tenant?: Pick<Tenant, 'owns' | 'pass'>;
  /** Network address of whoever asks; that of the connection unless given. */
  readonly clientAddress?: (incoming: IncomingMessage) => string;
  /** Files of earlier builds, by their path. */
  readonly earlier?: (pathname: string, headers: IncomingMessage['headers']) => Promise<StaticAnswer | null>;
  /** Fixed texts by path, such as the key file of IndexNow. */
  readonly texts?: ReadonlyMap<string, string>;
  /** Whether every answer is logged. */
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
  /** Bounds on slow askers, milliseconds. */
  readonly timeouts?: { readonly headersMs?: number; readonly requestMs?: number; readonly checkEveryMs?: number };
}

/** Seconds after which to ask again while there is no edition. */
const retryAfter = '5';
/** What is answered without an edition: machines’ calls, pictures and operators; their routes know what they can do. */
const ungated = /^\/(?:api\/|blaize\/|zephr\/|-\/|image$)/;

const brotli = promisify(brotliCompress);
const gz = promisify(gzip);

/** A page may be replaced between finding and sending it; more often than this, something is wrong. */
const mostAttempts = 5;

/** What says which variant of a page a reader may have. */
type ReaderHeaders = Pick<AskedHeaders, 'cookie' | 'user-agent'>;

/** Makes the server; the caller lets it listen, and stops it with `shutDown` (shutdown.ts). */
export function createFront(options: FrontOptions): Front {
  const { security, log, statics, pages } = options;
  const counts = { hits: 0, notModified: 0, misses: 0, errors: 0 };

  const addressOf = options.clientAddress ?? ((incoming) => incoming.socket.remoteAddress ?? 'unknown');

  /** The stored page for this reader, if it is there: the public one, or the whole one for whoever may have it. */
  function stored({ press, access, passes }: StoredPages, key: string, headers: ReaderHeaders): Entry | undefined {
    const entry = press.peek(key, 'public');
    if (!entry || entry.page.access === null) return entry;
    // Who says to be a crawler is looked at, which takes a while.
    if (options.crawlers && options.crawlers.claims(headers['user-agent']) !== null) return undefined;
    const { cookie } = headers;
    const level = access.levelFor(cookie);
    if (press.variantFor(entry.page.access, level) === 'full' || passes?.opens(cookie, key)) {
      return press.peekFull(entry);
    }
    // Whoever has a session and no access cookie may get one: that takes a question.
    return level === null && options.renewAccess !== undefined && hasSession(cookie) ? undefined : entry;
  }

  /** The stored page at an address. This is the way of nearly every request; nothing here waits. */
  function hitAt(door: StoredPages, method: string, url: string, headers: ReaderHeaders): Entry | undefined {
    if (statics.has(url)) return undefined;
    const key = door.keyOf(method, url);
    return key.kind === 'page' && options.editionReady() ? stored(door, key.key, headers) : undefined;
  }

  function answerStored(incoming: IncomingMessage, outgoing: ServerResponse): boolean {
    const { method = '', url = '', headers } = incoming;
    if (!pages || (method !== 'GET' && method !== 'HEAD')) return false;
    const entry = hitAt(pages, method, url, headers);
    return entry !== undefined && sendStored(pages, entry, incoming, outgoing, 'hit');
  }

  /** The same in the express lane. */
  const serveStored =
    (door: StoredPages): Serve =>
    ({ target, headers }) => {
      const entry = hitAt(door, 'GET', target, headers);
      const parcel = entry ? parcelOf(entry, headers, door.press.ready) : null;
      if (!parcel) return null;
      counts.hits++;
      if (parcel.status === 304) counts.notModified++;
      return parcel;
    };

  function sendStored(
    { press }: StoredPages,
    entry: Entry,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    source: Source,
  ): boolean {
    if (!answerPage(entry, incoming, outgoing, press.ready, source)) return false;
    if (source === 'hit') counts.hits++;
    if (outgoing.statusCode === 304) counts.notModified++;
    return true;
  }

  /** Answers with a page that is not stored yet: rendered once, however many wait for it. */
  async function answerRendered(
    door: StoredPages,
    key: string,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
  ): Promise<void> {
    const { cookie } = incoming.headers;
    let level = door.access.levelFor(cookie);
    let renewal = level === null ? options.renewAccess : undefined;
    let renewed: readonly string[] = [];
    let source: Source = 'hit';
    const find = (variant: Variant): Entry | Promise<Entry> => {
      const entry = door.press.peek(key, variant);
      if (!entry && source === 'hit') counts.misses++;
      if (!entry) source = 'rendered';
      return entry ?? door.press.get(key, variant);
    };
    for (let attempt = 0; attempt < mostAttempts; attempt++) {
      let entry = await find('public');
      const { access } = entry.page;
      if (access !== null && renewal) {
        ({ level, cookies: renewed } = (await renewal(cookie)) ?? { level, cookies: [] });
        renewal = undefined;
      }
      outgoing.removeHeader('set-cookie');
      if (access !== null && (await isCrawler(incoming))) {
        entry = await find('full');
        if (outgoing.destroyed || answerUnkept(entry, incoming, outgoing, door.press.ready)) return;
        continue;
      }
      if (door.press.variantFor(access, level) === 'full' || (access !== null && door.passes?.opens(cookie, key))) {
        entry = await find('full');
        // Only what no cache on the way keeps may carry a cookie.
        if (renewed.length > 0) outgoing.setHeader('set-cookie', renewed);
      }
      if (entry.status === 404 && options.copy?.isUncertain(key)) return notCopied(options.copy, incoming, outgoing);
      // Whoever has gone in the meantime needs no answer.
      if (outgoing.destroyed || sendStored(door, entry, incoming, outgoing, source)) return;
    }
    throw new Error('The page was replaced again and again while it was to be sent.');
  }

  /** Whether this is a search engine that may read everything. */
  async function isCrawler(incoming: IncomingMessage): Promise<boolean> {
    const name = options.crawlers?.claims(incoming.headers['user-agent']) ?? null;
    return name !== null && ((await options.crawlers?.verify(name, addressOf(incoming))) ?? false);
  }

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const reading = incoming.method === 'GET' || incoming.method === 'HEAD';
    let key = pages?.keyOf(incoming.method ?? '', incoming.url ?? '/');
    const url = publicAddress(key?.kind === 'pass' ? key.target : (incoming.url ?? '/'), options.siteUrl);
    const path = decodeURIComponent(url.pathname);

    const owned = options.tenant?.owns(url.pathname) ?? false;
    const methods = owned ? callMethods : methodsOf(key?.kind === 'pass' ? key.path : path);
    const refused = refusedMethod(incoming.method ?? '', methods);
    if (refused) return plain(outgoing, refused.status, refused.sentence, { ...refused.headers, ...unread(incoming) });
    if (path === '/healthz' || path === '/readyz') return health(url, incoming, outgoing);
    if (reading && statics.has(path)) {
      const file = statics.answer(path, incoming.headers);
      if (file) return send(incoming, outgoing, file.status, file.headers, file.body);
    }
    if (options.tenant && owned) {
      return options.tenant.pass(incoming, outgoing, url.pathname + url.search, addressOf(incoming));
    }
    const text = reading ? options.texts?.get(path) : undefined;
    if (text !== undefined) {
      const headers = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': freshAlways };
      return send(incoming, outgoing, 200, headers, Buffer.from(text));
    }
    const old = reading && path.startsWith('/_assets/') ? await options.earlier?.(path, incoming.headers) : null;
    if (old) return send(incoming, outgoing, old.status, old.headers, old.body);

    const operators = options.operators && isForOperators(path) ? options.operators : undefined;
    const readText = async () =>
      Buffer.from(await (await toRequest(incoming, url, neverAborted)).arrayBuffer()).toString();
    if (operators && (await operators.answer(incoming, outgoing, url, readText))) return;

    if (!ungated.test(path) && !options.editionReady()) {
      return sendPage(incoming, outgoing, 503, noEditionPage, {
        'retry-after': retryAfter,
        'cache-control': 'no-store',
      });
    }
    if (key?.kind === 'page' && pages && options.copy && !pages.press.peek(key.key, 'public')) {
      const found = await options.copy.arrive(key.key, addressOf(incoming));
      if (found === 'later') return notCopied(options.copy, incoming, outgoing);
      // What has come may have another spelling.
      if (found === 'arrived') key = pages.keyOf(incoming.method ?? '', incoming.url ?? '/');
    }
    if (key?.kind === 'reject') {
      if (key.status === 410)
        return sendPage(incoming, outgoing, 410, goneForGoodPage, { 'cache-control': freshAlways });
      return plain(outgoing, key.status, key.why);
    }
    if (key?.kind === 'redirect') {
      const headers = { location: key.location, 'cache-control': 'public, max-age=3600' };
      return send(incoming, outgoing, key.status, headers, Buffer.alloc(0));
    }
    if (key?.kind === 'page' && pages) return answerRendered(pages, key.key, incoming, outgoing);

    const hangUp = new AbortController();
    outgoing.once('close', () => {
      if (!outgoing.writableEnded) hangUp.abort();
    });
    const request = await toRequest(incoming, url, hangUp.signal);
    const locals = options.locals();
    if (operators) locals.operators = await operators.view(incoming, url);
    const address = addressOf(incoming);
    locals.client = { address, userAgent: incoming.headers['user-agent'] ?? null };
    const rendered = await renderWhole(options.render, request, locals, address);
    if (!outgoing.destroyed) await sendRendered(incoming, outgoing, rendered);
  }

  function notCopied(copy: CopyGate, incoming: IncomingMessage, outgoing: ServerResponse): void {
    if (outgoing.destroyed) return;
    const headers = { 'retry-after': String(copy.retryAfter()), 'cache-control': 'no-store' };
    sendPage(incoming, outgoing, 503, notCopiedPage, headers);
  }

  function health(url: URL, incoming: IncomingMessage, outgoing: ServerResponse): void {
    const lives = url.pathname === '/healthz';
    const ready = options.editionReady();
    const readiness = lives ? {} : options.readiness();
    // `/readyz?complete` is for those who want the whole archive first.
    const asked = ready && (!url.searchParams.has('complete') || readiness.complete === true);
    const status = lives || asked ? 200 : 503;
    const state = lives ? { ok: true, seconds: Math.round(process.uptime()) } : { ready, ...readiness };
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
    if (html) Object.assign(headers, security.reporting);
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
    // The page that a social sign-in ends on has to keep its tie to the window that opened it.
    if (headers[openerPolicy]) all[openerPolicy] = headers[openerPolicy];
    // A probe that is told 503 has been answered as it should be.
    if (status >= 500 && !isProbe(incoming.url)) counts.errors++;
    if (body && all['content-length'] === undefined) all['content-length'] = body.byteLength;
    outgoing.writeHead(status, all);
    outgoing.end(incoming.method === 'HEAD' || body === null ? undefined : body);
  }

  /** Whatever went wrong becomes an answer, or the end of the connection when an answer has begun. */
  function fail(error: unknown, incoming: IncomingMessage, outgoing: ServerResponse): void {
    if (outgoing.destroyed) return;
    if (error instanceof RenderFailed && error.rendering && !outgoing.headersSent) {
      // The press has logged why; the page's own word on it goes to the reader.
      const { status, headers, body } = error.rendering;
      const shown = new Headers(headers instanceof Headers ? headers : { ...headers });
      shown.set('cache-control', 'no-store');
      sendRendered(incoming, outgoing, { status, headers: shown, body, tags: new Set() }).catch(() =>
        outgoing.destroy(),
      );
      return;
    }
    if (outgoing.headersSent) {
      log.error({ err: error, url: incoming.url }, 'An answer broke off');
      outgoing.destroy();
    } else if (error instanceof RefusedRequest) {
      // What was not read of the request would be taken for the next one.
      plain(outgoing, error.status, error.message, { connection: 'close' });
    } else if (error instanceof PressBusy) {
      plain(outgoing, 503, 'Very many readers are here just now; please try again.', { 'retry-after': retryAfter });
    } else {
      log.error({ err: error, url: incoming.url }, 'A page could not be rendered');
      sendPage(incoming, outgoing, 500, brokenPage, { 'cache-control': 'no-store' });
    }
  }

  function trace(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const began = performance.now();
    outgoing.once('close', () => {
      const ms = Math.round(performance.now() - began);
      log.debug({ method: incoming.method, url: incoming.url, status: outgoing.statusCode, ms }, 'Answered');
    });
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
      // The server has ended this connection while the request was on its way; the client sees that, and may ask again.
      if (incoming.socket.writableEnded) return;
      if (options.traced) trace(incoming, outgoing);
      try {
        if (answerStored(incoming, outgoing)) return;
      } catch (error) {
        fail(error, incoming, outgoing);
        return;
      }
      answer(incoming, outgoing).catch((error: unknown) => fail(error, incoming, outgoing));
    },
  );
  answerBrokenRequests(server, security.always);
  // What is traced goes through the server, which knows when an answer has gone out.
  if (pages && !options.traced) {
    attachLane(server, serveStored(pages), { firstMs: server.headersTimeout, idleMs: server.keepAliveTimeout });
  }
  trackConnections(server);
  return Object.assign(server, { counts });
}

/** Bodies up to this length are read past, so that the connection lives on; longer ones end it. */
const longestUnread = 64 * 1024;
/** Headers of an answer to a request whose body was not read. */
const unread = ({ headers }: IncomingMessage): OutgoingHttpHeaders =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > longestUnread
    ? { connection: 'close' }
    : {};
const openerPolicy = 'cross-origin-opener-policy';
const neverAborted = new AbortController().signal;
const isProbe = (url: string | undefined): boolean => /^\/(?:readyz|healthz)(?:\?|$)/.test(url ?? '');
const isForOperators = (path: string): boolean => path.startsWith('/-/') || path === '/metrics';
