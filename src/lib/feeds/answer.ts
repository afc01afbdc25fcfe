/** Answers for machines: text of a media type, or a plain 404. */
export const textAnswer = (body: string | null, type: string): Response =>
  body === null
    ? new Response('Not found.\n', { status: 404, headers: { 'content-type': 'text/plain; charset=utf-8' } })
    : new Response(body, { headers: { 'content-type': `${type}; charset=utf-8` } });
