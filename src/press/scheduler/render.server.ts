/** From the injected render function to a page that can be put on the shelf. */

import type { Entry } from '../cache/cached-page.ts';
import { encodeNothing } from '../cache/compression.ts';
import type { Encode } from '../cache/compressor.server.ts';
import {
  type AccessLevel,
  type Bodies,
  hashOf,
  type PageRef,
  type StoredPage,
  tidyTags,
  type Variant,
} from '../store/stored-page.ts';

/** What the render function answers with. */
export interface Rendering {
  readonly status: number;
  /** Names in lower case, or a `Headers`. What belongs to a connection or an encoding is left out here. */
  readonly headers: Readonly<Record<string, string>> | Headers;
  readonly body: Buffer;
  /** What the page shows; a change of one of them renders it again. */
  readonly tags: Iterable<string>;
  /** Level that the page's full variant asks for; the same in both variants. */
  readonly access?: AccessLevel | null;
  /** Whether the answer may be kept at all; pages that are, are given to everyone. */
  readonly storable: boolean;
}

/**
 * Renders one page of one variant. It is given no request: what it renders cannot depend on who is reading. It must read
 * content after it was called, never before.
 */
export type Render = (key: string, variant: Variant) => Promise<Rendering>;

/** A render that failed: it threw, took too long, or answered with a status of 500 or above. */
export class RenderFailed extends Error {
  override readonly name = 'RenderFailed';
  /** The answer, where there was one. */
  readonly rendering: Rendering | null;

  constructor(message: string, rendering: Rendering | null, cause?: unknown) {
    super(message, { cause });
    this.rendering = rendering;
  }
}

/** A page made, and not yet on the shelf. */
export interface Made {
  readonly page: StoredPage;
  readonly bodies: Bodies;
  /** The page on the shelf that has the same bytes, headers and status: there is nothing to put. */
  readonly same: Entry | null;
  readonly storable: boolean;
}

/** What is kept for good: pages, moved and gone. A 404 is not among them, so that unknown addresses fill nothing. */
const keptStatuses: readonly number[] = [200, 301, 308, 410];

const unkept =
  /^(?:connection|keep-alive|transfer-encoding|content-length|content-encoding|etag|date|age|server-timing|trailer|upgrade)$/;

/**
 * @param current the page as it stands on the shelf
 * @param asOf see `StoredPage.asOf`
 */
export async function make(
  ref: PageRef,
  render: Render,
  current: () => Entry | undefined,
  asOf: number | null,
  options: {
    readonly build: string;
    readonly timeoutMs: number;
    readonly now: () => number;
    readonly encode: Encode;
    /** The page is rendered, and its compression has begun. */
    readonly onRendered?: () => void;
  },
): Promise<Made> {
  const began = performance.now();
  const rendering = await within(options.timeoutMs, render(ref.key, ref.variant));
  if (rendering.status >= 500) throw new RenderFailed(`The page answered with status ${rendering.status}.`, rendering);

  const headers: Record<string, string> = {};
  const given = rendering.headers instanceof Headers ? rendering.headers : Object.entries(rendering.headers);
  let cookies = false;
  for (const [name, value] of given) {
    const lower = name.toLowerCase();
    if (lower === 'set-cookie') cookies = true;
    else if (!unkept.test(lower)) headers[lower] = value;
  }
  // A cookie is somebody's: an answer that sets one is never given to another, nor is the cookie.
  const storable = rendering.storable && !cookies && keptStatuses.includes(rendering.status);
  const hash = hashOf(rendering.body);
  const base = {
    ...ref,
    version: 0,
    build: options.build,
    status: rendering.status,
    headers,
    access: rendering.access ?? null,
    hash,
    size: rendering.body.byteLength,
    tags: tidyTags(rendering.tags),
    renderedAt: options.now(),
    renderMs: performance.now() - began,
    asOf,
  };
  // What is made on demand is written in any case: that it is current is news, too.
  const same = storable && asOf === null ? sameAs(current(), base) : null;
  if (same) return { page: { ...base, etags: same.page.etags }, bodies: {}, same, storable };
  if (!storable) {
    const { bodies, etags } = encodeNothing(rendering.body);
    return { page: { ...base, etags }, bodies, same: null, storable };
  }
  const encoding = options.encode(rendering.body, headers['content-type'] ?? '');
  options.onRendered?.();
  const { bodies, etags } = await encoding;
  return { page: { ...base, etags }, bodies, same: null, storable };
}

function sameAs(current: Entry | undefined, made: Omit<StoredPage, 'etags'>): Entry | null {
  const page = current?.page;
  const same =
    page !== undefined &&
    page.hash === made.hash &&
    page.status === made.status &&
    page.access === made.access &&
    page.build === made.build &&
    JSON.stringify(page.headers) === JSON.stringify(made.headers);
  return same && current ? current : null;
}

function within<T>(ms: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new RenderFailed(`The page was not rendered within ${ms} ms.`, null)), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
