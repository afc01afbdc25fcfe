import type { APIRoute } from 'astro';
import { robotsTxt } from '../lib/feeds/sitemap.ts';
import { textAnswer } from '../lib/feeds/write.ts';

export const GET: APIRoute = ({ locals }) => textAnswer(robotsTxt(locals.config.siteUrl), 'text/plain');
