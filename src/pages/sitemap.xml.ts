import type { APIRoute } from 'astro';
import { sitemapIndex } from '../lib/feeds/sitemap.ts';
import { textAnswer } from '../lib/feeds/write.ts';

export const GET: APIRoute = ({ locals }) =>
  textAnswer(sitemapIndex(locals.content, locals.config.siteUrl), 'application/xml');
