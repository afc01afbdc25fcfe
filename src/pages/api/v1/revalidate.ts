/** Webhooks of the newsroom plugin (docs/content-api.md, "Webhook"). */
import type { APIRoute } from 'astro';

/** Webhooks are small; what is larger is no webhook. */
const limit = 64 * 1024;

export const POST: APIRoute = async ({ request, locals }) => {
  const { content, features } = locals.services;
  if (!features.webhooks.on) {
    return json(503, { ok: false, error: `Webhooks are off: ${features.webhooks.why}` }, { 'Retry-After': '600' });
  }
  const rawBody = new Uint8Array(await request.arrayBuffer());
  if (rawBody.byteLength > limit) return json(413, { ok: false, error: 'The body is longer than 64 kB.' });
  const answer = await content.receive({ headers: Object.fromEntries(request.headers), rawBody });
  return json(answer.status, answer.body, answer.headers);
};

function json(status: number, body: object, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', ...headers },
  });
}
