/** GET /robots.txt and /ads.txt. */
import type { APIRoute } from 'astro';
import { adsTxt, robotsTxt } from '../lib/feeds/crawler-files.ts';
import { textAnswer } from '../lib/feeds/write.ts';

const texts = new Map([
  ['ads', adsTxt],
  ['robots', robotsTxt],
]);

export const GET: APIRoute = ({ locals, params }) => {
  const text = texts.get(params.name ?? '');
  return text ? textAnswer(text(locals.config.siteUrl), 'text/plain') : new Response(null, { status: 404 });
};
