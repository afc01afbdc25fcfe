/**
 * Changes stored pages without rendering them: inserts a few bytes that every page shows for some time, such as an alert (an insertion);
 * and selects the form of places that groups of readers see differently, such as a headline that is being tested (pages with choices). At
 * the first request that needs one, the stored bytes of the page are decompressed and changed, and the result is compressed in the
 * compression thread and kept in memory with the page. A page without an insertion or choices costs two comparisons.
 */
import type { Logger } from '../../lib/logging.ts';
import type { StoredPage } from '../store/stored-page.ts';
import {
  type CachedPage,
  createCachedPage,
  type HeadersOf,
  isCompressed,
  type Load,
  type ShownPage,
  storedBytes,
} from './cached-page.ts';
import { decode, type Encode, type Encoded, encodeNothing } from './compressor.server.ts';

/** What to insert into pages, and where. */
export interface Insertion {
  /** Whether a page may show it. Called before its bytes are decompressed. */
  takes(page: StoredPage): boolean;
  /** The page with the insertion. @returns `null` for a page without a place for it */
  into(body: Buffer): Buffer | null;
  /** The content security policy of a page with the insertion. @param rendered the page's own */
  policy(rendered: string | undefined): string | undefined;
}

/** The forms of pages with choices. */
export interface Choices {
  /** Whether a page may have places with several forms. Called once for each page in memory. */
  takes(page: StoredPage): boolean;
  /** Number of groups of readers. */
  readonly groups: number;
  /** The group of a reader, from 0; `null`: none, as for a reader who takes part in nothing. */
  groupOf(cookie: string | undefined): number | null;
  /**
   * The page as one group sees it.
   *
   * @returns its bytes, and a name that is equal for groups that see the same, `''` for the form that readers without a group see; `null`
   *   for a page without such places
   */
  choose(body: Buffer, group: number | null): { readonly body: Buffer; readonly forms: string } | null;
}

/** The cache policy of bytes that are not for every reader. */
export const forOneReader = 'private, max-age=0, must-revalidate';

/** The page as one that shared caches don't store: a CDN would keep an outdated page after the purge for its change. */
export const onlyForOneReader = (page: StoredPage): StoredPage => {
  const headers = { ...page.headers, 'cache-control': forOneReader };
  return { ...page, headers };
};

export interface Insertions {
  /**
   * Replaces the insertion. After it returns, {@link Insertions.shown} returns no page with the previous one. @param next `null`: none
   */
  set(next: Insertion | null): void;
  /**
   * The form of a page that a reader gets.
   *
   * @param cookie the header `Cookie`
   * @returns a promise while the page is being compressed: call it again when it resolves
   */
  shown(page: CachedPage, cookie?: string): CachedPage | Promise<void>;
}

export interface InsertionsOptions {
  readonly encode: Encode;
  readonly headersOf: HeadersOf;
  readonly choices?: Choices | undefined;
  readonly load: Load;
  /** Runs `change`, which may change the page's `bytes`, and adjusts the memory budget. */
  readonly resize: (page: CachedPage, change: () => void) => void;
  /** The pages in memory. */
  readonly pages: () => Iterable<CachedPage>;
  readonly log: Logger;
}

export function createInsertions(options: InsertionsOptions): Insertions {
  const { choices } = options;
  let current: Insertion | null = null;
  return {
    set(next) {
      current = next;
      for (const page of options.pages()) forget(options, page);
    },
    shown(page, cookie) {
      if (choices) page.hasChoices ??= choices.takes(page.page);
      const chosen = page.hasChoices ? choices : undefined;
      if (current === null && chosen === undefined) return page;
      const group = chosen?.groupOf(cookie) ?? null;
      const known = Array.isArray(page.shown) ? page.shown[group === null ? 0 : group + 1] : page.shown;
      if (known?.of === current) return known.page ?? page;
      return start(options, page, { insertion: current, choices: chosen, group });
    },
  };
}

/** Whether `page` is one of the forms kept for a page. */
export const isShownFor = ({ shown }: CachedPage, page: CachedPage): boolean =>
  Array.isArray(shown) ? shown.some((each) => each?.page === page) : shown?.page === page;

/** The forms that are kept for a page, without duplicates. */
const formsOf = ({ shown }: CachedPage): readonly ShownPage[] =>
  // The list has gaps for groups that haven't requested the page.
  Array.isArray(shown) ? [...new Set(shown.filter((each) => each !== undefined))] : shown ? [shown] : [];

