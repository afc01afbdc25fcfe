/** A page as it lies ready in memory: header lists and bytes of each encoding that was asked for. */
import { validateHeaderName, validateHeaderValue } from 'node:http';
import { type Bodies, type Encoding, encodings, hashOf, nameOf, type StoredPage } from '../store/stored-page.ts';
import { createRecent } from './bounded-map.ts';
import { decode } from './compression.ts';

/** The headers that go out with a page, whatever its encoding; made once for each rendering. */
export type Dress = (page: StoredPage) => Readonly<Record<string, string>>;

/** One encoding, ready to send. */
export interface Ready {
  readonly etag: string;
  /**
   * The bytes, up to {@link longestText} of them as Latin-1 text: Node sends head and text in one piece, but head and buffer
   * in two, which costs a sixth more of the whole answer. `end(body, 'latin1')` is right for both.
   */
  readonly body: Buffer | string;
  /** Names and values by turns, as `writeHead` takes them; the last two values are {@link ageAt} and {@link timingAt}. */
  readonly headers: string[];
  /** The same for a 304. */
  readonly notModified: string[];
}

/** Longer bodies stay buffers: text is copied once more on its way to the socket. */
const longestText = 64 * 1024;

/** The bytes of a body as it lies ready. */
export const bytesOf = ({ body }: Ready): Buffer => (typeof body === 'string' ? Buffer.from(body, 'latin1') : body);

/** Where, counted from the end of the header lists, the values stand that differ from answer to answer. */
export const ageAt = 3;
export const timingAt = 1;

export interface Entry {
  readonly page: StoredPage;
  /** Name of the full variant (stored-page.ts) where there is one, made once: a string made for each request is hashed each time. */
  readonly fullName: string | undefined;
  /** What a hit needs of the page, so that it need not be touched: among many pages every object is a miss of the cache. */
  readonly status: number;
  readonly build: string;
  /** Unix second of the rendering. */
  readonly second: number;
  /** Reads since they were last written to the store. */
  reads: number;
  /** Whether it was read since eviction last looked at it. */
  visited: boolean;
  /** Bytes that it takes, an estimate that errs upwards. */
  bytes: number;
  /** Which look at the store found it current; see `Memory.epoch`. */
  epoch: number;
  /** Number of the latest change that it is known to show; endless for a page that changes find by themselves. */
  current: number;
  /** The encodings that were asked for, or all of them where the store does not hold them. */
  readonly ready: Record<Encoding, Ready | undefined>;
}

/** Objects, map slots and array headers of one entry. */
const overhead = 1200;
const cost = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + text.length + 32, 0);

/** Header values that many pages have; they lie in memory once. */
const shared = createRecent<string>(512);
function share(value: string): { readonly value: string; readonly cost: number } {
  const known = shared.get(value);
  if (known !== undefined) return { value: known, cost: 0 };
  if (value.length <= 2048) shared.set(value, value);
  return { value, cost: value.length + 32 };
}

/** Puts a page into memory form. @param bodies what of its bytes is at hand */
export function createEntry(page: StoredPage, dress: Dress, bodies: Bodies, epoch = 0): Entry {
  const entry: Entry = {
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
    ready: { br: undefined, gzip: undefined, identity: undefined },
  };
  entry.bytes = overhead + cost(page.tags) + page.key.length * 3;
  for (const encoding of encodings) {
    const body = bodies[encoding];
    if (body) addReady(entry, encoding, body, dress);
  }
  return entry;
}

/** Which of the wanted encodings the page is kept in; identity can always be had. */
export function chooseEncoding(page: StoredPage, wanted: readonly Encoding[]): Encoding {
  for (const encoding of wanted) {
    if (encoding === 'identity' || page.etags[encoding] !== undefined) return encoding;
  }
  return 'identity';
}

/**
 * One encoding of an entry, made ready on the first demand.
 *
 * @param load the store's bytes of one encoding; `undefined` when this rendering is no longer there
 * @returns `undefined` when the bytes cannot be had: the page must be looked up anew
 */
export function readyIn(
  entry: Entry,
  encoding: Encoding,
  dress: Dress,
  load: (page: StoredPage, encoding: Encoding) => Buffer | undefined,
): Ready | undefined {
  const made = entry.ready[encoding];
  if (made) return made;
  const { page } = entry;
  if (page.etags[encoding] !== undefined) {
    const body = load(page, encoding);
    return body && addReady(entry, encoding, body, dress);
  }
  if (encoding !== 'identity') return undefined;
  const zipped = entry.ready.gzip ? bytesOf(entry.ready.gzip) : load(page, 'gzip');
  return zipped && addReady(entry, 'identity', decode(zipped), dress);
}

function addReady(entry: Entry, encoding: Encoding, body: Buffer, dress: Dress): Ready {
  const { page } = entry;
  const etag = page.etags[encoding] ?? `"${hashOf(body)}"`;
  const fixed: string[] = [];
  const always: string[] = [];
  let vary = 'Accept-Encoding';
  let texts = 0;
  for (const [name, value] of Object.entries(dress(page))) {
    if (name === 'vary') {
      vary = value.toLowerCase().includes('accept-encoding') ? value : `${value}, Accept-Encoding`;
      continue;
    }
    const one = share(value);
    texts += one.cost;
    // What describes the bytes does not belong to an answer without any.
    (/^content-(?:type|language|location|disposition)$/.test(name) ? fixed : always).push(name, one.value);
  }
  always.push('vary', vary, 'etag', etag);
  const moving = ['age', '0', 'server-timing', ''];
  const headers = [...fixed, ...always];
  // Checked here, once: what is sent from then on is sent as it is.
  for (let at = 0; at < headers.length; at += 2) {
    validateHeaderName(headers[at] ?? '');
    validateHeaderValue(headers[at] ?? '', headers[at + 1] ?? '');
  }
  if (encoding !== 'identity') headers.push('content-encoding', encoding);
  headers.push('content-length', String(body.byteLength), ...moving);
  const sent = body.byteLength <= longestText ? body.toString('latin1') : body;
  const ready: Ready = { etag, body: sent, headers, notModified: [...always, ...moving] };
  entry.ready[encoding] = ready;
  entry.bytes += body.byteLength + texts + 8 * (headers.length + ready.notModified.length) + 300;
  return ready;
}
