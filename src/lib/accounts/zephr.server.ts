/**
 * A publisher with a Zephr tenant of their own: requests to `/blaize/*` and `/zephr/*` are proxied to it, so that pages and islands are
 * the same with and without one (docs/services/zephr.md). Bodies aren't parsed, and requests are never retried. Two cookies of this
 * site's own are added to the tenant's: the visitor hint, and the end of the access cookie.
 */

import { once } from 'node:events';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { Agent, request } from 'undici';
import { z } from 'zod';
import { publication } from '../../publication.ts';
import { type Grant, grantOf, registeredGrant } from '../access/entitlements.ts';
import { withoutConnectionHeaders } from '../http/connection-headers.ts';
import { readCookies, setCookie } from '../http/cookies.server.ts';
import { comesFromHere, otherSite } from '../http/origin.ts';
import type { Logger } from '../logging.ts';
import type { AccessSigner } from './dependencies.server.ts';
import { tenantMessages } from './messages.ts';
import { sessionCookie, trackingCookie } from './model.ts';
import type { Accounts } from './service.ts';
import { visitorCookie } from './visitor.ts';

export interface Tenant {
  /** Whether a path belongs to the tenant. */
  owns(pathname: string): boolean;
  /**
   * Passes a request on and the response back; 502 or 504 with a message if the tenant can't be reached.
   *
   * @param target path with query; @param client network address of the caller
   */
  pass(incoming: IncomingMessage, outgoing: ServerResponse, target: string, client: string): Promise<void>;
  close(): Promise<void>;
}

/** Settings that the vendor's public reference doesn't document, but the tenant's console shows; `null`: not available. */
export interface TenantSettings {
  /** Key of `validators` under which the tenant accepts a code; without it readers sign in only by link. */
  readonly codeKey: string | null;
  /** Path that checks a code without using it up; without it, only signing in checks the code. */
  readonly codeCheckPath: string | null;
  /** Path that says whether an address has an account; without it the site first tries a link to sign in. */
  readonly userInfoPath: string | null;
}

export interface TenantOptions {
  readonly settings: TenantSettings;
  /** Base URL of the tenant, without a trailing slash. */
  readonly url: string;
  /** Origin of the site. */
  readonly siteUrl: string;
  /** Name of the access cookie, which ends with the tenant's session. */
  readonly accessCookie: string;
  /** Names of this site's other cookies that grant access, such as an operator's session: they are never sent to the tenant. */
  readonly ownCookies?: readonly string[];
  readonly log: Logger;
  /** Milliseconds for the connection, and then for the answer's head and each piece of its body. */
  readonly timeoutMs?: number;
}

/** Other headers in which proxies send a reader's address: values from outside may be forged. */
const otherAddresses = new Set([
  'x-real-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'true-client-ip',
  'cf-connecting-ip',
]);
/** Longest body that is passed on, bytes. */
const longestBody = 1024 * 1024;

/** Paths that our screens call and that the public reference doesn't document. */
const ownPaths = { codeCheckPath: '/zephr/media/user/otp-check', userInfoPath: '/zephr/media/user/info' } as const;

export function openTenant(options: TenantOptions): Tenant {
  const { timeoutMs = 10_000 } = options;
  const agent = new Agent({
    connect: { timeout: timeoutMs },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connections: 64,
  });
  return {
    owns: (pathname) => /^\/(?:blaize|zephr)(?:\/|$)/.test(pathname),
    pass: (incoming, outgoing, target, client) => pass({ ...options, agent }, incoming, outgoing, target, client),
    close: () => agent.close(),
  };
}

