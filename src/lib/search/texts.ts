/** What a search says (spec section 2, "Search overlay"): the same words on the page and in the overlay. */
export const searchTexts = {
  top: (query: string): string => `Top articles on “${query}”`,
  loading: 'Searching…',
  none: 'No results found. Here are some articles you may find interesting...',
  failed: 'The search is not answering just now.',
  offline: 'You are offline. The search goes on when you are connected again.',
  count: (total: number): string => (total === 1 ? '1 story' : `${total.toLocaleString('en-US')} stories`),
} as const;
