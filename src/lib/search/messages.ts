/** Messages of the search (spec section 2, "Search overlay"), for the page, the overlay and the API. */
export const searchMessages = {
  top: (query: string): string => `Top articles on “${query}”`,
  loading: 'Searching…',
  none: 'No results found. Here are some articles you may find interesting...',
  failed: 'Search is unavailable right now. Try again in a moment.',
  noQuery: 'Enter a word to search for.',
  badPage: 'Enter the number of a page.',
  badLimit: (most: number): string => `Enter a limit from 1 to ${most}.`,
  offline: 'You’re offline. Search will work again when you’re connected.',
  /** @param words that were searched for in addition to the typed ones */
  also: (words: readonly string[]): string =>
    words.length > 0 ? `, also with ${words.map((word) => `“${word}”`).join(', ')}` : '',
  all: (total: number): string => `All ${total.toLocaleString('en-US')} stories`,
  count: (total: number): string => (total === 1 ? '1 story' : `${total.toLocaleString('en-US')} stories`),
  label: 'Search the paper',
  search: 'Search',
  close: 'Close',
  again: 'Try again',
  ownPage: 'Open the search page',
  featured: 'Featured',
  popular: 'Popular',
  badDate: 'Enter dates as year, month and day: 2026-11-21.',
  datesReversed: 'The first date must come before the last one.',
} as const;
