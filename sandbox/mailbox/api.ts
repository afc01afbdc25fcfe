/**
 * The mailbox for tests and for its own page:
 *
 *     GET    /api/messages[?to=&after=]                 {"messages": [newest first], "last": number}
 *     GET    /api/messages?to=&after=&wait=10000        the oldest match, as soon as there is one; 204 after the wait
 *     GET    /api/messages/12                           one message; its `raw` as received
 *     DELETE /api/messages[?to=]                        {"removed": n}
 *     GET    /api/failure                               {"mode", "to"?, "times"?, "delay"?}
 *     PUT    /api/failure                               the same; modes are in failure.ts
 */
import { json, type Route } from '../web.ts';
import { readFailure } from './failure.ts';
import type { MailServer } from './smtp.ts';
import type { MessageFilter, MessageStore } from './store.ts';

/** Longest wait in milliseconds. */
const longestWait = 60_000;

export function api(messages: MessageStore, mail: MailServer): Route[] {
  return [
    {
      method: 'GET',
      path: /^\/api\/messages$/,
      async handle({ url, disconnected }) {
        const filter = filterFrom(url);
        const wait = Math.min(Number(url.searchParams.get('wait') ?? 0) || 0, longestWait);
        if (wait <= 0) return json({ messages: messages.list(filter), last: messages.last });
        const message = await messages.wait(filter, wait, disconnected);
        return message ? json(message) : { status: 204 };
      },
    },
    {
      method: 'DELETE',
      path: /^\/api\/messages$/,
      handle: ({ url }) => json({ removed: messages.remove(filterFrom(url)) }),
    },
    {
      method: 'GET',
      path: /^\/api\/messages\/(\d+)$/,
      handle({ groups: [number] }) {
        const message = messages.get(Number(number));
        return message ? json(message) : json({ error: 'There is no such message.' }, 404);
      },
    },
    { method: 'GET', path: /^\/api\/failure$/, handle: () => json(mail.failure) },
    {
      method: 'PUT',
      path: /^\/api\/failure$/,
      async handle({ body }) {
        const failure = readFailure(parse(await body()));
        if (typeof failure === 'string') return json({ error: failure }, 400);
        await mail.setFailure(failure);
        return json(mail.failure);
      },
    },
  ];
}

/** The filter in the query of an address. */
export function filterFrom(url: URL): MessageFilter {
  const after = Number(url.searchParams.get('after') ?? '');
  return {
    to: url.searchParams.get('to')?.trim() || undefined,
    after: url.searchParams.has('after') ? after : undefined,
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