async function pass(
  { agent, ...options }: TenantOptions & { readonly agent: Agent },
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  target: string,
  client: string,
): Promise<void> {
  if (Number(incoming.headers['content-length'] ?? 0) > longestBody)
    return sendMessage(outgoing, 413, tenantMessages.tooLong);
  if (!mayAct(incoming, target, options.siteUrl)) {
    incoming.resume();
    return sendMessage(outgoing, 403, otherSite(options.siteUrl));
  }
  const path = tenantPath(target, options.settings);
  if (path === null) {
    // The sign-in screens continue without an answer: the sign-in itself finds errors.
    incoming.resume();
    return sendMessage(outgoing, 200, 'The tenant is not asked.');
  }
  const closed = new AbortController();
  outgoing.once('close', () => closed.abort());
  try {
    const answer = await request(`${options.url}${path}`, {
      dispatcher: agent,
      method: (incoming.method ?? 'GET') as 'GET',
      headers: requestHeaders(incoming, client, options),
      body: incoming.method === 'GET' || incoming.method === 'HEAD' ? null : Readable.from(bounded(incoming)),
      signal: closed.signal,
    });
    const isPurchase = answer.statusCode === 200 && /^\/(?:blaize\/payment|zephr\/subscribe)(?:\/|$|\?)/.test(target);
    outgoing.writeHead(answer.statusCode, answerHeaders(answer.headers, isPurchase, options));
    for await (const piece of answer.body) {
      if (!outgoing.write(piece)) await once(outgoing, 'drain', { signal: closed.signal }).catch(() => {});
    }
    outgoing.end();
  } catch (error) {
    if (outgoing.destroyed) return;
    if (isTooLong(error)) return sendMessage(outgoing, 413, tenantMessages.tooLong);
    const code = (error as NodeJS.ErrnoException).code ?? (error as Error).name;
    options.log.error({ code, path: target.split('?', 1)[0] }, 'The Zephr tenant did not answer');
    if (outgoing.headersSent) outgoing.destroy();
    else if (/TIMEOUT/i.test(code)) sendMessage(outgoing, 504, tenantMessages.slow);
    else sendMessage(outgoing, 502, tenantMessages.unavailable);
  }
}

/**
 * Whether a request may change something: other sites may not. Excepted are the calls of a social sign-in, because a provider may return
 * the browser by a form that it posts.
 */
const mayAct = ({ method, headers }: IncomingMessage, target: string, siteUrl: string): boolean =>
  method === 'GET' ||
  method === 'HEAD' ||
  /^\/blaize\/oauth\/[\w-]+(?:\/[\w-]+)?(?:\?|$)/.test(target) ||
  comesFromHere({ get: (name) => headers[name]?.toString() ?? null, has: (name) => name in headers }, siteUrl);

/** The tenant's URL for a request; `null`: there is none. */
function tenantPath(target: string, settings: TenantSettings): string | null {
  const [path = '', ...query] = target.split('?');
  for (const name of ['codeCheckPath', 'userInfoPath'] as const) {
    if (path === ownPaths[name]) return settings[name] === null ? null : [settings[name], ...query].join('?');
  }
  return target;
}

/** The request's headers for the tenant. @param client network address of the caller */
function requestHeaders(
  incoming: IncomingMessage,
  client: string,
  { siteUrl, accessCookie, ownCookies = [] }: TenantOptions,
): Record<string, string | string[]> {
  const site = new URL(siteUrl);
  const headers = withoutConnectionHeaders(incoming.headers);
  for (const name of Object.keys(headers)) {
    // The host is the tenant's.
    if (name === 'host' || name === 'forwarded' || name.startsWith('x-forwarded-') || otherAddresses.has(name))
      delete headers[name];
  }
  if (incoming.headers.cookie !== undefined) {
    headers.cookie = cookiesWithout(incoming.headers.cookie, [accessCookie, ...ownCookies]);
    if (headers.cookie === '') delete headers.cookie;
  }
  headers['x-forwarded-for'] = client;
  headers['x-forwarded-host'] = site.host;
  headers['x-forwarded-proto'] = site.protocol.slice(0, -1);
  return headers;
}

/** A `Cookie` header without some cookies. */
const cookiesWithout = (header: string, names: readonly string[]): string =>
  header
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => !names.includes(pair.split('=', 1)[0]?.trim() ?? ''))
    .join('; ');

