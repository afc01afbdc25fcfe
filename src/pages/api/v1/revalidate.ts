/** Webhooks of the newsroom plugin (docs/content-api.md, "Webhook"). */
import type { APIRoute } from 'astro';
import { jsonResponse } from '../../../lib/http/routes.server.ts';

/** Webhooks are small; a larger body isn't a webhook. */
const longestBody = 64 * 1024;

export const POST: APIRoute = async ({ request, locals }) => {
  const { content, features } = locals.services;
  if (!features.webhooks.on) {
    const body = { ok: false, error: `Webhooks are off: ${features.webhooks.why}` };
    return jsonResponse({ status: 503, body, headers: { 'Retry-After': '600' } });
  }
  const rawBody = new Uint8Array(await request.arrayBuffer());
  if (rawBody.byteLength > longestBody)
    return jsonResponse({ status: 413, body: { ok: false, error: 'The body is longer than 64 kB.' } });
  return jsonResponse(await content.receive({ headers: Object.fromEntries(request.headers), rawBody }));
};
