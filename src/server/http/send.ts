/** Sends responses with the headers that every response has. */
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { acceptedEncodings, hashOf, isCompressible, matchesEtag } from '../../lib/http/negotiation.server.ts';
import { freshAlways } from '../press/render-page.ts';
import type { Rendered } from './page-renderer.ts';
import { requestIdHeader } from './request-id.ts';
import type { Exchange, ServerState } from './server-options.ts';

const brotli = promisify(brotliCompress);
const gz = promisify(gzip);

/** `Retry-After`, in seconds, while there is no edition or the server is overloaded. */
export const retryAfter = '5';
/** Smaller bodies aren't compressed. */
const leastCompressed = 1024;
const openerPolicy = 'cross-origin-opener-policy';
const referrerPolicy = 'referrer-policy';

/** Whether caches may store a response and reuse it. */
const isReusable = (cacheControl: unknown): boolean => /^public.*max-age=[1-9]/.test(String(cacheControl));

const isProbe = (url: string | undefined): boolean => /^\/(?:readyz|healthz)(?:\?|$)/.test(url ?? '');

/**
 * A 503 for a readiness probe and a 501 for an unknown method are correct answers, not errors. So is a 503 before the first edition: a
 * proxy gets the page from another process, and a separate metric says that there is no edition.
 */
const isError = (status: number, { url }: IncomingMessage, { editionReady }: ServerState['options']): boolean =>
  status >= 500 && status !== 501 && !isProbe(url) && (status !== 503 || editionReady());

export function send(
  { options, counts }: ServerState,
  { incoming, outgoing }: Exchange,
  status: number,
  headers: OutgoingHttpHeaders,
  body: Buffer | null,
): void {
  const { security } = options;
  const all: OutgoingHttpHeaders = { 'content-security-policy': security.other, ...headers, ...security.always };
  // The last page of a social sign-in needs its reference to the window that opened it.
  if (headers[openerPolicy]) all[openerPolicy] = headers[openerPolicy];
  // Pages whose address is a secret have a stricter policy of their own.
  if (headers[referrerPolicy]) all[referrerPolicy] = headers[referrerPolicy];
  if (isError(status, incoming, options)) counts.errors++;
  if (body && all['content-length'] === undefined) all['content-length'] = body.byteLength;
  if (status < 400 && isReusable(all['cache-control'])) outgoing.removeHeader(requestIdHeader);
  outgoing.writeHead(status, all);
  outgoing.end(incoming.method === 'HEAD' || body === null ? undefined : body);
}

/** Sends an HTML page. */
export function sendPage(
  state: ServerState,
  exchange: Exchange,
  status: number,
  html: string,
  headers: OutgoingHttpHeaders,
): void {
  const own = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': state.options.security.page(null),
    ...state.options.security.reporting,
  };
  send(state, exchange, status, { ...own, ...headers }, Buffer.from(html));
}

/** Sends one sentence as plain text. */
export function sendText(
  state: ServerState,
  exchange: Exchange,
  status: number,
  sentence: string,
  headers: OutgoingHttpHeaders = {},
): void {
  const own = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' };
  send(state, exchange, status, { ...own, ...headers }, Buffer.from(`${sentence}\n`));
}

/** Sends the response of a page or a route, with the security policy, a cache policy and compression. */
export async function sendRendered(state: ServerState, exchange: Exchange, page: Rendered): Promise<void> {
  const { incoming } = exchange;
  const rendered = withInsertion(state, page);
  const headers = headersOf(state, incoming, rendered);
  const type = String(headers['content-type'] ?? '');
  let body = rendered.body;
  if (isCompressible(type) && headers['content-encoding'] === undefined) {
    headers.vary = headers.vary ? `${headers.vary}, Accept-Encoding` : 'Accept-Encoding';
    const cacheable = !/no-store|private/.test(String(headers['cache-control']));
    if (rendered.status === 200 && headers.etag === undefined && cacheable) {
      // The ETag is weak, because it is the same for every encoding of the page.
      headers.etag = `W/"${hashOf(body)}"`;
    }
    if (!isUnchanged(incoming, headers)) body = await compress(incoming, headers, body);
  }
  if (rendered.status === 200 && isUnchanged(incoming, headers)) {
    delete headers['content-encoding'];
    delete headers['content-length'];
    return send(state, exchange, 304, headers, null);
  }
  headers['content-length'] = body.byteLength;
  send(state, exchange, rendered.status, headers, body);
}

/** An HTML page with the insertion that every page shows at present. */
function withInsertion({ options }: ServerState, rendered: Rendered): Rendered {
  const insertion = options.insertion?.() ?? null;
  if (!insertion || !rendered.headers.get('content-type')?.startsWith('text/html')) return rendered;
  const body = insertion.into(rendered.body);
  if (body === null) return rendered;
  const headers = new Headers(rendered.headers);
  const policy = insertion.policy(headers.get('content-security-policy') ?? undefined);
  if (policy !== undefined) headers.set('content-security-policy', policy);
  return { ...rendered, headers, body };
}

function headersOf({ options }: ServerState, incoming: IncomingMessage, rendered: Rendered): OutgoingHttpHeaders {
  const { security } = options;
  const headers: OutgoingHttpHeaders = {};
  for (const [name, value] of rendered.headers) if (name !== 'set-cookie') headers[name] = value;
  const cookies = rendered.headers.getSetCookie();
  if (cookies.length > 0) headers['set-cookie'] = cookies;
  const html = String(headers['content-type'] ?? '').startsWith('text/html');
  const policy = rendered.headers.get('content-security-policy');
  headers['content-security-policy'] = html ? security.page(policy) : (policy ?? security.other);
  if (html) Object.assign(headers, security.reporting);
  // Astro's header names no character set.
  if (headers['content-type'] === 'text/html') headers['content-type'] = 'text/html; charset=utf-8';
  const uncacheable = rendered.status >= 500 || cookies.length > 0 || incoming.method === 'POST';
  headers['cache-control'] ??= uncacheable ? 'no-store' : freshAlways;
  return headers;
}

const isUnchanged = ({ headers }: IncomingMessage, { etag }: OutgoingHttpHeaders): boolean =>
  typeof etag === 'string' && matchesEtag(headers['if-none-match'], etag);

async function compress(incoming: IncomingMessage, headers: OutgoingHttpHeaders, body: Buffer): Promise<Buffer> {
  const [encoding] = acceptedEncodings(incoming.headers['accept-encoding']);
  if (body.byteLength <= leastCompressed || !encoding || encoding === 'identity') return body;
  headers['content-encoding'] = encoding;
  return encoding === 'br' ? brotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }) : gz(body, { level: 5 });
}
