import type { APIRoute } from 'astro';
import { newsSitemap } from '../lib/feeds/sitemap.ts';
import { textAnswer } from '../lib/feeds/write.ts';

export const GET: APIRoute = ({ locals }) =>
  textAnswer(newsSitemap(locals.content, locals.config.siteUrl, Date.now()), 'application/xml');
