import type { APIRoute } from 'astro';
import { textAnswer } from '../lib/feeds/answer.ts';
import { robotsTxt } from '../lib/feeds/sitemap.ts';

export const GET: APIRoute = ({ locals }) => textAnswer(robotsTxt(locals.config.siteUrl), 'text/plain');
