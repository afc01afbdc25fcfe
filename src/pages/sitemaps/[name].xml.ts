/** GET /sitemaps/articles-1.xml and the other sitemaps that the index names. */
import type { APIRoute } from 'astro';
import { sitemap } from '../../lib/feeds/crawler-files.ts';
import { textAnswer } from '../../lib/feeds/write.ts';

export const GET: APIRoute = ({ locals, params }) =>
  textAnswer(sitemap(locals.content, locals.config.siteUrl, params.name ?? ''), 'application/xml');
