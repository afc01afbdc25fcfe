/** Renders a Node request to a complete response, which the HTTP server can send and the page store can store. */
import type { IncomingMessage } from 'node:http';
import { pathToFileURL } from 'node:url';
import { unsubscribePath } from '../../lib/newsletters/schema.ts';
import { exchange, type PageHandler, type PageResponse } from '../../press/fast-path/in-memory-http.ts';

/**
 * Renders one address. An unknown address becomes the 404 page, and an error the 500 page; both get `locals`.
 *
 * @param bare an unknown address becomes a 404 without a body
 */
export type RenderPage = (
  request: Request,
  locals: App.Locals,
  clientAddress: string,
  bare?: boolean,
) => Promise<PageResponse>;

/** Address of the 404 page. */
export const missingPath = '/404';

/** A response with the tags of the content that it shows. */
export interface Rendered extends PageResponse {
  readonly tags: ReadonlySet<string>;
}

/** Largest accepted request body, bytes. */
const bodyLimit = 1024 * 1024;
/**
 * Largest body of a refused request that is read to its end and discarded: a browser that is cut off while it sends shows a connection
 * error instead of the response.
 */
export const drainLimit = 8 * bodyLimit;

/** A request that is refused before anything is rendered. */
export class RefusedRequest extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'RefusedRequest';
    this.status = status;
  }
}

/** Loads the built pages. */
export async function loadPages(entry: string): Promise<RenderPage> {
  const { handler } = (await import(pathToFileURL(entry).href)) as { handler: PageHandler };
  return async (request, locals, clientAddress, bare = false) => {
    const payload = request.body ? Buffer.from(await request.arrayBuffer()) : undefined;
    const answer = await dispatch(handler, request, payload, locals, clientAddress);
    if (answer) return answer;
    if (bare) return { status: 404, headers: new Headers(), body: Buffer.alloc(0) };
    // Without a route the handler calls `next` without the locals, which the 404 page needs for its header.
    const missing = new Request(new URL(missingPath, request.url));
    return (await dispatch(handler, missing, undefined, locals, clientAddress)) ?? notFound();
  };
}

/**
 * Mail programs that unsubscribe by one click (RFC 8058) post a form without an origin, which Astro refuses as another site's form.
 * Only the token authorizes this request, so it is given our own origin.
 */
const oneClick = ({ method, headers }: Request, { pathname, origin }: URL): Readonly<Record<string, string>> =>
  method === 'POST' && pathname === unsubscribePath && !headers.has('origin') ? { origin } : {};

const notFound = (): PageResponse => ({
  status: 404,
  headers: new Headers({ 'content-type': 'text/plain;charset=UTF-8' }),
  body: Buffer.from('Not found.\n'),
});

/**
 * Calls Astro's handler with a request and a response that exist in memory only, so that a page is rendered the same for a
 * reader and for the press. The address is the one in `request`; the socket and the Host header are ignored.
 *
 * @returns `null` when no route matches, or a route returns a 404 without a body
 */
async function dispatch(
  handler: PageHandler,
  request: Request,
  payload: Buffer | undefined,
  locals: App.Locals,
  clientAddress: string,
): Promise<PageResponse | null> {
  const url = new URL(request.url);
  const headers = { ...Object.fromEntries(request.headers), ...oneClick(request, url) };
  const { method, signal } = request;
  const answer = await exchange(handler, { method, url, headers, payload, clientAddress, signal }, locals);
  // Middleware disables a route by a 404 without a body; readers get the 404 page.
  return answer?.status === 404 && answer.body.byteLength === 0 && method === 'GET' ? null : answer;
}

/**
 * The requested address under the public origin; the Host header and forwarded ones are ignored.
 *
 * @param target the request line's target, e.g. `/article/a?page=2` or, from a proxy, `http://host/article/a`
 * @throws RefusedRequest 400
 */
export function publicAddress(target: string, siteUrl: string): URL {
  let path = target;
  if (!target.startsWith('/')) {
    if (!/^https?:/i.test(target) || !URL.canParse(target)) throw new RefusedRequest(400, 'The address is not valid.');
    const url = new URL(target);
    path = url.pathname + url.search;
  }
  if (!URL.canParse(siteUrl + path)) throw new RefusedRequest(400, 'The address is not valid.');
  const url = new URL(siteUrl + path);
  try {
    decodeURIComponent(url.pathname);
  } catch {
    throw new RefusedRequest(400, 'The address has an invalid escape sequence.');
  }
  return url;
}

/** Headers that say where a request came from; a client's own are not trusted. */
const untrustedHeaders =
  /^(?:host|forwarded|x-forwarded-.*|connection|keep-alive|transfer-encoding|upgrade|expect|te|trailer|:.*)$/;

/** Converts a Node request to a web request; the body is read whole, up to a limit. */
export async function toRequest(incoming: IncomingMessage, url: URL, signal: AbortSignal): Promise<Request> {
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (value === undefined || untrustedHeaders.test(name)) continue;
    for (const one of Array.isArray(value) ? value : [value]) headers.append(name, one);
  }
  headers.set('host', url.host);
  // Length and ETag of a HEAD response are those of the body, which Node.js doesn't send.
  const method = incoming.method === 'HEAD' ? 'GET' : (incoming.method ?? 'GET');
  const body = method === 'GET' ? undefined : await readBody(incoming);
  return new Request(url, { method, headers, signal, ...(body && body.byteLength > 0 && { body }) });
}

async function readBody(incoming: IncomingMessage): Promise<Buffer<ArrayBuffer>> {
  const tooLong = () => new RefusedRequest(413, 'The request is too long.');
  const declared = Number(incoming.headers['content-length'] ?? 0);
  if (declared > drainLimit) throw tooLong();
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    length += chunk.byteLength;
    if (length > drainLimit) throw tooLong();
    if (length > bodyLimit || declared > bodyLimit) chunks.length = 0;
    else chunks.push(chunk);
  }
  if (length > bodyLimit) throw tooLong();
  return Buffer.concat(chunks);
}

/** Renders an address and returns the whole response. */
export async function renderWhole(
  render: RenderPage,
  request: Request,
  locals: App.Locals,
  clientAddress: string,
  bare = false,
): Promise<Rendered> {
  return { ...(await render(request, locals, clientAddress, bare)), tags: locals.content.tags };
}
