/** Sends a page of the press over HTTP. This is the hot path: nothing here is made that could have been made before. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ageAt, type Entry, type Ready, timingAt } from '../cache/cached-page.ts';
import type { AskedHeaders, Parcel } from '../fast-path/fast-path.ts';
import { secondNow } from '../fast-path/http-date.ts';
import type { Press } from '../press.server.ts';
import type { Encoding, Variant } from '../store/stored-page.ts';
import { acceptedEncodings, matchesEtag } from './negotiation.ts';

/** Where a page came from, as `Server-Timing` says it. */
export type Source = 'hit' | 'rendered';

const timings: Readonly<Record<Source, string>> = { hit: 'press;desc="hit"', rendered: 'press;desc="rendered"' };

/** Ages as text; most pages are asked for again within the hour. */
const texts = Array.from({ length: 3600 }, (_, age) => String(age));

/**
 * What a request for a page is answered with: 304 when the browser has these very bytes, otherwise the best encoding that it
 * takes. The parcel is used again for the next one.
 *
 * @param ready usually `Press.ready`
 * @returns `null` when the rendering has just been replaced: look the page up again
 */
export function parcelOf(
  entry: Entry,
  headers: AskedHeaders,
  ready: (entry: Entry, wanted: readonly Encoding[]) => Ready | undefined,
  source: Source = 'hit',
): Parcel | null {
  const made = ready(entry, acceptedEncodings(headers['accept-encoding']));
  if (!made) return null;
  const unchanged = entry.status === 200 && matchesEtag(headers['if-none-match'], made.etag);
  const list = unchanged ? made.notModified : made.headers;
  const age = Math.max(0, secondNow() - entry.second);
  list[list.length - ageAt] = texts[age] ?? String(age);
  list[list.length - timingAt] = timings[source];
  parcel.status = unchanged ? 304 : entry.status;
  parcel.headers = list;
  parcel.body = unchanged ? null : made.body;
  return parcel;
}

const parcel: { -readonly [name in keyof Parcel]: Parcel[name] } & { headers: string[] } = {
  ...{ status: 200, headers: [], body: null },
};

/**
 * Answers GET and HEAD with a page.
 *
 * @returns `false`, and nothing is sent, when the rendering has just been replaced: look the page up again
 */
export function answerPage(
  entry: Entry,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  ready: (entry: Entry, wanted: readonly Encoding[]) => Ready | undefined,
  source: Source = 'hit',
): boolean {
  const sent = parcelOf(entry, incoming.headers as AskedHeaders, ready, source);
  if (!sent) return false;
  // Node copies the list before it returns, so that it can be used again.
  outgoing.writeHead(sent.status, sent.headers as string[]);
  if (sent.body === null || incoming.method === 'HEAD') outgoing.end();
  else outgoing.end(sent.body, 'latin1');
  return true;
}

/**
 * Answers with what is for this asker alone and is to be kept nowhere: whole each time, without validators.
 *
 * @returns as {@link answerPage}
 */
export function answerUnkept(
  entry: Entry,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  ready: (entry: Entry, wanted: readonly Encoding[]) => Ready | undefined,
): boolean {
  const encoding = incoming.headers['accept-encoding'];
  const sent = parcelOf(entry, { 'accept-encoding': encoding === undefined ? undefined : String(encoding) }, ready);
  if (!sent) return false;
  const headers: string[] = [];
  for (let at = 0; at < sent.headers.length; at += 2) {
    const [name = '', value = ''] = sent.headers.slice(at, at + 2);
    if (name === 'etag' || name === 'last-modified') continue;
    headers.push(name, name === 'cache-control' ? 'private, no-store' : value);
  }
  outgoing.writeHead(sent.status, headers);
  if (sent.body === null || incoming.method === 'HEAD') outgoing.end();
  else outgoing.end(sent.body, 'latin1');
  return true;
}

/** A rendering may be replaced between finding it and sending it; more often than this, something is wrong. */
const mostAttempts = 5;

/**
 * Finds a page and answers with it: at once, and without a promise, when it is stored; after its render when it is not.
 *
 * @returns what is to be waited for, where there is something; it rejects with RenderFailed or PressBusy, and nothing has
 *   been sent then
 */
export function servePage(
  press: Pick<Press, 'peek' | 'get' | 'ready'>,
  key: string,
  variant: Variant,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> | undefined {
  const entry = press.peek(key, variant);
  if (entry && answerPage(entry, incoming, outgoing, press.ready)) return undefined;
  return serveLater(press, key, variant, incoming, outgoing);
}

async function serveLater(
  press: Pick<Press, 'get' | 'ready'>,
  key: string,
  variant: Variant,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    const entry = await press.get(key, variant);
    // Whoever has gone in the meantime needs no answer.
    if (outgoing.destroyed) return;
    if (answerPage(entry, incoming, outgoing, press.ready, 'rendered')) return;
  }
  throw new Error('The page was replaced again and again while it was to be sent.');
}
