/** Current readings, for the newsroom (docs/content-api.md, "Reading now"). The plugin signs the query as it signs a webhook. */
import { newsroomRoute } from '../../../../../lib/http/routes.server.ts';

export const POST = newsroomRoute(async ({ type }, { mostRead }) => {
  if (type !== 'site') return { status: 422, body: { ok: false, error: 'The query isn’t about the site.' } };
  return { status: 200, body: { ok: true, ...(await mostRead.now()) } };
});
