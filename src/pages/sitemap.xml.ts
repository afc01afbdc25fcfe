import type { APIRoute } from 'astro';
import { textAnswer } from '../lib/feeds/answer.ts';
import { sitemapIndex } from '../lib/feeds/sitemap.ts';

export const GET: APIRoute = ({ locals }) =>
  textAnswer(sitemapIndex(locals.content, locals.config.siteUrl), 'application/xml');
