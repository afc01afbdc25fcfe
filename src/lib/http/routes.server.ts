/**
 * JSON routes: the origin check, the body's schema, the session and its cookies, `Cache-Control: no-store`, and 503 when accounts are off
 * or their database is unavailable.
 */
import type { APIContext, APIRoute } from 'astro';
import type { z } from 'zod';
import type { Accounts, Caller, Session } from '../accounts/service.ts';
import { parseJson } from '../json.ts';
import { type Answer, featureOff, refuse, signInFirst, wrongMethod } from './answer.ts';
import { readJson } from './form.server.ts';
import { common } from './messages.ts';
import { comesFromHere, otherSite } from './origin.ts';

/** The arguments of a route's handler. */
export interface Call<Body> {
  readonly accounts: Accounts;
  readonly body: Body;
  /** `null` when the reader is not signed in. */
  readonly session: Session | null;
  readonly caller: Caller;
  readonly context: APIContext;
  /** Origin of the site. */
  readonly siteUrl: string;
}

interface Rules<Schema extends z.ZodType> {
  /** Schema of the body; without one, the body is not read. */
  readonly body?: Schema;
  /** Longest body, bytes. */
  readonly limit?: number;
  /** Looks up the session; omitted for routes that don't need it. */
  readonly session?: 'optional';
  /** The response if accounts are off; by default 503. */
  readonly whenOff?: (context: APIContext, body: z.output<Schema>) => Answer | Promise<Answer>;
}

/** `Retry-After` after a failure, seconds. */
const retrySoon = 10;

/** A JSON route that needs accounts. */
export function accountRoute<Schema extends z.ZodType = z.ZodUnknown>(
  rules: Rules<Schema>,
  handle: (call: Call<z.output<Schema>>) => Promise<Answer>,
): APIRoute {
  return guarded(async (context) => {
    const { accounts } = context.locals.services;
    if (!accounts && !rules.whenOff) return featureOff();
    const body = rules.body
      ? await parseBody(context, rules.body, rules.limit)
      : { ok: true as const, value: undefined as z.output<Schema> };
    if (!body.ok) return body.answer;
    if (!accounts) return (await rules.whenOff?.(context, body.value)) ?? featureOff();
    const { session, cookies } = rules.session
      ? await accounts.session(context.request.headers.get('cookie'))
      : { session: null, cookies: [] };
    const answer = await handle({
      accounts,
      context,
      session,
      body: body.value,
      caller: callerOf(context),
      siteUrl: context.locals.config.siteUrl,
    });
    // The response's own cookies come last, so that they win.
    return { ...answer, cookies: [...cookies, ...(answer.cookies ?? [])] };
  });
}

/** As {@link accountRoute}, for signed-in readers; others get 401. */
export const signedInRoute = <Schema extends z.ZodType = z.ZodUnknown>(
  rules: Omit<Rules<Schema>, 'session'>,
  handle: (call: Call<z.output<Schema>> & { readonly session: Session }) => Promise<Answer>,
): APIRoute =>
  accountRoute({ ...rules, session: 'optional' }, async (call) => {
    const { session } = call;
    return session ? handle({ ...call, session }) : signInFirst();
  });

/** A JSON route that works when accounts are off; it looks up no session. */
export const jsonRoute = <Schema extends z.ZodType>(
  schema: Schema,
  handle: (call: Pick<Call<z.output<Schema>>, 'body' | 'caller' | 'context'>) => Promise<Answer>,
  limit?: number,
): APIRoute =>
  guarded(async (context) => {
    const body = await parseBody(context, schema, limit);
    return body.ok ? handle({ body: body.value, caller: callerOf(context), context }) : body.answer;
  });

/** A GET without a body that works when accounts are off. */
export const getRoute = (handle: (context: APIContext) => Promise<Answer>): APIRoute => guarded(handle);

