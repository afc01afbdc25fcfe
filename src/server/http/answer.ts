/** Handles requests that the page cache doesn't: health, files, redirects, operators, pages, and everything that Astro renders. */
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { finished } from 'node:stream/promises';
import { RenderFailed } from '../../press/scheduler/render.server.ts';
import { PressBusy } from '../../press/scheduler/scheduler.server.ts';
import { freshAlways } from '../press/render-page.ts';
import { answerWithPage, sendNotCopied } from './cached-pages.ts';
import { brokenPage, goneForGoodPage, noEditionPage } from './fallback-pages.ts';
import { callMethods, methodsOf, refusedMethod } from './methods.ts';
import { drainLimit, publicAddress, RefusedRequest, renderWhole, toRequest } from './page-renderer.ts';
import { retryAfter, send, sendPage, sendRendered, sendText } from './send.ts';
import type { Exchange, OperatorRoutes, ServerState } from './server-options.ts';
import { answerSound } from './sound.ts';

/** Addresses that work without an edition: API calls, pictures and operators. */
const ungated = /^\/(?:api\/|blaize\/|zephr\/|-\/|image$)/;
const neverAborted = new AbortController().signal;

const isForOperators = (path: string): boolean => path.startsWith('/-/') || path === '/metrics';

/** Whether a body is too long to read and discard, or of unknown length. */
const isLong = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > drainLimit;

/**
 * Refuses a request for a reason other than its body. The body is first read to its end, because a client that sends everything before it
 * reads wouldn't get the response; a long body ends the connection instead. Without a body the response is sent at once.
 */
async function refuse(incoming: IncomingMessage, respond: (headers: OutgoingHttpHeaders) => void): Promise<void> {
  if (isLong(incoming)) return respond({ connection: 'close' });
  if (Number(incoming.headers['content-length'] ?? 0) > 0) await finished(incoming.resume(), { writable: false });
  respond({});
}

/** Responds, or rejects with an error for {@link fail}. */
export async function answer(state: ServerState, exchange: Exchange): Promise<void> {
  const { options } = state;
  const { incoming } = exchange;
  const key = options.pages?.keyOf(incoming.method ?? '', incoming.url ?? '/');
  const url = publicAddress(key?.kind === 'uncached' ? key.target : (incoming.url ?? '/'), options.siteUrl);
  const path = decodeURIComponent(url.pathname);
  const tenantOwns = options.tenant?.owns(url.pathname) ?? false;
  const methods = tenantOwns ? callMethods : methodsOf(key?.kind === 'uncached' ? key.path : path);
  const refused = refusedMethod(incoming.method ?? '', methods);
  if (refused) {
    return refuse(incoming, (headers) =>
      sendText(state, exchange, refused.status, refused.sentence, { ...refused.headers, ...headers }),
    );
  }
  if (path === '/healthz' || path === '/readyz') return sendHealth(state, exchange, url);
  if (sendFile(state, exchange, path)) return;
  if (options.tenant && tenantOwns) {
    // The opener policy is left out, because the last page of a social sign-in needs its reference to the window that opened it.
    const { 'cross-origin-opener-policy': _, ...always } = options.security.always;
    exchange.outgoing.setHeaders(new Map(Object.entries(always)));
    return options.tenant.pass(incoming, exchange.outgoing, url.pathname + url.search, state.addressOf(incoming));
  }
  if (sendFixedText(state, exchange, path) || (await sendEarlierFile(state, exchange, path))) return;
  const operators = isForOperators(path) ? options.operators : undefined;
  if (operators && (await operators.answer(incoming, exchange.outgoing, url, () => readText(incoming, url)))) return;
  if (!ungated.test(path) && !options.editionReady()) {
    const noEdition = { 'retry-after': retryAfter, 'cache-control': 'no-store' };
    return refuse(incoming, (headers) => sendPage(state, exchange, 503, noEditionPage, { ...noEdition, ...headers }));
  }
  if (await answerSound(state, exchange, url)) return;
  if (await answerFromPress(state, exchange)) return;
  return renderForClient(state, exchange, url, operators);
}

const isReading = ({ method }: IncomingMessage): boolean => method === 'GET' || method === 'HEAD';

/** Sends a static file. @returns `false` if there is none at the path */
export function sendFile(state: ServerState, exchange: Exchange, path: string): boolean {
  const { incoming } = exchange;
  const { statics } = state.options;
  const file = isReading(incoming) && statics.has(path) ? statics.answer(path, incoming.headers) : null;
  if (file) send(state, exchange, file.status, file.headers, file.body);
  return file !== null;
}

function sendFixedText(state: ServerState, exchange: Exchange, path: string): boolean {
  const text = isReading(exchange.incoming) ? state.options.fixedTexts?.get(path) : undefined;
  if (text === undefined) return false;
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': freshAlways };
  send(state, exchange, 200, headers, Buffer.from(text));
  return true;
}

