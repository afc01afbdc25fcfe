/**
 * What became of an alert, for the editor (docs/content-api.md, "Alerts"). The plugin signs the question as it signs a webhook; the alert's id is
 * its `slug`.
 */
import type { APIRoute } from 'astro';
import { DatabaseUnavailable } from '../../../../lib/database.ts';
import { parseJson } from '../../../../lib/text.ts';

const limit = 4096;

export const POST: APIRoute = async ({ request, locals }) => {
  const { content, features, alerts } = locals.services;
  if (!features.webhooks.on) return json(503, { ok: false, error: `Webhooks are off: ${features.webhooks.why}` });
  const rawBody = new Uint8Array(await request.arrayBuffer());
  if (rawBody.byteLength > limit) return json(413, { ok: false, error: 'The body is longer than 4 kB.' });
  const refused = content.verify({ headers: Object.fromEntries(request.headers), rawBody });
  if (refused) return json(refused.status, refused.body);
  const { type, slug } = Object(parseJson(new TextDecoder().decode(rawBody))) as { type?: unknown; slug?: unknown };
  if (type !== 'alerts' || typeof slug !== 'string') return json(422, { ok: false, error: 'The body names no alert.' });
  try {
    return json(200, { ok: true, ...(await alerts.report(slug)) });
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable)) throw error;
    return json(503, { ok: false, error: 'The accounts’ database isn’t available.' });
  }
};

function json(status: number, body: object): Response {
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };
  return new Response(JSON.stringify(body), { status, headers });
}
