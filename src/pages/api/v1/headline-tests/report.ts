/**
 * How a headline test stands, for the editor and for the end of the test (docs/content-api.md, "Headline tests"). The plugin signs the question
 * as it signs a webhook; `id` is the story and `slug` the test.
 */
import type { APIRoute } from 'astro';
import { DatabaseUnavailable } from '../../../../lib/database.ts';
import { testIdForm } from '../../../../lib/headline-tests/model.ts';
import { parseJson } from '../../../../lib/text.ts';

const limit = 4096;

export const POST: APIRoute = async ({ request, locals }) => {
  const { content, features, headlineTests } = locals.services;
  if (!features.webhooks.on) return json(503, { ok: false, error: `Webhooks are off: ${features.webhooks.why}` });
  const rawBody = new Uint8Array(await request.arrayBuffer());
  if (rawBody.byteLength > limit) return json(413, { ok: false, error: 'The body is longer than 4 kB.' });
  const refused = content.verify({ headers: Object.fromEntries(request.headers), rawBody });
  if (refused) return json(refused.status, refused.body);
  const { type, id, slug } = Object(parseJson(new TextDecoder().decode(rawBody))) as Record<string, unknown>;
  const named = typeof slug === 'string' && testIdForm.test(slug) && Number.isSafeInteger(id);
  if (type !== 'headline-tests' || !named) return json(422, { ok: false, error: 'The body names no test.' });
  try {
    const report = await headlineTests.report(Number(id), slug);
    if (!report) return json(404, { ok: false, error: 'The site doesn’t run this test.' });
    return json(200, { ok: true, ...report });
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable)) throw error;
    return json(503, { ok: false, error: 'The accounts’ database isn’t available.' });
  }
};

function json(status: number, body: object): Response {
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };
  return new Response(JSON.stringify(body), { status, headers });
}
