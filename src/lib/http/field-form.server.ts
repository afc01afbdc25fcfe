/**
 * The route and the page of a form whose fields are declared with form-fields.ts. The route accepts JSON from the island and a form
 * from a browser without JavaScript; the page accepts the form at its own address and shows it again with the errors.
 */
import type { APIContext, APIRoute, AstroGlobal } from 'astro';
import { z } from 'zod';
import type { Caller, Session } from '../accounts/service.ts';
import { refuse, tooManyTries } from './answer.ts';
import { type Next, postedForm, seeOther, textResponse } from './form.server.ts';
import {
  checkFields,
  type FieldErrors,
  type Fields,
  fieldNames,
  hiddenFields,
  readFields,
  type Values,
} from './form-fields.ts';
import { callerOf, jsonRoute } from './routes.server.ts';

/** The sender of a form, and the values besides its fields. */
export interface Sender {
  readonly caller: Caller;
  /** `null` when the sender is not signed in. */
  readonly session: Session | null;
  /** Value of the hidden field that only bots fill in. */
  readonly honeypot: string;
  /** The encrypted time at which the form was rendered; empty if it is missing. */
  readonly stamp: string;
}

/** Whether the form was accepted; otherwise seconds until the sender may try again. */
export type Delivery = { readonly ok: true } | { readonly ok: false; readonly retryAfter: number };

export interface FieldForm<Name extends string> {
  readonly fields: Fields<Name>;
  /** Path of the page. */
  readonly page: string;
  readonly messages: { readonly sent: string; readonly failed: string };
  /** Longest body, bytes. */
  readonly limit: number;
  /** Handles valid values; `null` when the form is off. */
  readonly take: (locals: App.Locals) => ((values: Values<Name>, sender: Sender) => Promise<Delivery>) | null;
}

/** A form as its page shows it: the props of `islands/shared/FieldForm.tsx`. */
export interface FieldFormView<Name extends string> {
  readonly values: Partial<Values<Name>>;
  readonly errors: FieldErrors<Name> | undefined;
  /** The error of the whole form, as a sentence. */
  readonly problem: string | null;
  readonly sent: boolean;
  /** The posted stamp: a form that is sent again keeps the time of its first rendering. */
  readonly stamp: string | null;
}

type Context = Pick<APIContext | AstroGlobal, 'request' | 'locals' | 'clientAddress' | 'url'>;

interface Refused<Name extends string> {
  readonly ok: false;
  readonly status: 400 | 429 | 503;
  readonly message: string;
  readonly errors?: FieldErrors<Name>;
  readonly retryAfter?: number;
  readonly values: Values<Name>;
}
type Outcome<Name extends string> = { readonly ok: true } | Refused<Name>;

const longestHidden = 1000;

async function submit<Name extends string>(
  form: FieldForm<Name>,
  context: Context,
  read: (name: string) => unknown,
): Promise<Outcome<Name>> {
  const { services } = context.locals;
  const values = readFields(form.fields, read);
  const errors = checkFields(form.fields, values);
  const [first] = Object.values<string | undefined>(errors);
  if (first !== undefined) return { ok: false, status: 400, message: first, errors, values };
  const failed = { ok: false, status: 503, message: form.messages.failed, values } as const;
  const take = form.take(context.locals);
  if (!take) return failed;
  const hidden = (name: string): string => {
    const value = read(name);
    return typeof value === 'string' ? value.slice(0, longestHidden) : '';
  };
  try {
    const known = await services.sessions?.session(context.request.headers.get('cookie'));
    const delivery = await take(values, {
      caller: callerOf(context),
      session: known?.session ?? null,
      honeypot: hidden(hiddenFields.honeypot),
      stamp: hidden(hiddenFields.stamp),
    });
    if (delivery.ok) return delivery;
    const { retryAfter } = delivery;
    return { ok: false, status: 429, message: tooManyTries(retryAfter), retryAfter, values };
  } catch (error) {
    services.log.error({ err: error, page: form.page }, "A form couldn't be stored");
    return failed;
  }
}

const isJson = ({ headers }: Request): boolean => /^application\/json\b/i.test(headers.get('content-type') ?? '');

/** Longer than any field, so that a field's own message states its limit. */
const text = z.string().max(20_000);

function bodyOf<Name extends string>(fields: Fields<Name>) {
  const shape = fieldNames(fields).map((name) => [name, fields[name].missing === undefined ? text.optional() : text]);
  const hidden = Object.values(hiddenFields).map((name) => [name, text.optional()]);
  return z.looseObject(Object.fromEntries([...shape, ...hidden]) as Record<string, z.ZodType>);
}

/**
 * POST for the island and for browsers without JavaScript: the response to JSON is `{ message }`, or `errors` by field with 400; the
 * response to a posted form is a redirect to the page.
 */
export function fieldFormRoute<Name extends string>(form: FieldForm<Name>): APIRoute {
  const { page, messages, limit } = form;
  const json = jsonRoute(
    bodyOf(form.fields),
    async ({ body, context }) => {
      const outcome = await submit(form, context, (name) => body[name]);
      if (outcome.ok) return { status: 200, body: { message: messages.sent } };
      const { status, message, errors, retryAfter } = outcome;
      const answer = refuse(status, message, retryAfter === undefined ? {} : { retryAfter });
      return errors ? { ...answer, body: { message, errors } } : answer;
    },
    limit,
  );
  return async (context) => {
    const type = context.request.headers.get('content-type') ?? '';
    if (!/^application\/x-www-form-urlencoded\b/i.test(type)) return json(context);
    const take = async (posted: URLSearchParams): Promise<Next> => {
      const outcome = await submit(form, context, (name) => posted.get(name));
      return { to: page + (outcome.ok ? '?state=sent' : '?problem=failed') };
    };
    const answer = await postedForm(context, take, limit);
    if (answer instanceof Response) return answer;
    return answer.status === 403 ? textResponse(403, answer.problem) : seeOther({ to: `${page}?problem=failed` });
  };
}

/**
 * Handles the post to the page. @returns what the page shows, or a response in its place: after success, and for the island's JSON. A
 * form needs a route of its own only if its address is fixed by the protocol.
 */
export async function fieldFormPage<Name extends string>(
  form: FieldForm<Name>,
  page: Context & Pick<AstroGlobal, 'response'>,
): Promise<Response | FieldFormView<Name>> {
  const { messages, limit } = form;
  if (page.request.method !== 'POST') {
    const { searchParams } = page.url;
    const problem = searchParams.get('problem') === 'failed' ? messages.failed : null;
    return { values: {}, errors: undefined, problem, sent: searchParams.get('state') === 'sent', stamp: null };
  }
  if (isJson(page.request)) return await fieldFormRoute(form)(page as AstroGlobal & APIContext);
  let stamp: string | null = null;
  const take = async (posted: URLSearchParams): Promise<Next | Refused<Name>> => {
    stamp = posted.get(hiddenFields.stamp) || null;
    const outcome = await submit(form, page, (name) => posted.get(name));
    return outcome.ok ? { to: `${form.page}?state=sent` } : outcome;
  };
  const answer = await postedForm(page, take, limit);
  if (answer instanceof Response) return answer;
  page.response.status = answer.status;
  if (!('values' in answer)) return { values: {}, errors: undefined, problem: messages.failed, sent: false, stamp };
  const { values, errors, message } = answer;
  return { values, errors, problem: errors ? null : message, sent: false, stamp };
}
