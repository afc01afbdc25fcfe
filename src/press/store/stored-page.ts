/**
 * The press's record of a page: one rendering of one address, in one variant, with its compressed bytes. It knows neither where the
 * page came from nor where it is stored.
 */
import { type RestrictedLevel, strictness } from '../../lib/content/model.ts';
import { type Encoding, hashOf } from '../../lib/http/negotiation.server.ts';

/** `public` is the page for every reader, `full` the page for readers with its access level. */
export type Variant = 'public' | 'full';

/** Which page: its key (cache-key.ts) and variant. */
export interface PageRef {
  readonly key: string;
  readonly variant: Variant;
}

/** A page that a change affects, with its number of reads. */
export interface Affected extends PageRef {
  readonly reads: number;
}

/** The effect of a change on the stored pages. */
export interface Change {
  readonly seq: number;
  readonly withdrawn: readonly PageRef[];
  readonly affected: readonly Affected[];
}

/**
 * Encoding in which a page's bytes are stored: `identity` if compression isn't worth it. Other encodings are made on request.
 */
export type StoredEncoding = 'br' | 'identity';

export const storedEncodings: readonly StoredEncoding[] = ['br', 'identity'];

/** A page's bytes in the encoding in which they are stored. */
export type Bodies = Readonly<Partial<Record<StoredEncoding, Buffer>>>;

/** One rendering of a page, without its bytes. */
export interface StoredPage extends PageRef {
  /** Number of this rendering in the store, never used twice; `0` while it has not been written. */
  readonly version: number;
  /** The build that rendered it. */
  readonly build: string;
  readonly status: number;
  /** Header names in lower case. Neither ETag nor Content-Encoding nor Content-Length are among them. */
  readonly headers: Readonly<Record<string, string>>;
  /** Access level of the full variant; `null`: the page has one variant. */
  readonly access: RestrictedLevel | null;
  /** Hash of the bytes before compression, see {@link hashOf}. */
  readonly hash: string;
  /** Size before compression, in bytes. */
  readonly size: number;
  /** Sorted, without duplicates. */
  readonly tags: readonly string[];
  /** Epoch milliseconds. */
  readonly renderedAt: number;
  readonly renderMs: number;
  /**
   * Only for pages that are rendered on demand: number of the latest change that the rendering includes. Changes don't find such a
   * page by its tags; instead, a look-up compares the page with the changes. `null`: changes find the page by its tags.
   */
  readonly asOf: number | null;
  /** Strong ETag (with its quotes) of the stored encoding. */
  readonly etags: Readonly<Partial<Record<StoredEncoding, string>>>;
}

/** The name of a page in maps: variant and key in one string. */
export const nameOf = (key: string, variant: Variant): string => (variant === 'full' ? `f${key}` : `p${key}`);

/** The inverse of {@link nameOf}. */
export const refOf = (name: string): PageRef => ({
  key: name.slice(1),
  variant: name.startsWith('f') ? 'full' : 'public',
});

const suffixes: Readonly<Record<Encoding, string>> = { br: '-br', gzip: '-gz', identity: '' };

/**
 * Strong ETag of one encoding (RFC 9110, section 8.8.3: different bytes need different ETags). It is computed from the bytes that are
 * sent, so it changes if a new release of the compressor produces other bytes.
 */
export const etagOf = (bytes: Uint8Array, encoding: Encoding): string => `"${hashOf(bytes)}${suffixes[encoding]}"`;

/** The tags of a page: sorted, without duplicates. */
export const tidyTags = (tags: Iterable<string>): string[] => [...new Set(tags)].sort();

/** The variant rule: the full variant is for readers who have at least the page's level. */
export const mayRead = (needed: RestrictedLevel, has: RestrictedLevel | null): boolean =>
  has !== null && strictness(has) >= strictness(needed);
