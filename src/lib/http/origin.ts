/**
 * Whether a call that changes something comes from this site's own pages. Cookies are `SameSite=Lax` besides; this keeps out what
 * those let through (other sites under the same domain, a sign-in forced from elsewhere).
 *
 * Every current browser sends `Origin` with POST, PUT, PATCH and DELETE, and `Sec-Fetch-Site` over https. So:
 * - `Sec-Fetch-Site`, where it is sent, must be `same-origin`;
 * - `Origin`, where it is sent, must be the site's (`null` only beside `Sec-Fetch-Site: same-origin`: a page without referrer);
 * - with neither, the caller is no browser (a script, a native app): it may call as long as it brings no cookies. Whoever has
 *   cookies and is no browser sends `Origin: <SITE_URL>`.
 *
 * @param siteUrl origin of the site
 */
export function comesFromHere(headers: Headers, siteUrl: string): boolean {
  const fetchSite = headers.get('sec-fetch-site');
  const origin = headers.get('origin');
  if (fetchSite !== null && fetchSite !== 'same-origin') return false;
  if (origin === 'null') return fetchSite === 'same-origin';
  if (origin !== null) return origin === new URL(siteUrl).origin;
  return fetchSite === 'same-origin' || !headers.has('cookie');
}
