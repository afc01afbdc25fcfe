/** IndexNow, what is pure of it: the key, its file, and which addresses may be announced. Source: indexnow.org/documentation. */

export interface IndexNowSettings {
  /** Setting INDEXNOW_KEY: 8 to 128 letters, digits and dashes, made up by the publisher. */
  readonly key: string;
  /** Public origin of the site. */
  readonly siteUrl: string;
  /** Setting INDEXNOW_URL; {@link indexNowUrl} unless given. */
  readonly url?: string | undefined;
}

export const indexNowUrl = 'https://api.indexnow.org/indexnow';

/** Most addresses in one request. */
export const indexNowBatch = 10_000;

export const isIndexNowKey = (key: string): boolean => /^[A-Za-z0-9-]{8,128}$/.test(key);

/**
 * The file by which search engines check that the key belongs to the site: served as `text/plain; charset=utf-8`.
 *
 * @returns `null` for a key that is none
 */
export const keyFile = (key: string): { readonly path: string; readonly body: string } | null =>
  isIndexNowKey(key) ? { path: `/${key}.txt`, body: key } : null;

/**
 * Whether search engines could reach the origin at all. A laptop, an address in a private network and the names that are
 * reserved for tests (RFC 2606, RFC 6761, RFC 6762, RFC 9476) are announced to nobody.
 */
export function isPublicOrigin(siteUrl: string): boolean {
  if (!URL.canParse(siteUrl)) return false;
  const { protocol, hostname, port } = new URL(siteUrl);
  if (protocol !== 'https:' || port !== '') return false;
  // Search engines index names; an address in figures or brackets is somebody's test.
  if (/^[\d.]+$/.test(hostname) || hostname.startsWith('[')) return false;
  if (!hostname.includes('.')) return false;
  if (/(?:^|\.)example\.(?:com|net|org)$/.test(hostname)) return false;
  return !/\.(?:test|example|invalid|localhost|local|internal|alt|onion|home\.arpa)$/.test(hostname);
}

/** Full addresses of those that belong to the site, each once and without a fragment. Paths are taken too. */
export function announceable(urls: Iterable<string>, siteUrl: string): string[] {
  const origin = new URL(siteUrl).origin;
  const all = new Set<string>();
  for (const text of urls) {
    if (!URL.canParse(text, origin)) continue;
    const url = new URL(text, origin);
    if (url.origin !== origin) continue;
    url.hash = '';
    all.add(url.href);
  }
  return [...all];
}
