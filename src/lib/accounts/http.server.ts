/**
 * What all account calls have in common: the check of where they come from, JSON bodies, the session, cookies passed on,
 * statuses, `Cache-Control: no-store`, and an answer when the accounts are off or their database is away.
 */
import type { APIContext, APIRoute } from 'astro';
import type { z } from 'zod';
import { type Answer, away, noSession, refuse } from './answers.ts';
import { readJson } from './body.server.ts';
import { comesFromHere } from './origin.ts';
import type { Accounts, Caller, Session, SignedIn } from './service.ts';
import { visitorCookie } from './visitor.ts';
import type { SignedInAnswer } from './wire.ts';

/** What a call is given. */
export interface Call<Body> {
  readonly accounts: Accounts;
  readonly body: Body;
  /** Who asks; `null` when nobody is signed in. */
  readonly session: Session | null;
  readonly caller: Caller;
  readonly context: APIContext;
  /** Origin of the site. */
  readonly siteUrl: string;
}

interface Rules<Schema extends z.ZodType> {
  /** Form of the body; without one the body is not looked at. */
  readonly body?: Schema;
  /** Longest body, bytes. */
  readonly limit?: number;
  /** Whether the session is looked up; not done for calls that have no use for it. */
  readonly session?: 'optional';
  /** What is answered where accounts are off; 503 unless given. */
  readonly whenOff?: (context: APIContext, body: z.output<Schema>) => Answer | Promise<Answer>;
}

/** Seconds after which to ask again. */
const retrySoon = 10;
const retryWhenOff = 600;

/** A call of the account service. */
export const accountCall = <Schema extends z.ZodType = z.ZodUnknown>(
  rules: Rules<Schema>,
  handle: (call: Call<z.output<Schema>>) => Promise<Answer>,
): APIRoute => accountRoute(rules, handle);

/** As {@link accountCall}, for readers who are signed in; others get 401. */
export const readerCall = <Schema extends z.ZodType = z.ZodUnknown>(
  rules: Omit<Rules<Schema>, 'session'>,
  handle: (call: Call<z.output<Schema>> & { readonly session: Session }) => Promise<Answer>,
): APIRoute =>
  accountRoute({ ...rules, session: 'optional' }, async (call) => {
    const { session } = call;
    return session ? handle({ ...call, session }) : noSession();
  });

/** A call that needs no accounts: nothing is looked up, and it works where they are off. */
export const plainCall = <Schema extends z.ZodType>(
  schema: Schema,
  handle: (call: Pick<Call<z.output<Schema>>, 'body' | 'caller' | 'context'>) => Promise<Answer>,
  limit?: number,
): APIRoute =>
  guarded(async (context) => {
    const body = await parseBody(context, schema, limit);
    return body.ok ? handle({ body: body.value, caller: callerOf(context), context }) : body.answer;
  });

/** A GET that needs no accounts. */
export const readCall = (handle: (context: APIContext) => Promise<Answer>): APIRoute => guarded(handle);

function accountRoute<Schema extends z.ZodType>(
  rules: Rules<Schema>,
  handle: (call: Call<z.output<Schema>>) => Promise<Answer>,
): APIRoute {
  return guarded(async (context) => {
    const { accounts } = context.locals.services;
    if (!accounts && !rules.whenOff) return away(retryWhenOff);
    const body = rules.body
      ? await parseBody(context, rules.body, rules.limit)
      : { ok: true as const, value: undefined as z.output<Schema> };
    if (!body.ok) return body.answer;
    if (!accounts) return (await rules.whenOff?.(context, body.value)) ?? away(retryWhenOff);
    const known = rules.session
      ? await accounts.session(context.request.headers.get('cookie'))
      : { session: null, cookies: [] };
    const answer = await handle({
      ...{ accounts, context, body: body.value, session: known.session, caller: callerOf(context) },
      siteUrl: context.locals.config.siteUrl,
    });
    // What the answer sets itself comes last, and wins.
    return { ...answer, cookies: [...known.cookies, ...(answer.cookies ?? [])] };
  });
}

/** Refuses what comes from elsewhere, writes the answer, and turns a fault into 503. */
function guarded(handle: (context: APIContext) => Promise<Answer>): APIRoute {
  return async (context) => {
    const { request, locals } = context;
    const reading = request.method === 'GET' || request.method === 'HEAD';
    if (!reading && !comesFromHere(request.headers, locals.config.siteUrl)) {
      return write(
        refuse(403, `This call comes from another site. Please open ${locals.config.siteUrl} and try again.`),
      );
    }
    try {
      return write(await handle(context));
    } catch (error) {
      locals.services.log.error({ err: error, url: context.url.pathname }, 'An account call failed');
      return write(away(retrySoon));
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
  // Only the field is named: what came may be an address or a code.
  return {
    ok: false as const,
    answer: refuse(400, field ? `${field} is missing or not as it should be.` : 'The request is not as it should be.'),
  };
}

/** Writes an answer as JSON that nobody keeps. */
export function write(answer: Answer): Response {
  const headers = new Headers({ 'Content-Type': 'application/json', 'Cache-Control': 'no-store', ...answer.headers });
  for (const cookie of answer.cookies ?? []) headers.append('Set-Cookie', cookie);
  return new Response(JSON.stringify(answer.body), { status: answer.status, headers });
}

/** Where a request comes from, as the front knows it, and which session it brings. */
export const callerOf = ({
  locals,
  request: { headers },
  clientAddress,
}: Pick<APIContext, 'locals' | 'request' | 'clientAddress'>): Caller => ({
  ...(locals.client ?? { address: clientAddress, userAgent: headers.get('user-agent') }),
  cookies: headers.get('cookie'),
});

/** For the methods that an address does not have. What answers GET answers HEAD. */
export const only = (...methods: readonly string[]): APIRoute => {
  const taken = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
  return () => write({ ...refuse(405, `This address takes ${taken}.`), headers: { Allow: taken } });
};

/** 200 of a sign-in (vendors.md 1.1). */
export const signedInAnswer = (signedIn: SignedIn, message: string): Answer => ({
  status: 200,
  body: {
    cookie: hintCookie(signedIn.cookies),
    message,
    tracking_id: signedIn.session.trackingId,
  } satisfies SignedInAnswer,
  cookies: signedIn.cookies,
});

/**
 * The one cookie that scripts are told: the readable hint. Clients of this protocol assign it to `document.cookie`; the session
 * itself is HttpOnly and never in a body.
 */
export function hintCookie(cookies: readonly string[]): string {
  const isHint = (cookie: string) => cookie.startsWith(`${visitorCookie}=`) && !/;\s*httponly\s*(?:;|$)/i.test(cookie);
  return cookies.find(isHint) ?? '';
}
