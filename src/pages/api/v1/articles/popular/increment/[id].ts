/**
 * Counts a reading of an article (spec section 7). `categoryId` is the number of the section it was read in; only its format is checked,
 * because the content store knows the sections of an article.
 */
import { z } from 'zod';
import { refuse } from '../../../../../../lib/http/answer.ts';
import { isPrefetch } from '../../../../../../lib/http/origin.ts';
import { allowOnly, jsonRoute } from '../../../../../../lib/http/routes.server.ts';
import { parseId } from '../../../../../../lib/text.ts';

const failed = 'Failed to increment article popularity';

export const POST = jsonRoute(z.unknown(), async ({ caller, context }) => {
  const { params, url, locals } = context;
  const id = parseId(params.id);
  const category = url.searchParams.get('categoryId');
  if (id === null || (category !== null && !/^\d{1,15}$/.test(category))) return refuse(400, failed);
  // Refused, so that the browser doesn't remember the article as counted and tries again when the page is read.
  if (isPrefetch(context.request)) return refuse(409, failed);
  const counted = await locals.services.mostRead.count(id, caller.address);
  if (counted === 'unknown') return refuse(404, failed);
  if (counted === 'limited') return refuse(429, failed, { retryAfter: 3600 });
  const { headers } = context.request;
  const reader = { cookies: headers.get('cookie') ?? '', gpc: headers.get('sec-gpc') === '1' };
  const { headlineTests } = locals.services;
  if (counted === 'counted') headlineTests.count(id, reader);
  // The response doesn't reveal whether it counted, so that a flood learns nothing.
  return { status: 200, body: { ok: true }, cookies: headlineTests.cookiesFor(reader) };
});
export const ALL = allowOnly('POST');
