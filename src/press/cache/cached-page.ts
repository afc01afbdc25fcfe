/** A page in memory: header lists, and the bytes of each requested encoding, ready to send. */
import { validateHeaderName, validateHeaderValue } from 'node:http';
import { createBoundedMap } from '../../lib/bounded-map.ts';
import { type Encoding, hashOf } from '../../lib/http/negotiation.server.ts';
import { withTimeLimit } from '../../lib/jobs/tasks.ts';
import { PoolBusy } from '../../lib/workers/pool.server.ts';
import type { KeptBody } from '../fast-path/fast-path.ts';
import {
  type Bodies,
  etagOf,
  nameOf,
  type StoredEncoding,
  type StoredPage,
  storedEncodings,
} from '../store/stored-page.ts';
import { decode, zip } from './compressor.server.ts';
import type { DictionaryCoding, PageDictionary } from './dictionary.server.ts';

/**
 * Response headers of a page; called once for each encoding of a rendering.
 *
 * @param withDictionary whether the bytes can only be read with the shared dictionary
 */
export type HeadersOf = (page: StoredPage, withDictionary?: boolean) => Readonly<Record<string, string>>;

/** A page's response in one encoding. */
export interface EncodedResponse extends KeptBody {
  readonly etag: string;
  /** Names and values alternate, as `writeHead` takes them; the last two values are {@link ageAt} and {@link timingAt}. */
  readonly headers: string[];
  /** The same for a 304. */
  readonly notModified: string[];
  /** Replaces the body of a 304. */
  readonly noBody: KeptBody;
}

/** Positions, from the end of the header lists, of the values that differ from response to response. */
export const ageAt = 3;
export const timingAt = 1;

export interface CachedPage {
  readonly page: StoredPage;
  /** Name of the full variant (stored-page.ts), if there is one. It is created once: V8 would hash a new string for each request. */
  readonly fullName: string | undefined;
  /**
   * The page's fields that a hit needs, copied here: with many pages, following another reference costs a cache miss of the
   * processor.
   */
  readonly status: number;
  readonly build: string;
  /** Unix second of the rendering. */
  readonly second: number;
  /** Reads since they were last written to the store. */
  reads: number;
  /** Whether it was read since eviction last checked it. */
  visited: boolean;
  /** Size in bytes, estimated generously. */
  bytes: number;
  /** The LRU's epoch in which the page was last compared with the store; see `Lru.epoch`. */
  epoch: number;
  /** Number of the latest change that it is known to show; infinite for a page that changes find by tag. */
  current: number;
  /** The encodings that were requested, and the stored one if the store doesn't have it. */
  readonly encoded: Record<Encoding, EncodedResponse | undefined>;
  /** Compressed with the shared dictionary, from the first request for it on. */
  dcb: WithDictionary | undefined;
  dcz: WithDictionary | undefined;
  /** Whether it has places that readers see in different forms (insertions.server.ts); `undefined` until a request needs to know. */
  hasChoices: boolean | undefined;
  /** Shown instead of the page while there is an insertion; for a page with choices, one for each group of readers. */
  shown: ShownPage | ShownPage[] | undefined;
  /** For a page that is shown instead of another: the original page, which is in the LRU. */
  readonly counted: CachedPage | undefined;
}

/** What is shown instead of a page. */
export interface ShownPage {
  /** The insertion in it (insertions.server.ts); `null`: none. */
  readonly of: object | null;
  /** Identifies the forms of its places; equal for groups that get the same bytes. */
  readonly forms: string;
  /** `null`: the original page; a promise: it is being compressed. */
  page: CachedPage | Promise<void> | null;
}

/** `null`: the page isn't sent that way; a promise: it is being compressed, and a reader should wait no longer than for this promise. */
export type WithDictionary = EncodedResponse | null | Promise<void>;

/** Estimated bytes of a cached page's objects, map slots and array headers. */
const overhead = 1200;
const cost = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + text.length + 32, 0);

/** Header values that many pages share are in memory once. */
const shared = createBoundedMap<string>(512);
function share(value: string): { readonly value: string; readonly cost: number } {
  const known = shared.get(value);
  if (known !== undefined) return { value: known, cost: 0 };
  if (value.length <= 2048) shared.set(value, value);
  return { value, cost: value.length + 32 };
}

/**
 * Creates the in-memory form of a page.
 *
 * @param bodies those of its bytes that are known
 * @param counted the page in whose place this is shown
 */
export function createCachedPage(
  page: StoredPage,
  headersOf: HeadersOf,
  bodies: Bodies,
  epoch = 0,
  counted?: CachedPage,
): CachedPage {
  const cached: CachedPage = {
    page,
    fullName: page.access === null ? undefined : nameOf(page.key, 'full'),
    status: page.status,
    build: page.build,
    second: Math.floor(page.renderedAt / 1000),
    reads: 0,
    visited: false,
    bytes: 0,
    epoch,
    current: page.asOf ?? Number.POSITIVE_INFINITY,
    encoded: { br: undefined, gzip: undefined, identity: undefined },
    dcb: undefined,
    dcz: undefined,
    hasChoices: undefined,
    shown: undefined,
    counted,
  };
  cached.bytes = overhead + cost(page.tags) + page.key.length * 3;
  for (const encoding of storedEncodings) {
    const body = bodies[encoding];
    if (body) cached.encoded[encoding] = respondIn(cached, encoding, body, headersOf);
  }
  return cached;
}

/** The bytes of a page's stored encoding; `undefined` when this rendering is no longer stored. */
export type Load = (page: StoredPage, encoding: StoredEncoding) => Buffer | undefined;

