import type { APIRoute } from 'astro';
import { textAnswer } from '../lib/feeds/answer.ts';
import { adsTxt } from '../lib/feeds/well-known.ts';

export const GET: APIRoute = ({ locals }) => textAnswer(adsTxt(locals.config.siteUrl), 'text/plain');
