/** What a search says (spec section 2, "Search overlay"): the same words on the page and in the overlay. */
export const searchMessages = {
  top: (query: string): string => `Top articles on “${query}”`,
  loading: 'Searching…',
  none: 'No results found. Here are some articles you may find interesting...',
  failed: 'Search is unavailable right now. Try again in a moment.',
  offline: 'You’re offline. Search will work again when you’re connected.',
  count: (total: number): string => (total === 1 ? '1 story' : `${total.toLocaleString('en-US')} stories`),
} as const;
