/** The feed of corrections, in its three forms. */
import type { APIRoute } from 'astro';
import { answerCorrectionsFeed } from '../../lib/corrections/feed.ts';

export const GET: APIRoute = ({ locals, params }) =>
  answerCorrectionsFeed(locals.content, locals.config.siteUrl, params.feed);
