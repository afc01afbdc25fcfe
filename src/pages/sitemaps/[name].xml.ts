import type { APIRoute } from 'astro';
import { textAnswer } from '../../lib/feeds/answer.ts';
import { sitemap } from '../../lib/feeds/sitemap.ts';

export const GET: APIRoute = ({ locals, params }) =>
  textAnswer(sitemap(locals.content, locals.config.siteUrl, params.name ?? ''), 'application/xml');
