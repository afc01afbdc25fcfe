/** Turns the injected render function's response into a page that can be stored. */
import type { RestrictedLevel } from '../../lib/content/model.ts';
import { hashOf } from '../../lib/http/negotiation.server.ts';
import { withTimeLimit } from '../../lib/jobs/tasks.ts';
import type { CachedPage } from '../cache/cached-page.ts';
import { type Encode, encodeNothing } from '../cache/compressor.server.ts';
import { type Bodies, type PageRef, type StoredPage, tidyTags, type Variant } from '../store/stored-page.ts';

/** The render function's response. */
export interface Rendering {
  readonly status: number;
  /** Names in lower case, or a `Headers`. Headers of a connection or an encoding are dropped here. */
  readonly headers: Readonly<Record<string, string>> | Headers;
  readonly body: Buffer;
  /** Tags of the content that the page shows; a change of one of them renders the page again. */
  readonly tags: Iterable<string>;
  /** Access level of the page's full variant; the same in both variants. */
  readonly access?: RestrictedLevel | null;
  /** Whether the response may be stored; a stored page is served to everyone. */
  readonly storable: boolean;
}

/**
 * Renders one page in one variant. It gets no request, so the result can't depend on who is reading. It must read content after the
 * call, never before.
 */
export type Render = (key: string, variant: Variant) => Promise<Rendering>;

/** A render that failed: it threw, took too long, or answered with a status of 500 or above. */
export class RenderFailed extends Error {
  override readonly name = 'RenderFailed';
  /** The response, if there was one. */
  readonly rendering: Rendering | null;

  constructor(message: string, rendering: Rendering | null, cause?: unknown) {
    super(message, { cause });
    this.rendering = rendering;
  }
}

/** A rendered page that isn't stored yet. */
export interface RenderedPage {
  readonly page: StoredPage;
  readonly bodies: Bodies;
  /** The stored page, if it has the same bytes, headers and status: nothing has to be stored. */
  readonly same: CachedPage | null;
  readonly storable: boolean;
}

/** Stored: pages, redirects and 410. A 404 isn't, so that unknown addresses don't fill the store. */
const storedStatuses: readonly number[] = [200, 301, 308, 410];

const droppedHeaders =
  /^(?:connection|keep-alive|transfer-encoding|content-length|content-encoding|etag|date|age|server-timing|trailer|upgrade)$/;

/** Milliseconds that a render may take. */
const timeoutMs = 20_000;

/**
 * Renders and compresses a page.
 *
 * @param current the page as it is stored now
 * @param asOf see `StoredPage.asOf`
 */
export async function renderPage(
  ref: PageRef,
  render: Render,
  current: () => CachedPage | undefined,
  asOf: number | null,
  options: {
    readonly build: string;
    readonly now: () => number;
    readonly encode: Encode;
    /** Called when the page is rendered and its compression has started. */
    readonly onRendered?: () => void;
  },
): Promise<RenderedPage> {
  const began = performance.now();
  const rendering = await withTimeLimit(timeoutMs, render(ref.key, ref.variant), () => {
    throw new RenderFailed(`The page was not rendered within ${timeoutMs} ms.`, null);
  });
  if (rendering.status >= 500) throw new RenderFailed(`The page answered with status ${rendering.status}.`, rendering);

  const headers: Record<string, string> = {};
  const given = rendering.headers instanceof Headers ? rendering.headers : Object.entries(rendering.headers);
  let cookies = false;
  for (const [name, value] of given) {
    const lower = name.toLowerCase();
    if (lower === 'set-cookie') cookies = true;
    else if (!droppedHeaders.test(lower)) headers[lower] = value;
  }
  // A cookie belongs to one reader: a response that sets one is never stored.
  const storable = rendering.storable && !cookies && storedStatuses.includes(rendering.status);
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
  // A page that is rendered on demand is always written, because the fact that it is current is new.
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

/** The cached page if a rendering has the same bytes, headers and status, else `null`. */
export function sameAs(current: CachedPage | undefined, rendered: Omit<StoredPage, 'etags'>): CachedPage | null {
  const page = current?.page;
  const same =
    page !== undefined &&
    page.hash === rendered.hash &&
    page.status === rendered.status &&
    page.access === rendered.access &&
    page.build === rendered.build &&
    JSON.stringify(page.headers) === JSON.stringify(rendered.headers);
  return same && current ? current : null;
}
