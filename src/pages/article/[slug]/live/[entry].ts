/** The lasting address of an entry: leads to the page of its story that has it. Pages move on with each new entry. */
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