/** Whether a page is worth compressing: its bytes are then stored as brotli. */
export const isCompressed = ({ etags }: StoredPage): boolean => etags.br !== undefined;

/** The first accepted encoding; a page that isn't worth compressing is sent uncompressed. */
export const chooseEncoding = (page: StoredPage, [first = 'identity']: readonly Encoding[]): Encoding =>
  isCompressed(page) ? first : 'identity';

/** The stored bytes of a page, from memory if they are there. */
export const storedBytes = ({ page, encoded }: CachedPage, load: Load): Buffer | undefined => {
  const encoding = isCompressed(page) ? 'br' : 'identity';
  return encoded[encoding]?.body ?? load(page, encoding);
};

/**
 * The response in one encoding, created at the first request for it. Nearly every browser asks for brotli, which is stored; gzip takes a
 * millisecond to make.
 *
 * @returns `undefined` if the bytes are gone: look the page up again
 */
export function encodedIn(
  cached: CachedPage,
  encoding: Encoding,
  headersOf: HeadersOf,
  load: Load,
): EncodedResponse | undefined {
  const made = cached.encoded[encoding];
  if (made) return made;
  const stored = storedBytes(cached, load);
  if (!stored) return undefined;
  const body = encoding === 'br' || !isCompressed(cached.page) ? stored : decode(stored);
  const response = respondIn(cached, encoding, encoding === 'gzip' ? zip(body) : body, headersOf);
  cached.encoded[encoding] = response;
  return response;
}

/** A page is sent with the dictionary only if that reduces its bytes to less than this share. */
const worthwhile = 0.85;

/** Whether the dictionary may be used for a page: it is only for HTML documents, and a tiny body isn't compressed. */
const isForDictionary = (page: StoredPage): boolean =>
  page.status === 200 && isCompressed(page) && (page.headers['content-type'] ?? '').startsWith('text/html');

/** Milliseconds until a page is tried again after too many pages were waiting for compression. */
const busyMs = 1000;

/**
 * Starts compressing a page with the shared dictionary, at the first request for it: most pages are never requested by a browser that has
 * the dictionary. The response is then stored in the page's field for the coding.
 *
 * @param keep runs the given function, and counts the bytes by which the page grows
 */
export function startWithDictionary(
  dictionary: PageDictionary,
  coding: DictionaryCoding,
  cached: CachedPage,
  headersOf: HeadersOf,
  load: Load,
  keep: (make: () => EncodedResponse) => EncodedResponse,
): WithDictionary {
  if (!isForDictionary(cached.page)) {
    cached[coding] = null;
    return null;
  }
  const stored = storedBytes(cached, load);
  // This rendering is no longer stored; the look-up for the usual encodings will notice that.
  if (stored === undefined) return null;
  const most = stored.byteLength * worthwhile;
  const made = dictionary
    .compress(stored, coding)
    .then((body) => {
      cached[coding] = body.byteLength < most ? keep(() => respondIn(cached, coding, body, headersOf)) : null;
    })
    .catch((error: unknown) => {
      // Another try would fail again or, if too many are waiting, add to the queue.
      cached[coding] = null;
      if (!(error instanceof PoolBusy)) return;
      setTimeout(() => {
        cached[coding] = undefined;
      }, busyMs).unref();
    });
  const waited = withTimeLimit(dictionary.mostWaitMs, made, () => {});
  cached[coding] = waited;
  return waited;
}

const noBytes = Buffer.alloc(0);

function respondIn(
  cached: CachedPage,
  encoding: Encoding | DictionaryCoding,
  body: Buffer,
  headersOf: HeadersOf,
): EncodedResponse {
  const { page } = cached;
  const withDictionary = encoding === 'dcb' || encoding === 'dcz';
  const etag = withDictionary
    ? `"${hashOf(body)}-${encoding}"`
    : (encoding !== 'gzip' && page.etags[encoding]) || etagOf(body, encoding);
  const fixed: string[] = [];
  const always: string[] = [];
  let vary = 'Accept-Encoding';
  let texts = 0;
  for (const [name, value] of Object.entries(headersOf(page, withDictionary))) {
    if (name === 'vary') {
      vary = value.toLowerCase().includes('accept-encoding') ? value : `${value}, Accept-Encoding`;
      continue;
    }
    const one = share(value);
    texts += one.cost;
    // Headers that describe a body don't belong to a 304.
    (/^content-(?:type|language|location|disposition)$/.test(name) ? fixed : always).push(name, one.value);
  }
  always.push('vary', vary, 'etag', etag);
  const moving = ['age', '0', 'server-timing', ''];
  const headers = [...fixed, ...always];
  // Validated once here, so that responses need no validation.
  for (let at = 0; at < headers.length; at += 2) {
    validateHeaderName(headers[at] ?? '');
    validateHeaderValue(headers[at] ?? '', headers[at + 1] ?? '');
  }
  if (encoding !== 'identity') headers.push('content-encoding', encoding);
  headers.push('content-length', String(body.byteLength), ...moving);
  const notModified = [...always, ...moving];
  const noBody: KeptBody = { body: noBytes, whole: null };
  const response: EncodedResponse = { etag, body, whole: null, headers, notModified, noBody };
  // Once the fast path has sent a status, the response head for it stays in memory.
  const head = headers.reduce((sum, text) => sum + text.length + 2, 0);
  cached.bytes += body.byteLength + 2 * head + texts + 8 * (headers.length + notModified.length) + 300;
  return response;
}
