/** Responds with pages of the press: at once if the page is cached, or else after its render. */
import type { IncomingMessage } from 'node:http';
import type { Accounts } from '../../lib/accounts/service.ts';
import type { RestrictedLevel } from '../../lib/content/model.ts';
import type { Logger } from '../../lib/logging.ts';
import type { CachedPage } from '../../press/cache/cached-page.ts';
import type { AccessCookie } from '../../press/delivery/access-cookie.ts';
import { respondUncached, respondWithPage, responseFromCache, type Source } from '../../press/delivery/respond.ts';
import type { FastPathHeaders, ServeFromCache } from '../../press/fast-path/fast-path.ts';
import { mayRead, type Variant } from '../../press/store/stored-page.ts';
import { giftPage } from '../press/page-keys.ts';
import { notCopiedPage } from './fallback-pages.ts';
import { requestIdHeader } from './request-id.ts';
import { sendPage } from './send.ts';
import type { Exchange, RenewAccess, RenewedAccess, ServerState, StoredPages } from './server-options.ts';

/** Look-ups for one request: a page may be replaced between look-up and response. */
const mostAttempts = 5;

/** The headers that decide which variant of a page a reader gets. */
type ReaderHeaders = Pick<FastPathHeaders, 'cookie' | 'user-agent'>;

/** Responds with a cached page; `false`: there is none, or the response needs an asynchronous call. */
export const answerFromCache = (state: ServerState, exchange: Exchange): boolean =>
  sendIfCached(state, exchange, true) === true;

/**
 * Responds with a cached page, and waits a moment if it is being compressed with the shared dictionary.
 *
 * @returns resolves to whether it has responded
 */
export async function answerFromCacheSoon(state: ServerState, exchange: Exchange): Promise<boolean> {
  let sent = sendIfCached(state, exchange, true);
  if (sent instanceof Promise) {
    await sent;
    sent = exchange.outgoing.destroyed || sendIfCached(state, exchange, false);
  }
  if (sent === true) exchange.hit = true;
  return sent === true;
}

/** @returns a promise where the page is being compressed and the request may wait; nothing is sent then */
function sendIfCached(state: ServerState, exchange: Exchange, mayWait: boolean): boolean | Promise<void> {
  const { method = '', url = '', headers } = exchange.incoming;
  const { pages } = state.options;
  if (!pages || (method !== 'GET' && method !== 'HEAD')) return false;
  const found = cachedPageAt(state, pages, method, url, headers);
  const page = found && pages.press.shown(found, headers.cookie);
  if (page instanceof Promise) return mayWait ? page : false;
  return page !== undefined && sendCached(state, pages, page, exchange, 'hit', mayWait);
}

/** The same for the fast path, which can't wait: where it would have to, it leaves the request to the HTTP server. */
export function serveFromCache(state: ServerState, pages: StoredPages): ServeFromCache {
  const { counts } = state;
  return ({ target, headers }) => {
    const found = cachedPageAt(state, pages, 'GET', target, headers);
    const page = found && pages.press.shown(found, headers.cookie);
    if (page instanceof Promise) return null;
    const response = page ? responseFromCache(page, headers, pages.press) : null;
    if (!response || response instanceof Promise) return null;
    counts.hits++;
    if (response.status === 304) counts.notModified++;
    return response;
  };
}

/** The cached page at an address for this reader. Nearly every request runs this code, so it is synchronous. */
function cachedPageAt(
  { options }: ServerState,
  pages: StoredPages,
  method: string,
  url: string,
  headers: ReaderHeaders,
): CachedPage | undefined {
  if (options.statics.has(url)) return undefined;
  const key = pages.keyOf(method, url);
  if (key.kind !== 'page' || !options.editionReady()) return undefined;
  const { press, access, passes } = pages;
  const page = press.peek(key.key, 'public');
  if (!page || page.page.access === null) return page;
  // DNS has to confirm a client that claims to be a search engine.
  if (options.crawlers && options.crawlers.claims(headers['user-agent']) !== null) return undefined;
  const { cookie } = headers;
  const level = access.levelFor(cookie);
  if (mayRead(page.page.access, level) || passes?.opens(cookie, giftPage(key.key))) {
    const full = press.peekFull(page);
    // If the full page is newer than the public one, it may require a higher level.
    return full?.page.access === page.page.access ? full : undefined;
  }
  // A reader with a session and no access cookie may get one, which takes a call to the accounts.
  return level === null && options.renewAccess !== undefined && hasSession(cookie) ? undefined : page;
}

