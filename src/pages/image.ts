/** The picture service as a route (spec section 7): `/image?url=…&width=…&quality=…`. */
import type { APIRoute } from 'astro';

export const GET: APIRoute = async ({ request, url, locals }) => {
  const answer = await locals.services.images.handle(
    url.searchParams,
    request.headers.get('accept'),
    request.headers.get('if-none-match'),
    locals.client?.address,
  );
  const body = answer.status === 304 ? null : (answer.body as BodyInit);
  return new Response(body, { status: answer.status, headers: answer.headers });
};
