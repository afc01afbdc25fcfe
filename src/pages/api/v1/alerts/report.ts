/**
 * Reports to the editor how an alert was sent (docs/content-api.md, "Alerts"). The plugin signs the query as it signs a webhook; the
 * alert's id is its `slug`.
 */
import { newsroomRoute } from '../../../../lib/http/routes.server.ts';

export const POST = newsroomRoute(async ({ type, slug }, { alerts }) => {
  if (type !== 'alerts' || typeof slug !== 'string')
    return { status: 422, body: { ok: false, error: 'The body names no alert.' } };
  return { status: 200, body: { ok: true, ...(await alerts.report(slug)) } };
});