function forget({ resize }: InsertionsOptions, page: CachedPage): void {
  if (page.shown === undefined) return;
  resize(page, () => {
    for (const { page: own } of formsOf(page)) if (own && !(own instanceof Promise)) page.bytes -= own.bytes;
    page.shown = undefined;
  });
}

/** What a reader should see. */
interface Wanted {
  readonly insertion: Insertion | null;
  readonly choices: Choices | undefined;
  readonly group: number | null;
}

function start(options: InsertionsOptions, page: CachedPage, wanted: Wanted): CachedPage | Promise<void> {
  const { insertion, choices, group } = wanted;
  // The kept forms contain another insertion.
  if (formsOf(page).some(({ of }) => of !== insertion)) forget(options, page);
  const stored = page.page;
  const isHtml = stored.headers['content-type']?.startsWith('text/html') === true;
  const insert = isHtml && insertion?.takes(stored) === true ? insertion : null;
  if (!isHtml || (insert === null && choices === undefined)) return note(page, wanted, '', null);
  const body = bodyOf(options, page);
  // This rendering is no longer stored: the look-up for its bytes finds that out.
  if (body === undefined) return page;
  const chosen = choices?.choose(body, group) ?? null;
  const forms = chosen?.forms ?? '';
  const same = choices && formsOf(page).find((each) => each.forms === forms);
  if (same) {
    place(page, group, same);
    return same.page ?? page;
  }
  const whole = insert?.into(chosen?.body ?? body) ?? chosen?.body ?? null;
  if (whole === null) return note(page, wanted, forms, null);
  const show = (encoded: Encoded): CachedPage => withBytes(options, page, { forms, policyOf: insert, encoded });
  // Pages that aren't stored, such as those of addresses that don't exist, aren't compressed either: anyone can request any number of them.
  if (!isCompressed(stored)) return keep(options, page, wanted, forms, show(encodeNothing(whole)));
  const pending: Promise<void> = options
    .encode(whole, stored.headers['content-type'] ?? '')
    .then((encoded) => {
      if (entry.page === pending) keepCompressed(options, page, entry, show(encoded));
    })
    .catch((error: unknown) => {
      options.log.error({ err: error, page: stored.key }, 'A page could not be compressed as its readers see it');
      if (entry.page === pending) entry.page = null;
    });
  const entry: ShownPage = { of: insertion, forms, page: pending };
  place(page, choices ? group : undefined, entry);
  return pending;
}

/** @param group `undefined` for a page without choices */
function place(page: CachedPage, group: number | null | undefined, entry: ShownPage): void {
  if (group === undefined) {
    page.shown = entry;
    return;
  }
  if (!Array.isArray(page.shown)) page.shown = [];
  page.shown[group === null ? 0 : group + 1] = entry;
}

function note(
  page: CachedPage,
  { insertion, choices, group }: Wanted,
  forms: string,
  own: CachedPage | null,
): CachedPage {
  place(page, choices ? group : undefined, { of: insertion, forms, page: own });
  return own ?? page;
}

/** Keeps a form with its page. */
function keep(
  options: InsertionsOptions,
  page: CachedPage,
  wanted: Wanted,
  forms: string,
  own: CachedPage,
): CachedPage {
  options.resize(page, () => {
    page.bytes += own.bytes;
    note(page, wanted, forms, own);
  });
  return own;
}

/** The same, for a form that was being compressed. It is dropped if the page was removed in the meantime. */
function keepCompressed(options: InsertionsOptions, page: CachedPage, entry: ShownPage, own: CachedPage): void {
  if (!formsOf(page).includes(entry)) return;
  options.resize(page, () => {
    page.bytes += own.bytes;
    entry.page = own;
  });
}

/** A copy of the page with other bytes. */
function withBytes(
  { headersOf }: InsertionsOptions,
  page: CachedPage,
  { forms, policyOf, encoded }: { forms: string; policyOf: Insertion | null; encoded: Encoded },
): CachedPage {
  const stored = page.page;
  const policy = policyOf?.policy(stored.headers['content-security-policy']);
  const headers = {
    ...stored.headers,
    ...(policy !== undefined && { 'content-security-policy': policy }),
    // A shared cache may store only the form for readers without a group.
    ...(forms !== '' && { 'cache-control': forOneReader }),
  };
  return createCachedPage({ ...stored, etags: encoded.etags, headers }, headersOf, encoded.bodies, page.epoch, page);
}

/** The uncompressed body. */
function bodyOf({ load }: InsertionsOptions, cached: CachedPage): Buffer | undefined {
  if (cached.encoded.identity) return cached.encoded.identity.body;
  const stored = storedBytes(cached, load);
  return stored && isCompressed(cached.page) ? decode(stored) : stored;
}
