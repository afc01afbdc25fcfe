/**
 * POST /api/forms/support (spec section 7): name, email, phone, message, as JSON. A browser that sends the form itself is led to the page
 * of the form.
 */
import type { APIRoute } from 'astro';
import { refuse } from '../../../lib/http/answer.ts';
import { readForm } from '../../../lib/http/body.server.ts';
import { seeOther } from '../../../lib/http/form.server.ts';
import { comesFromHere } from '../../../lib/http/origin.ts';
import { allowOnly, jsonRoute } from '../../../lib/http/routes.server.ts';
import { contactPage } from '../../../lib/support/form.ts';
import { longestBody, sendSupport } from '../../../lib/support/http.server.ts';
import { supportMessages } from '../../../lib/support/messages.ts';
import { type SupportAnswer, supportBody } from '../../../lib/support/wire.ts';

const call = jsonRoute(
  supportBody,
  async ({ body, context }) => {
    const sent = await sendSupport(context, (name) => (body as Record<string, unknown>)[name]);
    if (sent.ok) return { status: 200, body: { message: supportMessages.sent } satisfies SupportAnswer };
    const { status, message, errors, retryAfter } = sent;
    const answer = refuse(status, message, retryAfter === undefined ? {} : { retryAfter });
    return errors ? { ...answer, body: { message, errors } } : answer;
  },
  longestBody,
);

export const POST: APIRoute = async (context) => {
  const { request, locals } = context;
  const type = request.headers.get('content-type') ?? '';
  if (!/^application\/x-www-form-urlencoded\b/i.test(type)) return call(context);
  if (!comesFromHere(request.headers, locals.config.siteUrl)) return new Response(null, { status: 403 });
  const form = await readForm(request, longestBody);
  const sent = form ? await sendSupport(context, (name) => form.get(name)) : null;
  const query = sent?.ok ? '?state=sent' : '?problem=failed';
  return seeOther({ to: contactPage + query });
};
export const ALL = allowOnly('POST');
