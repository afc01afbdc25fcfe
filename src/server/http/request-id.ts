/** Request ids: which one a request has, and the one that the log adds to its lines (src/server/logging.ts). */
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isFromProxy, type TrustedProxies } from './client-address.ts';

export const requestIdHeader = 'x-request-id';

/** Format of accepted ids: they go into a header and into the log. */
const valid = /^[\w-]{8,64}$/;

const current = new AsyncLocalStorage<{ id: string | undefined }>();

/** Creates the function that gives a request its id: that of a trusted proxy (`X-Request-Id`), or a new one. */
export function requestIds(trusted: TrustedProxies): (incoming: IncomingMessage) => string {
  const isTrusted = isFromProxy(trusted);
  return (incoming) => {
    const given = incoming.headers[requestIdHeader];
    return typeof given === 'string' && valid.test(given) && isTrusted(incoming) ? given : randomUUID();
  };
}

/** Id of the current request; `undefined` outside of one. */
export const currentRequestId = (): string | undefined => current.getStore()?.id;

/** Runs the work of one request. Timers and loops that the work starts outlive it, so the id is removed when the work ends. */
export async function withRequestId(id: string, work: () => Promise<void>): Promise<void> {
  const request: { id: string | undefined } = { id };
  try {
    await current.run(request, work);
  } finally {
    request.id = undefined;
  }
}