async function sendEarlierFile(state: ServerState, exchange: Exchange, path: string): Promise<boolean> {
  const { incoming } = exchange;
  if (!isReading(incoming) || !path.startsWith('/_assets/')) return false;
  const file = await state.options.earlierFile?.(path, incoming.headers);
  if (file) send(state, exchange, file.status, file.headers, file.body);
  return Boolean(file);
}

const readText = async (incoming: IncomingMessage, url: URL): Promise<string> =>
  Buffer.from(await (await toRequest(incoming, url, neverAborted)).arrayBuffer()).toString();

/** Responds where the page key decides: pages, redirects and refusals. @returns `false` for an address that is never cached */
async function answerFromPress(state: ServerState, exchange: Exchange): Promise<boolean> {
  const { pages, copyGate } = state.options;
  const { incoming } = exchange;
  if (!pages) return false;
  const keyNow = () => pages.keyOf(incoming.method ?? '', incoming.url ?? '/');
  let key = keyNow();
  if (key.kind === 'page' && copyGate && !pages.press.peek(key.key, 'public')) {
    const found = await copyGate.fetchMissing(key.key, state.addressOf(incoming));
    if (found === 'later') {
      sendNotCopied(state, exchange);
      return true;
    }
    // The fetched document may have another canonical address.
    if (found === 'arrived') key = keyNow();
  }
  if (key.kind === 'uncached') return false;
  if (key.kind === 'page') await answerWithPage(state, pages, key.key, exchange);
  else if (key.kind === 'redirect') {
    const headers = { location: key.location, 'cache-control': 'public, max-age=3600' };
    send(state, exchange, key.status, headers, Buffer.alloc(0));
  } else if (key.status === 410) {
    sendPage(state, exchange, 410, goneForGoodPage, { 'cache-control': freshAlways });
  } else sendText(state, exchange, key.status, key.why);
  return true;
}

/** Renders the response to this one request with Astro. */
async function renderForClient(
  state: ServerState,
  exchange: Exchange,
  url: URL,
  operators: OperatorRoutes | undefined,
): Promise<void> {
  const { options, addressOf } = state;
  const { incoming, outgoing } = exchange;
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
  if (!outgoing.destroyed) await sendRendered(state, exchange, rendered);
}

function sendHealth(state: ServerState, exchange: Exchange, url: URL): void {
  const { editionReady, missesChanges, isBehind, readiness } = state.options;
  const headers: OutgoingHttpHeaders = { 'content-type': 'application/json', 'cache-control': 'no-store' };
  let status = 200;
  let body: object = { ok: true, seconds: Math.round(process.uptime()) };
  if (url.pathname === '/readyz') {
    const ready = editionReady();
    const details = readiness();
    // `/readyz?serves` accepts a node that is cut off, because an outage of PostgreSQL cuts off all nodes at once.
    const misses = url.searchParams.has('serves') ? isBehind?.() : missesChanges?.();
    // `/readyz?complete` waits for the whole archive.
    if (!ready || misses || (url.searchParams.has('complete') && details.complete !== true)) status = 503;
    body = { ready, ...details };
  }
  if (status === 503) headers['retry-after'] = retryAfter;
  send(state, exchange, status, headers, Buffer.from(`${JSON.stringify(body)}\n`));
}

/** Turns an error into a response, or ends the connection when the response has begun. */
export function fail(state: ServerState, exchange: Exchange, error: unknown): void {
  const { log } = state.options;
  const { incoming, outgoing } = exchange;
  if (outgoing.destroyed) return;
  if (outgoing.headersSent) {
    log.error({ err: error, url: incoming.url }, 'A response broke off');
    outgoing.destroy();
  } else if (error instanceof RenderFailed && error.rendering) {
    // The press has already logged the error; the reader gets the rendered error page.
    const { status, headers, body } = error.rendering;
    const shown = new Headers(headers instanceof Headers ? headers : { ...headers });
    shown.set('cache-control', 'no-store');
    const rendered = { status, headers: shown, body, tags: new Set<string>() };
    sendRendered(state, exchange, rendered).catch(() => outgoing.destroy());
  } else if (error instanceof RefusedRequest) {
    // The server would parse the unread rest of the body as the next request.
    sendText(state, exchange, error.status, error.message, { connection: 'close' });
  } else if (error instanceof PressBusy) {
    const sentence = "We're getting more visitors than we can serve right now. Try again in a few seconds.";
    sendText(state, exchange, 503, sentence, { 'retry-after': retryAfter });
  } else {
    log.error({ err: error, url: incoming.url }, "A page couldn't be rendered");
    sendPage(state, exchange, 500, brokenPage, { 'cache-control': 'no-store' });
  }
}