type SiteOptions = Pick<TenantOptions, 'url' | 'siteUrl' | 'accessCookie'>;

/** The response's headers for the browser: cookies become this site's, and the tenant's URLs become paths of this site. */
function answerHeaders(
  given: Record<string, string | string[] | undefined>,
  isPurchase: boolean,
  options: SiteOptions,
): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = withoutConnectionHeaders(given);
  const secure = options.siteUrl.startsWith('https:');
  const cookies = [given['set-cookie'] ?? []].flat().map((line) => siteCookie(line, secure));
  const lines = [
    ...cookies,
    ...hintCookies(cookies, options, secure),
    // After a purchase the access cookie is out of date, so it is removed, and the next page gets a new one.
    ...(isPurchase ? [endOfAccess(options, secure)] : []),
  ];
  if (lines.length > 0) headers['set-cookie'] = lines;
  const location = [given.location].flat()[0];
  if (location !== undefined) headers.location = siteLocation(location, options.url);
  // A response about a reader must not be shared with other readers.
  headers['cache-control'] ??= 'no-store';
  return headers;
}

/**
 * Without the tenant's domain the cookie belongs to this host only; without https a Secure cookie would be dropped. Browsers that don't
 * treat cookies as `SameSite=Lax` by default are told to.
 */
function siteCookie(line: string, secure: boolean): string {
  const kept = line.split(';').filter((part, place) => place === 0 || !/^\s*(?:domain\s*=.*)?$/i.test(part));
  const parts = secure ? kept : kept.filter((part) => !/^\s*secure\s*$/i.test(part));
  return (/;\s*samesite\s*=/i.test(line) ? parts : [...parts, ' SameSite=Lax']).join(';');
}

/** The visitor hint begins and ends with the tenant's session; the access cookie ends with it. */
function hintCookies(lines: readonly string[], options: SiteOptions, secure: boolean): readonly string[] {
  const line = lines.findLast((one) => one.startsWith(`${sessionCookie}=`));
  if (line === undefined) return [];
  const visitor = { httpOnly: false, secure, maxAge: visitorLife };
  if (!removesCookie(line)) return [setCookie(visitorCookie, 'registered', visitor)];
  return [setCookie(visitorCookie, '', { ...visitor, maxAge: 0 }), endOfAccess(options, secure)];
}

const endOfAccess = ({ accessCookie }: SiteOptions, secure: boolean): string =>
  setCookie(accessCookie, '', { httpOnly: true, secure, maxAge: 0 });

function siteLocation(location: string, tenantUrl: string): string {
  const base = new URL(tenantUrl);
  if (!URL.canParse(location, base)) return location;
  const to = new URL(location, base);
  return to.origin === base.origin && /^https?:/i.test(location) ? to.pathname + to.search + to.hash : location;
}

/** Whether a `Set-Cookie` line removes the cookie. A tenant does that only by the expiry (docs/services/zephr.md). */
function removesCookie(line: string): boolean {
  const attribute = (name: string) => new RegExp(`;\\s*${name}\\s*=\\s*([^;]*)`, 'i').exec(line)?.[1] ?? '';
  const seconds = Number.parseInt(attribute('max-age'), 10);
  // If there are both, Max-Age takes precedence (RFC 6265, section 4.1.2.2).
  const ended = Number.isNaN(seconds) ? Date.parse(attribute('expires')) <= Date.now() : seconds <= 0;
  return ended || /^[^=]*=(?:""|\s*)(?:;|$)/.test(line);
}

class TooLong extends Error {}

/** A failed stream wraps the original error. */
const isTooLong = (error: unknown): boolean =>
  error instanceof TooLong || (error instanceof Error && error.cause instanceof TooLong);

/** The body of a request, up to the size limit. */
async function* bounded(incoming: IncomingMessage): AsyncGenerator<Buffer> {
  let length = 0;
  for await (const piece of incoming as AsyncIterable<Buffer>) {
    length += piece.byteLength;
    if (length > longestBody) throw new TooLong();
    yield piece;
  }
}