function sendCached(
  { counts }: ServerState,
  { press }: StoredPages,
  page: CachedPage,
  { incoming, outgoing }: Exchange,
  source: Source,
  mayWait: boolean,
): boolean | Promise<void> {
  // Shared caches store this response, but the id is only for one request.
  if (outgoing.hasHeader(requestIdHeader)) outgoing.removeHeader(requestIdHeader);
  const sent = respondWithPage(page, incoming, outgoing, press, source, mayWait);
  if (sent !== true) return sent;
  if (source === 'hit') counts.hits++;
  if (outgoing.statusCode === 304) counts.notModified++;
  return true;
}

/** Responds with a page that may not be cached yet: it is rendered once, however many requests wait for it. */
export async function answerWithPage(
  state: ServerState,
  pages: StoredPages,
  key: string,
  exchange: Exchange,
): Promise<void> {
  const { options, counts } = state;
  const { press, access: accessCookie, passes } = pages;
  const { incoming, outgoing } = exchange;
  const { cookie } = incoming.headers;
  let level = accessCookie.levelFor(cookie);
  let renewal = level === null ? options.renewAccess : undefined;
  let renewed: readonly string[] = [];
  let source: Source = 'hit';
  let mayWait = true;
  const find = (variant: Variant): CachedPage | Promise<CachedPage> => {
    const page = press.peek(key, variant);
    if (page) return page;
    if (source === 'hit') counts.misses++;
    source = 'rendered';
    exchange.missed = true;
    return press.get(key, variant);
  };
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    let page = await find('public');
    const { access } = page.page;
    if (access !== null && renewal) {
      ({ level, cookies: renewed } = (await renewal(cookie, access)) ?? { level, cookies: [] });
      renewal = undefined;
    }
    outgoing.removeHeader('set-cookie');
    if (access !== null && (await isCrawler(state, incoming))) {
      page = await find('full');
      if (outgoing.destroyed || respondUncached(page, incoming, outgoing, press)) return;
      continue;
    }
    const isGift = access !== null && (passes?.opens(cookie, giftPage(key)) ?? false);
    if (isGift || (access !== null && mayRead(access, level))) {
      const full = await find('full');
      // If the full page is newer than the public one, it may require a higher level, or none.
      if (isGift || full.page.access === null || mayRead(full.page.access, level)) {
        page = full;
        // Only a response that isn't cached may set a cookie.
        if (renewed.length > 0) outgoing.setHeader('set-cookie', renewed);
      }
    }
    if (page.status === 404 && options.copyGate?.isUncertain(key)) return sendNotCopied(state, exchange);
    // The client may have closed the connection during the wait.
    if (outgoing.destroyed) return;
    const shown = press.shown(page, cookie);
    if (shown instanceof Promise) {
      await shown;
      continue;
    }
    const sent = sendCached(state, pages, shown, exchange, source, mayWait);
    if (sent === true) return;
    if (sent === false) continue;
    mayWait = false;
    await sent;
  }
  throw new Error('The page was replaced repeatedly before it could be sent.');
}

/** Whether this is a search engine that may read restricted articles. */
async function isCrawler({ options, addressOf }: ServerState, incoming: IncomingMessage): Promise<boolean> {
  const name = options.crawlers?.claims(incoming.headers['user-agent']) ?? null;
  return name !== null && ((await options.crawlers?.verify(name, addressOf(incoming))) ?? false);
}

/** Responds to a request for a page that the first copy of the archive hasn't reached. */
export function sendNotCopied(state: ServerState, exchange: Exchange): void {
  const { copyGate } = state.options;
  if (!copyGate || exchange.outgoing.destroyed) return;
  const headers = { 'retry-after': String(copyGate.retryAfter()), 'cache-control': 'no-store' };
  sendPage(state, exchange, 503, notCopiedPage, headers);
}

/** Whether a `Cookie` header may contain a session. */
const hasSession = (header: string | undefined): header is string => header?.includes('blaize_session=') ?? false;

const nothingRenewed: RenewedAccess = { level: null, cookies: [] };

/**
 * The access cookie is valid for minutes, the session for weeks. For a reader with a session but no valid access cookie, the
 * accounts are called once, and the page is sent with a new cookie.
 */
export function renewAccess(
  accounts: Pick<Accounts, 'session'>,
  access: Pick<AccessCookie, 'name' | 'verify'>,
  log: Logger,
): RenewAccess {
  const opening = `${access.name}=`;
  async function ask(header: string, needed: RestrictedLevel): Promise<RenewedAccess> {
    try {
      const { session, cookies } = await accounts.session(header, (level) => mayRead(needed, level));
      if (!session) return nothingRenewed;
      const line = cookies.find((cookie) => cookie.startsWith(opening));
      return { level: line ? access.verify(line.slice(opening.length).split(';', 1)[0] ?? '') : null, cookies };
    } catch (error) {
      log.error({ err: error }, "A reader's access couldn't be looked up; the public variant is served");
      return nothingRenewed;
    }
  }
  return (header, needed) => (hasSession(header) ? ask(header, needed) : null);
}
