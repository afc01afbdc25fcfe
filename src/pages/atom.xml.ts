import type { APIRoute } from 'astro';
import { answerFeed } from '../lib/feeds/build.ts';

export const GET: APIRoute = ({ locals }) => answerFeed(locals.content, locals.config.siteUrl, 'atom.xml');
