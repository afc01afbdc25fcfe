/** The articles that a browser has counted, as `trackedArticles` holds them: a JSON array of ids, the newest last. */

/** What is older has long left the lists. */
const most = 500;

/** @param text what the storage holds; anything that is no list counts as an empty one */
export function parseTracked(text: string | null): readonly number[] {
  try {
    const read: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(read) ? read.map(Number).filter((id) => Number.isSafeInteger(id) && id > 0) : [];
  } catch {
    return [];
  }
}

export const withTracked = (tracked: readonly number[], article: number): readonly number[] =>
  [...tracked.filter((one) => one !== article), article].slice(-most);
