/** GET /rss.xml, /atom.xml, /sitemap.xml (the index of all sitemaps) and /news-sitemap.xml. */
import type { APIRoute } from 'astro';
import { answerFeed } from '../lib/feeds/build.ts';
import { newsSitemap, sitemapIndex } from '../lib/feeds/crawler-files.ts';
import { textAnswer } from '../lib/feeds/write.ts';

export const GET: APIRoute = ({ locals: { content, config }, params: { name } }) => {
  if (name === 'sitemap') return textAnswer(sitemapIndex(content, config.siteUrl), 'application/xml');
  if (name === 'news-sitemap') return textAnswer(newsSitemap(content, config.siteUrl, Date.now()), 'application/xml');
  if (name !== 'rss' && name !== 'atom') return new Response(null, { status: 404 });
  return answerFeed(content, config.siteUrl, `${name}.xml`);
};
