/** GET /feed.json: the newest stories as a JSON feed. */
import type { APIRoute } from 'astro';
import { answerFeed } from '../lib/feeds/build.ts';

export const GET: APIRoute = ({ locals }) => answerFeed(locals.content, locals.config.siteUrl, 'feed.json');
