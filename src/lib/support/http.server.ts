/** What the call and the page of the support form have in common. */
import type { APIContext, AstroGlobal } from 'astro';
import type { Session } from '../accounts/service.ts';
import { tooManyTries } from '../http/rate-limit.ts';
import { callerOf } from '../http/routes.server.ts';
import { checkSupport, hiddenFields, type SupportErrors, type SupportFields, supportFrom } from './form.ts';
import { supportMessages } from './messages.ts';

/** What came of a message. */
export type Sent =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly status: 400 | 429 | 503;
      /** A sentence about the whole. */
      readonly message: string;
      readonly errors?: SupportErrors;
      readonly retryAfter?: number;
      /** What was typed, put in order. */
      readonly typed: SupportFields;
    };

/** Longest form and body, bytes: a message of the longest kind, escaped. */
export const longestBody = 64 * 1024;

/** @param read a field of what was sent, by its name */
export async function sendSupport(
  context: Pick<APIContext | AstroGlobal, 'request' | 'locals' | 'clientAddress'>,
  read: (name: string) => unknown,
): Promise<Sent> {
  const { support, log } = context.locals.services;
  const typed = supportFrom(read);
  const failed = { ok: false, status: 503, message: supportMessages.failed, typed } as const;
  const errors = checkSupport(typed);
  const [first] = Object.values(errors);
  if (first !== undefined) return { ok: false, status: 400, message: first, errors, typed };
  if (!support) return failed;
  const hidden = (name: string): string => {
    const value = read(name);
    return typeof value === 'string' ? value.slice(0, 1000) : '';
  };
  try {
    const taken = await support.take(typed, {
      caller: callerOf(context),
      session: await whoWrites(context),
      trap: hidden(hiddenFields.trap),
      stamp: hidden(hiddenFields.stamp),
    });
    if (taken.ok) return { ok: true };
    const { retryAfter } = taken;
    return { ok: false, status: 429, message: tooManyTries(retryAfter), retryAfter, typed };
  } catch (error) {
    log.error({ err: error }, 'A message to the support inbox could not be kept');
    return failed;
  }
}

const whoWrites = async ({ request, locals }: Pick<APIContext, 'request' | 'locals'>): Promise<Session | null> =>
  (await locals.services.sessions?.session(request.headers.get('cookie')))?.session ?? null;
