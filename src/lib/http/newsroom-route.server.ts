/** A route for questions of the newsroom's plugin, which signs them as it signs webhooks (docs/content-api.md). They may be repeated. */
import type { APIRoute } from 'astro';
import { parseJson } from '../text.ts';
import { jsonResponse } from './routes.server.ts';

const limit = 4096;

interface NewsroomAnswer {
  readonly status: number;
  readonly body: object;
}

/** What a question is about. */
interface Subject {
  readonly type: unknown;
  readonly id: unknown;
  readonly slug: unknown;
}

/** @param answer called once signature, age and length are found right; a failure, such as a database that isn't available, is logged and 503 */
export function newsroomRoute(
  answer: (subject: Subject, services: App.Locals['services']) => Promise<NewsroomAnswer>,
): APIRoute {
  return async ({ request, locals, url }) => {
    const { content, features, log } = locals.services;
    if (!features.webhooks.on) return json(503, { ok: false, error: `Webhooks are off: ${features.webhooks.why}` });
    const rawBody = new Uint8Array(await request.arrayBuffer());
    if (rawBody.byteLength > limit) return json(413, { ok: false, error: 'The body is longer than 4 kB.' });
    const refused = content.verify({ headers: Object.fromEntries(request.headers), rawBody });
    if (refused) return json(refused.status, refused.body);
    const { type, id, slug } = Object(parseJson(new TextDecoder().decode(rawBody))) as Subject;
    try {
      const { status, body } = await answer({ type, id, slug }, locals.services);
      return json(status, body);
    } catch (error) {
      log.error({ err: error, url: url.pathname }, 'A query of the newsroom plugin failed');
      return json(503, { ok: false, error: 'The site couldn’t answer. Its log says why.' });
    }
  };
}

const json = (status: number, body: object): Response => jsonResponse({ status, body });
