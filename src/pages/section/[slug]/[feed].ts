import type { APIRoute } from 'astro';
import { answerFeed } from '../../../lib/feeds/build.ts';

export const GET: APIRoute = ({ locals, params }) =>
  answerFeed(locals.content, locals.config.siteUrl, params.feed, { section: params.slug ?? '' });
