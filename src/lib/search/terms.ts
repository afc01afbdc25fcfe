/** What a reader typed into the search box. */

/** Longest query that is looked up, in UTF-16 code units; the box takes no more. */
const longest = 200;

/** The query of a search page, cut to 200 code units and never through a character: half of one has no address. */
export function searchTerms(params: URLSearchParams): string {
  return (params.get('q') ?? '')
    .trim()
    .slice(0, longest)
    .replace(/[\ud800-\udbff]$/u, '');
}
