/**
 * Version marks: words that an edit puts where pages show it, e.g. `zqh1200v3z` for the third headline of article 1200. A
 * page that shows a lower version than the current one is stale.
 */

export const mark = (what: string, version: number): string => `zq${what}v${version}z`;

const every = /zq([a-y]\d+)v(\d+)z/gu;

/** The different marks in a text, each version once. */
export function marksIn(text: string): readonly (readonly [what: string, version: number])[] {
  const found = new Map<string, [string, number]>();
  for (const [whole, what = '', version] of text.matchAll(every)) found.set(whole, [what, Number(version)]);
  return [...found.values()];
}
