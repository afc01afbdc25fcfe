/**
 * Whether a call that changes something comes from this site's own pages. Cookies are also `SameSite=Lax`; this check covers what
 * that allows (other sites under the same domain, a sign-in forced by another site).
 *
 * Every current browser sends `Origin` with POST, PUT, PATCH and DELETE, and `Sec-Fetch-Site` over https. So:
 * - `Sec-Fetch-Site`, if present, must be `same-origin`;
 * - `Origin`, if present, must be the site's (`null` only together with `Sec-Fetch-Site: same-origin`: a page without referrer);
 * - with neither, the caller isn't a browser (a script, a native app): the call is allowed if it has no cookies. Another client with
 *   cookies sends `Origin: <SITE_URL>`.
 *
 * @param siteUrl origin of the site
 */
export function comesFromHere(headers: Pick<Headers, 'get' | 'has'>, siteUrl: string): boolean {
  const fetchSite = headers.get('sec-fetch-site');
  const origin = headers.get('origin');
  if (fetchSite !== null && fetchSite !== 'same-origin') return false;
  if (origin === 'null') return fetchSite === 'same-origin';
  if (origin !== null) return origin === new URL(siteUrl).origin;
  return fetchSite === 'same-origin' || !headers.has('cookie');
}

/** The refusal of a call from another site. */
export const otherSite = (siteUrl: string): string =>
  `This request comes from another site. Please open ${siteUrl} and try again.`;

/**
 * Whether the browser fetches something for a page that the reader may never open: a prefetched or prerendered page (`Sec-Purpose`, which
 * scripts can't set; docs/decisions/0036). Such requests aren't counted.
 */
export const isPrefetch = ({ headers }: { readonly headers: Headers }): boolean =>
  headers.get('sec-purpose')?.startsWith('prefetch') === true;

// The path to which a reader returns after signing in.

/** Paths that no reader returns to: calls, and the sign-in pages themselves. Some pages below /account are exceptions. */
const notAReturnPath =
  /^\/(?:blaize|zephr|api|-|account(?!\/(?:subscribed|card|plan|podcast|comment|saved)$)|socialLogin|image|_assets)(?:\/|$)/i;

const longestReturnPath = 1024;

/**
 * @param wanted a path, or a whole address under this site (docs/services/zephr.md)
 * @param siteUrl origin of the site
 * @returns path, query and fragment; `/` for an address elsewhere
 */
export function returnPath(wanted: string | null | undefined, siteUrl: string): string {
  if (!wanted || wanted.length > longestReturnPath || !/^(?:\/|https?:\/\/)/i.test(wanted)) return '/';
  // The parser drops tabs and line ends within an address; an address that contains them is refused.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for control characters
  if (/[\x00-\x20\x7f\\]/.test(wanted) || !URL.canParse(wanted, siteUrl)) return '/';
  const url = new URL(wanted, siteUrl);
  if (url.origin !== new URL(siteUrl).origin || url.username || url.password) return '/';
  // `/..//host` has become `//host` by now, which a browser would resolve to another site.
  if (url.pathname.startsWith('//') || notAReturnPath.test(url.pathname)) return '/';
  return url.pathname + url.search + url.hash;
}
