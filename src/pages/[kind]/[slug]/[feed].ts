/** The feeds of a section and of an author. */
import type { APIRoute } from 'astro';
import { answerFeed } from '../../../lib/feeds/build.ts';

export const GET: APIRoute = ({ locals, params: { kind, slug = '', feed } }) => {
  if (kind !== 'section' && kind !== 'author') return new Response(null, { status: 404 });
  return answerFeed(
    locals.content,
    locals.config.siteUrl,
    feed,
    kind === 'section' ? { section: slug } : { author: slug },
  );
};
