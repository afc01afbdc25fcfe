/**
 * The permanent address of an entry: redirects to the page of its story that has it, because entries move to later pages as new
 * ones appear.
 */
import type { APIRoute } from 'astro';
import { pageOfEntry, storyOfEntry } from '../../../../lib/live/model.ts';

export const GET: APIRoute = ({ params, locals: { content } }) => {
  const found = storyOfEntry(content, params.entry ?? '');
  if (!found) return new Response(null, { status: 404 });
  return new Response(null, {
    status: 302,
    headers: { location: pageOfEntry(content, found.story.slug, found.entry) },
  });
};