/** 405 with `Allow`, for every other method. A route with GET also handles HEAD. */
export function allowOnly(...methods: readonly string[]): APIRoute {
  const allowed = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
  return () => jsonResponse({ ...refuse(405, wrongMethod(allowed)), headers: { Allow: allowed } });
}

/** Refuses requests from other sites, sends the response, and turns an exception into 503. */
function guarded(handle: (context: APIContext) => Promise<Answer>): APIRoute {
  return async (context) => {
    const { request, locals } = context;
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (!isRead && !comesFromHere(request.headers, locals.config.siteUrl)) {
      return jsonResponse(refuse(403, otherSite(locals.config.siteUrl)));
    }
    try {
      return jsonResponse(await handle(context));
    } catch (error) {
      locals.services.log.error({ err: error, url: context.url.pathname }, 'A route failed');
      return jsonResponse(refuse(503, common.wrong, { retryAfter: retrySoon }));
    }
  };
}

async function parseBody<Schema extends z.ZodType>(context: APIContext, schema: Schema, limit?: number) {
  const json = await readJson(context.request, limit);
  if (!json.ok) return json;
  const parsed = schema.safeParse(json.value);
  if (parsed.success) return { ok: true as const, value: parsed.data };
  const [issue] = parsed.error.issues;
  const field = issue?.path.join('.') ?? '';
  // The message names only the field: its value may be an address or a code.
  return {
    ok: false as const,
    answer: refuse(400, field ? `${field} is missing or not valid.` : 'The request is not valid.'),
  };
}

/** Sends a response as JSON that no cache stores. */
export function jsonResponse(answer: Answer): Response {
  const headers = new Headers({ 'Content-Type': 'application/json', 'Cache-Control': 'no-store', ...answer.headers });
  for (const cookie of answer.cookies ?? []) headers.append('Set-Cookie', cookie);
  return new Response(JSON.stringify(answer.body), { status: answer.status, headers });
}

/** The origin of a request as the server knows it, with its cookies. */
export const callerOf = ({
  locals,
  request: { headers },
  clientAddress,
}: Pick<APIContext, 'locals' | 'request' | 'clientAddress'>): Caller => ({
  ...(locals.client ?? { address: clientAddress, userAgent: headers.get('user-agent') }),
  cookies: headers.get('cookie'),
});

/** Largest body of a query, bytes. */
const longestQuery = 4096;

/** What the plugin sends with a query. */
interface NewsroomQuery {
  readonly type: unknown;
  readonly id: unknown;
  readonly slug: unknown;
}

/**
 * A route for queries of the newsroom plugin, which signs them like webhooks (docs/content-api.md). Replays are allowed.
 *
 * @param answer called if signature, age and length are valid; a failure, such as an unavailable database, is logged and answered with 503
 */
export function newsroomRoute(
  answer: (query: NewsroomQuery, services: App.Locals['services']) => Promise<Answer>,
): APIRoute {
  return async ({ request, locals, url }) => {
    const { content, features, log } = locals.services;
    if (!features.webhooks.on) return newsroomRefusal(503, `Webhooks are off: ${features.webhooks.why}`);
    const rawBody = new Uint8Array(await request.arrayBuffer());
    if (rawBody.byteLength > longestQuery) return newsroomRefusal(413, 'The body is longer than 4 kB.');
    const refused = content.verify({ headers: Object.fromEntries(request.headers), rawBody });
    if (refused) return jsonResponse(refused);
    const { type, id, slug } = Object(parseJson(new TextDecoder().decode(rawBody))) as NewsroomQuery;
    try {
      return jsonResponse(await answer({ type, id, slug }, locals.services));
    } catch (error) {
      log.error({ err: error, url: url.pathname }, 'A query of the newsroom plugin failed');
      return newsroomRefusal(503, 'The site couldn’t answer. Its log says why.');
    }
  };
}

const newsroomRefusal = (status: number, error: string): Response =>
  jsonResponse({ status, body: { ok: false, error } });
