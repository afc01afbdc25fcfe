import type { APIRoute } from 'astro';
import { textAnswer } from '../lib/feeds/answer.ts';
import { newsSitemap } from '../lib/feeds/sitemap.ts';

export const GET: APIRoute = ({ locals }) =>
  textAnswer(newsSitemap(locals.content, locals.config.siteUrl, Date.now()), 'application/xml');
