/** Sends a page of the press over HTTP. This is the hot path: nothing is created here that could have been created before. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createBoundedMap } from '../../lib/bounded-map.ts';
import { acceptedEncodings, longestKept, matchesEtag, qualitiesOf } from '../../lib/http/negotiation.server.ts';
import { ageAt, type CachedPage, type EncodedResponse, timingAt } from '../cache/cached-page.ts';
import type { DictionaryCoding } from '../cache/dictionary.server.ts';
import { type CachedResponse, type FastPathHeaders, secondNow } from '../fast-path/fast-path.ts';
import type { Press } from '../press.server.ts';

/** Where a page came from, for `Server-Timing`. */
export type Source = 'hit' | 'rendered';

/** Makes the responses of a page. */
export type Encoder = Pick<Press, 'encoded' | 'withDictionary'>;

const timings: Readonly<Record<Source, string>> = { hit: 'press;desc="hit"', rendered: 'press;desc="rendered"' };

/** Ages as text; most pages are requested again within the hour. */
const ageTexts = Array.from({ length: 3600 }, (_, age) => String(age));

/** Reused by every response: one object less per request. */
const response: { -readonly [name in keyof CachedResponse]: CachedResponse[name] } & { headers: string[] } = {
  status: 200,
  headers: [],
  body: null,
  second: 0,
  kept: { body: Buffer.alloc(0), whole: null },
};

/**
 * The response to a request for a page: 304 when the browser has the same bytes, otherwise the best encoding that it accepts. The
 * returned object is reused for the next request.
 *
 * @param mayWait whether the caller can wait for a page that is being compressed; otherwise it is sent without the dictionary
 * @returns `null` if the rendering has just been replaced: look the page up again; a promise: look it up again when the promise
 *   resolves, and don't wait a second time
 */
export function responseFromCache(
  page: CachedPage,
  headers: FastPathHeaders,
  encoder: Encoder,
  source: Source,
  mayWait: false,
): CachedResponse | null;
export function responseFromCache(
  page: CachedPage,
  headers: FastPathHeaders,
  encoder: Encoder,
  source?: Source,
  mayWait?: boolean,
): CachedResponse | Promise<void> | null;
export function responseFromCache(
  page: CachedPage,
  headers: FastPathHeaders,
  encoder: Encoder,
  source: Source = 'hit',
  mayWait = true,
): CachedResponse | Promise<void> | null {
  const encoded = encodedFor(page, headers, encoder, mayWait);
  if (!encoded) return null;
  if (encoded instanceof Promise) return encoded;
  const unchanged = page.status === 200 && matchesEtag(headers['if-none-match'], encoded.etag);
  const list = unchanged ? encoded.notModified : encoded.headers;
  const now = secondNow();
  const age = Math.max(0, now - page.second);
  list[list.length - ageAt] = ageTexts[age] ?? String(age);
  list[list.length - timingAt] = timings[source];
  response.status = unchanged ? 304 : page.status;
  response.headers = list;
  response.body = unchanged ? null : encoded.body;
  response.second = now;
  response.kept = unchanged ? encoded.noBody : encoded;
  return response;
}

/** The response in the encoding that suits the browser best. */
function encodedFor(
  page: CachedPage,
  headers: FastPathHeaders,
  { encoded, withDictionary }: Encoder,
  mayWait: boolean,
): EncodedResponse | Promise<void> | undefined {
  const accepted = headers['accept-encoding'];
  const available = headers['available-dictionary'];
  const wanted = acceptedEncodings(accepted);
  const coding = available === undefined ? null : dictionaryCoding(accepted);
  if (available === undefined || coding === null) return encoded(page, wanted);
  // A browser that fetched the page before the dictionary keeps its copy.
  const { br } = page.page.etags;
  if (br !== undefined && wanted[0] === 'br' && matchesEtag(headers['if-none-match'], br)) return encoded(page, wanted);
  const small = withDictionary(page, available, coding);
  if (small === null) return encoded(page, wanted);
  if (!(small instanceof Promise)) return small;
  return mayWait ? small : encoded(page, wanted);
}

function send(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { status, body }: CachedResponse,
  headers: string[],
) {
  // Node copies the list before it returns, so that it can be reused.
  outgoing.writeHead(status, headers);
  if (body === null || incoming.method === 'HEAD') outgoing.end();
  else outgoing.end(body);
}

/**
 * Responds to GET and HEAD with a page.
 *
 * @param mayWait as in {@link responseFromCache}
 * @returns whether it was sent; `false` and a promise: as in {@link responseFromCache}
 */
export function respondWithPage(
  page: CachedPage,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  encoder: Encoder,
  source: Source = 'hit',
  mayWait = true,
): boolean | Promise<void> {
  const sent = responseFromCache(page, incoming.headers as FastPathHeaders, encoder, source, mayWait);
  if (!sent) return false;
  if (sent instanceof Promise) return sent;
  send(incoming, outgoing, sent, sent.headers as string[]);
  return true;
}

/**
 * Responds with a page that only this client may get and that no cache may store: always whole, without validators.
 *
 * @returns `false` without sending anything if the rendering has just been replaced: look the page up again
 */
export function respondUncached(
  page: CachedPage,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  encoder: Encoder,
): boolean {
  const encoding = incoming.headers['accept-encoding'];
  const accepted = encoding === undefined ? undefined : String(encoding);
  // Without `Available-Dictionary` there is nothing to wait for.
  const sent = responseFromCache(page, { 'accept-encoding': accepted }, encoder, 'hit', false);
  if (!sent) return false;
  const headers: string[] = [];
  for (let at = 0; at < sent.headers.length; at += 2) {
    const [name = '', value = ''] = sent.headers.slice(at, at + 2);
    if (name === 'etag' || name === 'last-modified') continue;
    headers.push(name, name === 'cache-control' ? 'private, no-store' : value);
  }
  send(incoming, outgoing, sent, headers);
  return true;
}

const knownForDictionary = createBoundedMap<DictionaryCoding | null>(256);

/**
 * The dictionary coding that an `Accept-Encoding` header names (RFC 9842); it is accepted only if the browser also has the dictionary. With
 * equal preferences it is `dcb`, which is smaller.
 */
function dictionaryCoding(header: string | undefined): DictionaryCoding | null {
  if (header === undefined) return null;
  let coding = knownForDictionary.get(header);
  if (coding === undefined) {
    const qualities = qualitiesOf(header);
    const [dcb, dcz] = [qualities.get('dcb') ?? 0, qualities.get('dcz') ?? 0];
    if (dcb === 0 && dcz === 0) coding = null;
    else coding = dcb >= dcz ? 'dcb' : 'dcz';
    if (header.length <= longestKept) knownForDictionary.set(header, coding);
  }
  return coding;
}
