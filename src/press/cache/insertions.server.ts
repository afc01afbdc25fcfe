/**
 * An insertion: a few bytes that every page shows for some time, such as an alert. Pages are neither rendered nor stored again for it. At
 * the first request after it began, the stored bytes of a page are decompressed, the insertion is put in, and the result is compressed in
 * the compression thread and kept beside the page in memory. Without an insertion a page costs one comparison.
 */
import type { Logger } from '../../lib/logging.ts';
import type { Encoding, StoredPage } from '../store/stored-page.ts';
import { type CachedPage, createCachedPage, type HeadersOf } from './cached-page.ts';
import { decode, type Encode, type Encoded, encodeNothing } from './compressor.server.ts';

/** What goes into pages, and where. */
export interface Insertion {
  /** Whether a page may show it. Called before its bytes are decompressed. */
  takes(page: StoredPage): boolean;
  /** The whole page with the insertion. @returns `null` for a page that has no place for it */
  into(body: Buffer): Buffer | null;
  /** The content security policy of a page with the insertion. @param rendered the page's own */
  policy(rendered: string | undefined): string | undefined;
}

export interface Insertions {
  /** Replaces the insertion. From the return on, {@link Insertions.shown} gives no page with the one before. @param next `null`: none */
  set(next: Insertion | null): void;
  /**
   * What readers get for a page.
   *
   * @returns a promise while the page is being compressed: call it again when it resolves
   */
  shown(page: CachedPage): CachedPage | Promise<void>;
}

export interface InsertionsOptions {
  readonly encode: Encode;
  readonly headersOf: HeadersOf;
  /** Bytes of a stored page; `undefined` when this rendering is no longer stored. */
  readonly load: (page: StoredPage, encoding: Encoding) => Buffer | undefined;
  /** Runs `change`, which may change the page's `bytes`, within the budget of the memory. */
  readonly resize: (page: CachedPage, change: () => void) => void;
  /** The pages in memory. */
  readonly pages: () => Iterable<CachedPage>;
  readonly log: Logger;
}

export function createInsertions(options: InsertionsOptions): Insertions {
  let current: Insertion | null = null;
  return {
    set(next) {
      current = next;
      for (const page of options.pages()) forget(options, page);
    },
    shown(page) {
      if (current === null) return page;
      const known = page.inserted;
      if (known?.of === current) return known.page ?? page;
      return start(options, page, current);
    },
  };
}

function forget({ resize }: InsertionsOptions, page: CachedPage): void {
  const before = page.inserted;
  if (before === undefined) return;
  resize(page, () => {
    if (before.page && !(before.page instanceof Promise)) page.bytes -= before.page.bytes;
    page.inserted = undefined;
  });
}

function start(options: InsertionsOptions, page: CachedPage, insertion: Insertion): CachedPage | Promise<void> {
  forget(options, page);
  const stored = page.page;
  if (!stored.headers['content-type']?.startsWith('text/html') || !insertion.takes(stored)) {
    page.inserted = { of: insertion, page: null };
    return page;
  }
  const body = bodyOf(options, page);
  // This rendering is no longer stored: the look-up for its bytes finds that out.
  if (body === undefined) return page;
  const whole = insertion.into(body);
  if (whole === null) {
    page.inserted = { of: insertion, page: null };
    return page;
  }
  // Pages that aren't stored, such as those of addresses that don't exist, aren't compressed either: anyone can request any number of them.
  if (stored.etags.gzip === undefined) return keep(options, page, insertion, encodeNothing(whole));
  const pending: Promise<void> = options
    .encode(whole, stored.headers['content-type'])
    .then((encoded) => {
      if (page.inserted?.page === pending) keep(options, page, insertion, encoded);
    })
    .catch((error: unknown) => {
      options.log.error({ err: error, page: stored.key }, 'A page could not be compressed with its insertion');
      if (page.inserted?.page === pending) page.inserted = { of: insertion, page: null };
    });
  page.inserted = { of: insertion, page: pending };
  return pending;
}

/** Keeps a page with its insertion beside the page. */
function keep(
  { resize, headersOf }: InsertionsOptions,
  page: CachedPage,
  insertion: Insertion,
  { bodies, etags }: Encoded,
): CachedPage {
  const stored = page.page;
  const policy = insertion.policy(stored.headers['content-security-policy']);
  const headers = { ...stored.headers, ...(policy !== undefined && { 'content-security-policy': policy }) };
  const own = createCachedPage({ ...stored, etags, headers }, headersOf, bodies, page.epoch, page);
  resize(page, () => {
    page.bytes += own.bytes;
    page.inserted = { of: insertion, page: own };
  });
  return own;
}

/** The uncompressed body. */
function bodyOf({ load }: InsertionsOptions, { page, encoded }: CachedPage): Buffer | undefined {
  if (encoded.identity) return encoded.identity.body;
  if (page.etags.gzip === undefined) return load(page, 'identity');
  const zipped = encoded.gzip?.body ?? load(page, 'gzip');
  return zipped && decode(zipped);
}
