/** The press's render function, and the headers of its pages. */

import { cdnHeaders } from '../../lib/cdn/model.ts';
import type { RestrictedLevel } from '../../lib/content/model.ts';
import type { ContentReader } from '../../lib/content/reader.ts';
import { tag } from '../../lib/content/tags.ts';
import type { HeadersOf } from '../../press/cache/cached-page.ts';
import { forOneReader } from '../../press/cache/insertions.server.ts';
import type { Render } from '../../press/scheduler/render.server.ts';
import type { Config } from '../config/config.ts';
import { missingPath, type Rendered, type RenderPage, renderWhole } from '../http/page-renderer.ts';
import type { SecurityHeaders } from '../http/security-headers.ts';
import { speculationRules } from '../http/static-files.ts';
import type { FormerPage } from './former-addresses.ts';

/** The cache policy for browsers: store the page, and revalidate it each time. */
export const freshAlways = 'public, max-age=0, must-revalidate';

/**
 * Renders through the pages' own handler with a neutral request: the page can't see a reader's cookies, headers or address, so nothing
 * personal can get into a page for everyone.
 *
 * @param locals creates new locals for each call; their reader records what the page shows
 * @param revision grows with every change of what pages show
 * @param isUnknown whether the page is known not to exist without rendering it
 * @param movedTo where a page that doesn't exist was moved to
 */
export function createPressRender(
  render: RenderPage,
  siteUrl: string,
  locals: () => App.Locals,
  revision: () => number = () => Number.NaN,
  isUnknown: (key: string) => boolean = () => false,
  movedTo: (key: string, content: ContentReader) => FormerPage | null = () => null,
): Render {
  /** The "not found" page: the same under every address, and rendered once for each revision. */
  let missing: { readonly revision: number; readonly page: Promise<Rendered> } | null = null;
  function missingPage(): Promise<Rendered> {
    const now = revision();
    if (missing?.revision !== now) {
      const page = renderWhole(render, new Request(siteUrl + missingPath), locals(), '127.0.0.1');
      missing = { revision: now, page };
      page.catch(() => {
        missing = null;
      });
    }
    return missing.page;
  }

  return async (key, variant) => {
    let access: RestrictedLevel | null = null;
    const own: App.Locals = {
      ...locals(),
      variant,
      markAccess(level) {
        access = level === 'registered' || level === 'subscriber' ? level : null;
      },
    };
    const request = new Request(siteUrl + key, { headers: { accept: 'text/html,*/*' } });
    const rendered = isUnknown(key) ? null : await renderWhole(render, request, own, '127.0.0.1', true);
    const unknown = rendered === null || (rendered.status === 404 && rendered.body.byteLength === 0);
    // A page may itself respond that there is nothing, such as the page for editors' texts, which handles all addresses of one
    // segment.
    const moved = unknown || rendered.status === 404 ? movedTo(key, own.content) : null;
    if (moved) return redirectTo(moved, own.content.tags);
    const { status, headers, body, tags } = unknown ? await missingPage() : rendered;
    const all = new Set(tags);
    if (key === '/') all.add(tag.today);
    return {
      status,
      headers,
      body,
      tags: all,
      access,
      storable: !(isEndlessRedirect(status, key) || /no-store|private/.test(headers.get('cache-control') ?? '')),
    };
  };
}

/** A redirect from a document's former slug with a page's or comment's number: anyone can request any number, and fill the store. */
const isEndlessRedirect = (status: number, key: string): boolean => status === 301 && /\?|\/comments\//.test(key);

const redirectTo = ({ location, storable }: FormerPage, tags: ReadonlySet<string>): Awaited<ReturnType<Render>> => ({
  status: 301,
  headers: new Headers({ location }),
  body: Buffer.alloc(0),
  tags: new Set(tags),
  access: null,
  storable,
});

/**
 * A CDN keeps a page until it is purged by tag. The lifetime is a year because a page's age counts from its rendering: with a
 * short lifetime, a page that was rendered last month would already be expired when the CDN gets it.
 */
const untilPurged = 'max-age=31536000, stale-while-revalidate=60, stale-if-error=86400';
/** A missing page may exist soon, and anyone can request any missing address. */
const briefly = 'max-age=60';

/** The headers of a page, created once for each encoding of a rendering. @param link names the shared dictionary, if there is one */
export function pageHeaders(
  security: SecurityHeaders,
  config: Pick<Config, 'cdn' | 'cdnHeaders'>,
  link: string | null = null,
): HeadersOf {
  const provider = config.cdn?.provider ?? null;
  return (page, withDictionary) => {
    const type = page.headers['content-type'] ?? '';
    const html = type.startsWith('text/html');
    const policy = page.headers['content-security-policy'];
    // Bytes that need the dictionary are also only for one browser: a shared cache that ignores `Vary` would send them to others. A form
    // for one group of readers has its own header.
    const personal =
      page.variant === 'full' || withDictionary === true || page.headers['cache-control'] === forOneReader;
    return {
      'cache-control': freshAlways,
      ...page.headers,
      ...(type === 'text/html' && { 'content-type': 'text/html; charset=utf-8' }),
      ...(html && page.status === 200 && { 'speculation-rules': `"${speculationRules}"` }),
      ...(html && page.status === 200 && link !== null && { link, vary: 'Available-Dictionary' }),
      ...(html && security.reporting),
      ...security.always,
      'content-security-policy': html ? security.page(policy ?? null) : (policy ?? security.other),
      // The full text of a paid article is only for the browser that requested it, never for a shared cache.
      ...(personal && { 'cache-control': forOneReader }),
      ...(personal && config.cdnHeaders && { 'CDN-Cache-Control': 'no-store' }),
      ...(!personal &&
        config.cdnHeaders &&
        cdnHeaders(provider, page.tags, page.status === 404 ? briefly : untilPurged)),
    };
  };
}
