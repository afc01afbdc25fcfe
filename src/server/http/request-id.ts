/** Request ids: which one a request has, and the one that the log adds to its lines (src/server/logging.ts). */
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isFromProxy, type TrustedProxies } from './client-address.ts';

export const requestIdHeader = 'x-request-id';

/** Ids that are kept: they go into a header and into the log. */
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

/** Id of the request that is being answered; `undefined` outside of one. */
export const currentRequestId = (): string | undefined => current.getStore()?.id;

/** Runs the work of one request. Timers and loops that it leaves behind outlive it, so that the id ends with the work. */
export async function withRequestId(id: string, work: () => Promise<void>): Promise<void> {
  const request: { id: string | undefined } = { id };
  try {
    await current.run(request, work);
  } finally {
    request.id = undefined;
  }
}
