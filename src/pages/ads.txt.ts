import type { APIRoute } from 'astro';
import { adsTxt } from '../lib/feeds/sitemap.ts';
import { textAnswer } from '../lib/feeds/write.ts';

export const GET: APIRoute = ({ locals }) => textAnswer(adsTxt(locals.config.siteUrl), 'text/plain');