function sendMessage(outgoing: ServerResponse, status: number, message: string): void {
  outgoing.writeHead(status, {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    ...(status >= 500 && { 'retry-after': '10' }),
    // The server would parse the unread rest of the body as the next request.
    ...(status === 413 && { connection: 'close' }),
  });
  outgoing.end(JSON.stringify({ message }));
}

// Who is reading: the site asks the tenant, for page guards and paid articles. The reader's access comes from the tenant's feature
// decisions, which are requested with each new access cookie.

/** Timeout for the tenant's response, milliseconds. */
const answerMs = 5000;

export interface TenantSessionsOptions {
  /** Base URL of the tenant, without a trailing slash. */
  readonly url: string;
  /** Whether the site is served over HTTPS. */
  readonly secure: boolean;
  readonly access: AccessSigner;
}

const account = z.object({
  identifiers: z.object({ email_address: z.string() }),
  tracking_id: z.string(),
});
const decisions = z.object({ accessDetails: z.object({ activeProducts: z.array(z.string()) }) });
/** Seconds. */
const accessLife = 15 * 60;
const visitorLife = 30 * 24 * 60 * 60;

/** @returns as `Accounts.session`; rejects if the tenant doesn't answer or answers incorrectly */
export function tenantSessions(options: TenantSessionsOptions): Pick<Accounts, 'session'> {
  const { url, secure, access } = options;

  /** The access that the tenant reports for this reader; only a free account if it doesn't report any. */
  async function grantFor(cookie: string): Promise<Grant> {
    try {
      const answer = await request(`${url}/zephr/feature-decisions`, {
        method: 'POST',
        headers: { cookie, accept: 'application/json', 'content-type': 'application/json' },
        body: JSON.stringify({ featureIds: publication.featureIds }),
        headersTimeout: answerMs,
        bodyTimeout: answerMs,
      });
      const { accessDetails } = decisions.parse(await answer.body.json());
      const until = Number.POSITIVE_INFINITY;
      return grantOf(
        accessDetails.activeProducts.map((product) => ({ product, until, trialing: false })),
        Date.now(),
      );
    } catch {
      return registeredGrant;
    }
  }

  return {
    async session(header) {
      const mine = [sessionCookie, trackingCookie].flatMap((name) =>
        readCookies(header, name).map((value) => `${name}=${value}`),
      );
      if (!mine.some((cookie) => cookie.startsWith(`${sessionCookie}=`))) return { session: null, cookies: [] };
      const answer = await request(`${url}/blaize/account`, {
        headers: { cookie: mine.join('; '), accept: 'application/json' },
        headersTimeout: answerMs,
        bodyTimeout: answerMs,
      });
      if (answer.statusCode !== 200) {
        await answer.body.dump();
        if (answer.statusCode === 401) return { session: null, cookies: [] };
        throw new Error(`The Zephr tenant answered ${answer.statusCode} to the question who is reading.`);
      }
      const { identifiers, tracking_id: trackingId } = account.parse(await answer.body.json());
      const cookies: string[] = [];
      const hinted = readCookies(header, visitorCookie);
      const due = !readCookies(header, access.name).some((value) => access.verify(value) !== null);
      const grant = due ? await grantFor(mine.join('; ')) : null;
      const visitor = grant?.visitor ?? 'registered';
      if (hinted.length === 0 || (grant && !hinted.includes(visitor))) {
        cookies.push(setCookie(visitorCookie, visitor, { maxAge: visitorLife, httpOnly: false, secure }));
      }
      if (grant) {
        const value = access.sign(grant.level, Math.floor(Date.now() / 1000) + accessLife);
        cookies.push(setCookie(access.name, value, { maxAge: accessLife, httpOnly: true, secure }));
      }
      // The tenant tells neither the session's id nor its start, so the user's id and 0 are used.
      const session = { id: trackingId, userId: trackingId, trackingId, email: identifiers.email_address };
      return { session: { ...session, emailVerified: true }, cookies };
    },
  };
}
