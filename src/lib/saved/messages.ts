/** Messages about saved articles. */
export const savedMessages = {
  noArticle: 'We couldn’t find that article.',
  full: (most: number): string =>
    `You’ve saved ${most} stories, the most there’s room for. Remove one to save another.`,
} as const;
