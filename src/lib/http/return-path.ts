/** Where a reader comes back to after signing in: a path of this site and nothing else. */

/** What no reader wants to come back to: calls, and the pages of signing in themselves. Some pages below /account are none of these. */
const notAPlace =
  /^\/(?:blaize|zephr|api|-|account(?!\/(?:subscribed|card|comment|saved)$)|socialLogin|image|_assets)(?:\/|$)/i;

/** Longest path that is carried along. */
const longest = 1024;

/**
 * @param wanted a path, or a whole address under this site (vendors.md 1.3)
 * @param siteUrl origin of the site
 * @returns path, query and fragment; `/` for whatever leads elsewhere
 */
export function returnPath(wanted: string | null | undefined, siteUrl: string): string {
  if (!wanted || wanted.length > longest || !/^(?:\/|https?:\/\/)/i.test(wanted)) return '/';
  // The parser drops tabs and line ends within an address; whoever sends them means something else.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\x00-\x20\x7f\\]/.test(wanted) || !URL.canParse(wanted, siteUrl)) return '/';
  const url = new URL(wanted, siteUrl);
  if (url.origin !== new URL(siteUrl).origin || url.username || url.password) return '/';
  // `/..//host` has become `//host` by now, which a browser takes for another site.
  if (url.pathname.startsWith('//') || notAPlace.test(url.pathname)) return '/';
  return url.pathname + url.search + url.hash;
}
