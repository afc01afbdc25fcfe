/** Articles in one sitemap; the protocol allows 50,000, a smaller one is quicker to make anew. */
export const articlesPerSitemap = 5000;
