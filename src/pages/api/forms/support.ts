/**
 * POST /api/forms/support (spec section 7): name, email, phone, message, as JSON. A browser that sends the form itself is led to the page
 * of the form.
 */
import type { APIRoute } from 'astro';
import { refuse } from '../../../lib/accounts/answers.ts';
import { readForm } from '../../../lib/accounts/body.server.ts';
import { only, plainCall } from '../../../lib/accounts/http.server.ts';
import { comesFromHere } from '../../../lib/accounts/origin.ts';
import { contactPage, supportSaid } from '../../../lib/support/form.ts';
import { longestBody, sendSupport } from '../../../lib/support/http.server.ts';
import { type SupportAnswer, supportBody } from '../../../lib/support/wire.ts';

const call = plainCall(
  supportBody,
  async ({ body, context }) => {
    const sent = await sendSupport(context, (name) => (body as Record<string, unknown>)[name]);
    if (sent.ok) return { status: 200, body: { message: supportSaid.sent } satisfies SupportAnswer };
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
  return new Response(null, { status: 303, headers: { Location: contactPage + query, 'Cache-Control': 'no-store' } });
};
export const ALL = only('POST');
