/**
 * The site in front of a Zephr tenant (`ZEPHR_URL`): `/blaize/*` and `/zephr/*` go there and back unchanged. The tenant is a stand-in with
 * state that answers with the bodies, statuses and cookies of docs/services/zephr.md, as they were recorded.
 */
import { once } from 'node:events';
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openTenant, type Tenant, tenantSessions } from '../../src/lib/accounts/zephr.server.ts';
import { silent } from '../../src/lib/logging.ts';
import { createAccessCookie } from '../../src/press/delivery/access-cookie.ts';
import { createHttpServer } from '../../src/server/http/http-server.ts';
import { securityHeaders } from '../../src/server/http/security-headers.ts';
import { shutDown } from '../../src/server/http/shutdown.ts';
import { openStatics } from '../../src/server/http/static-files.ts';
import { Browser } from '../fixtures/account-site.ts';
import { answerWith } from '../fixtures/answer.ts';
import { bareSettings } from '../world/http-servers.ts';
import { bodies } from './fixtures/accounts.ts';

const siteUrl = 'https://paper.example';
const session = '0e7a2d5c-6a0f-4c5b-9f0e-2f6b1a4c9d11';
const tracking = '5f1b3c2e-8d4a-4e67-a1b2-c3d4e5f60718';

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}
let seen: Seen[] = [];
const users = new Map<string, Record<string, unknown>>();
const signedIn = new Set<string>();
/** What the reader has bought; `null`: the tenant doesn't report it. */
let products: string[] | null = [];
let stand: Server;
let front: Server;
let tenant: Tenant;
let port: number;
let tenantUrl: string;
/** A tenant of which only the public reference is known. */
const unsaid = { codeKey: null, codeCheckPath: null, userInfoPath: null };

const cookies = [
  `blaize_session=${session}; Expires=Tue, 20 Nov 2040 10:00:00 GMT; Path=/; Domain=.zephr.example; Secure; SameSite=None`,
  `blaize_tracking_id=${tracking}; Expires=Tue, 20 Nov 2040 10:00:00 GMT; Path=/; domain=zephr.example;`,
];
const cookie = `blaize_session=${session}; Expires=Tue, 20 Nov 2040 10:00:00 GMT; Path=/;`;

/** The tenant. */
async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks).toString();
  const { method = '', url = '', headers } = incoming;
  seen.push({ method, url, headers, body });
  const say = (status: number, value: unknown, more: Record<string, string | string[]> = {}) => {
    outgoing.writeHead(status, { 'content-type': 'application/json', ...more });
    outgoing.end(JSON.stringify(value));
  };
  const path = url.split('?', 1)[0];
  const mine = /blaize_session=([\w-]+)/.exec(headers.cookie ?? '')?.[1] ?? '';
  const sent = headers['content-type'] === 'application/json' && body ? JSON.parse(body) : {};
  const email: string = sent.identifiers?.email_address ?? '';
  const reader = signedIn.has(mine);
  // A tenant's own addresses aren't in the public reference; this tenant's differ from those that our screens request.
  if (path === '/zephr/paper/known') return users.has(email) ? say(200, {}) : say(404, {});
  if (path === '/zephr/paper/code') return sent.code === '123456' ? say(200, {}) : say(400, {});
  if (path === '/blaize/two-factor-authentication') {
    if (sent.delivery?.action === 'login' && !users.has(email)) return say(404, {});
    return say(201, {});
  }
  if (path === '/blaize/register') {
    if (users.has(email)) return say(409, {});
    users.set(email, sent.attributes ?? {});
    signedIn.add(session);
    return say(200, { cookie, message: 'Registration successful', tracking_id: tracking }, { 'set-cookie': cookies });
  }
  if (path === '/blaize/login') {
    if (sent.validators?.email_otp !== '123456') {
      outgoing.writeHead(401, { 'content-type': 'text/html' });
      outgoing.end('<html><head><title>Email verification is required</title></head></html>');
      return;
    }
    signedIn.add(session);
    return say(200, { cookie, message: 'Login successful', tracking_id: tracking }, { 'set-cookie': cookies });
  }
  if (path === '/blaize/account') {
    const identifiers = { email_address: [...users.keys()][0] };
    return reader ? say(200, { identifiers, tracking_id: tracking }) : say(401, {});
  }
  if (path === '/zephr/feature-decisions' && products)
    return say(200, { featureResults: {}, accessDetails: { authenticated: reader, activeProducts: products } });
  if (path === '/blaize/payment/stripe/subscribe') return say(reader ? 200 : 401, { grant_id: 'g' });
  if (path === '/blaize/logout') {
    signedIn.delete(mine);
    return say(
      200,
      { message: 'Session deleted' },
      { 'set-cookie': 'blaize_session=; Max-Age=0; Path=/; Domain=.zephr.example' },
    );
  }
  if (path === '/blaize/oauth/google') {
    outgoing.writeHead(302, { location: 'https://accounts.google.example/o/oauth2?client_id=1' }).end();
    return;
  }
  if (path === '/blaize/token-exchange' && method === 'GET') {
    const { port: own } = stand.address() as AddressInfo;
    outgoing.writeHead(302, { location: `http://127.0.0.1:${own}/article/a?x=1#y`, 'set-cookie': cookies }).end();
    return;
  }
  if (path === '/blaize/sets') {
    outgoing.writeHead(200, { 'set-cookie': body }).end();
    return;
  }
  if (path === '/blaize/compressed') {
    outgoing.writeHead(200, {
      'content-type': 'application/json',
      'content-encoding': 'gzip',
      'cache-control': 'max-age=5',
    });
    outgoing.end(gzipSync('{"a":1}'));
    return;
  }
  if (path === '/blaize/hop') {
    outgoing
      .writeHead(200, { connection: 'x-secret', 'x-secret': '1', 'keep-alive': 'timeout=9', 'x-kept': '2' })
      .end('ok');
    return;
  }
  if (path === '/blaize/never') return;
  say(404, {});
}

const listen = async (server: Server): Promise<number> => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
};

beforeAll(async () => {
  stand = createServer((incoming, outgoing) => {
    // A refused upload ends with an error here.
    answer(incoming, outgoing).catch(() => outgoing.destroy());
  });
  // By default a connection closes after 5 seconds without a request, which a busy client may learn too late.
  stand.keepAliveTimeout = 60_000;
  const url = `http://127.0.0.1:${await listen(stand)}`;
  tenantUrl = url;
  const settings = { codeKey: 'email_otp', codeCheckPath: '/zephr/paper/code', userInfoPath: '/zephr/paper/known' };
  const ownCookies = ['gift', 'operator'];
  tenant = openTenant({ url, siteUrl, accessCookie: 'access', ownCookies, settings, log: silent, timeoutMs: 60_000 });
  front = createHttpServer({
    siteUrl,
    tenant,
    log: silent,
    editionReady: () => true,
    readiness: () => ({}),
    statics: openStatics('/nowhere'),
    security: securityHeaders({ ...bareSettings, siteUrl }),
    render: async () => answerWith('a page of ours'),
    locals: () => ({ content: { tags: new Set() } }) as unknown as App.Locals,
    clientAddress: () => '203.0.113.9',
  });
  port = await listen(front);
});
afterAll(async () => {
  await shutDown(front, 0);
  await tenant.close();
  stand.closeAllConnections();
  await new Promise((resolve) => stand.close(resolve));
});
afterEach(() => {
  seen = [];
});

describe('a Zephr tenant', () => {
  it('handles a whole sign-up, sign-in and sign-out through this site', async () => {
    const browser = new Browser(port);
    const by = { identifiers: { email_address: 'ada@example.com' } };
    expect((await browser.post('/zephr/media/user/info', by)).status).toBe(404);
    expect(
      (
        await browser.post(
          '/blaize/two-factor-authentication',
          bodies.twoFactor['flat and delivery']('ada@example.com', 'register', '/'),
        )
      ).status,
    ).toBe(201);
    expect((await browser.post('/zephr/media/user/otp-check', { code: '1', email: 'ada@example.com' })).status).toBe(
      400,
    );
    const made = await browser.post('/blaize/register', { ...by, validators: { email_otp: '123456' }, attributes: {} });
    expect([made.status, made.json()]).toEqual([
      200,
      { cookie, message: 'Registration successful', tracking_id: tracking },
    ]);
    expect((await browser.get('/blaize/account')).json()).toEqual({ ...by, tracking_id: tracking });
    browser.jar.set('access', 'one of ours');
    expect((await browser.post('/zephr/media/user/info', by)).status).toBe(200);
    expect((await browser.post('/blaize/register', { ...by, validators: {} })).status).toBe(409);
    expect((await browser.post('/blaize/logout', { where: 'EVERYWHERE' })).json()).toEqual({
      message: 'Session deleted',
    });
    expect([...browser.jar.keys()]).toEqual(['blaize_tracking_id']);
    expect((await browser.get('/blaize/account')).status).toBe(401);
    const refused = await browser.post('/blaize/login', { ...by, validators: { email_otp: '1' } });
    // A response that isn't JSON stays unchanged.
    expect([refused.status, refused.headers['content-type']]).toEqual([401, 'text/html']);
    expect(refused.text).toContain('Email verification is required');
  });

  it('is not asked about users and codes when its addresses for them are not configured', async () => {
    const plain = openTenant({ url: tenantUrl, siteUrl, accessCookie: 'access', settings: unsaid, log: silent });
    const server = createServer((incoming, outgoing) => {
      void plain.pass(incoming, outgoing, incoming.url ?? '', '203.0.113.9');
    });
    const browser = new Browser(await listen(server));
    try {
      const by = { identifiers: { email_address: 'nobody@example.com' } };
      // The answer doesn't say that there is no such account, because the tenant hasn't said so.
      expect((await browser.post('/zephr/media/user/info', by)).status).toBe(200);
      expect((await browser.post('/zephr/media/user/otp-check', { code: '1', email: 'a@b.example' })).status).toBe(200);
      expect(seen).toEqual([]);
      expect((await browser.get('/blaize/account')).status).toBe(401);
      expect(seen).toHaveLength(1);
    } finally {
      await shutDown(server, 0);
      await plain.close();
    }
  });

  it('receives method, path, query, body and cookies unchanged, and the reader’s IP address', async () => {
    const body = '{"identifiers": {"email_address":"ada@example.com"},  "x": "é"}';
    const headers = {
      'content-type': 'application/json',
      cookie: 'a=b; blaize_session=c',
      'x-forwarded-for': '1.1.1.1',
      'x-real-ip': '1.1.1.1',
      'true-client-ip': '1.1.1.1',
    };
    await new Browser(port).ask('/zephr/decision-engine?raw=true&x=%2F', { method: 'PATCH', body, headers });
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({ method: 'PATCH', url: '/zephr/decision-engine?raw=true&x=%2F', body });
    expect(seen[0]?.headers).toMatchObject({
      cookie: 'a=b; blaize_session=c',
      'content-type': 'application/json',
      'x-forwarded-for': '203.0.113.9',
      'x-forwarded-host': 'paper.example',
      'x-forwarded-proto': 'https',
      origin: siteUrl,
    });
    expect(JSON.stringify(seen[0]?.headers)).not.toContain('1.1.1.1');
    expect(seen[0]?.headers.host).toMatch(/^127\.0\.0\.1:/);
  });

  it('receives no cookie for this site’s own rights: operator session, gift link, article access', async () => {
    const cookie = 'operator=an-operator; a=b;access=v1.paid; blaize_session=c; gift=v1.one; gift=v1.two; operators=d';
    await new Browser(port).ask('/blaize/account', { headers: { cookie } });
    await new Browser(port).ask('/blaize/account', { headers: { cookie: 'operator=an-operator' } });
    expect(seen.map(({ headers }) => headers.cookie)).toEqual(['a=b; blaize_session=c; operators=d', undefined]);
  });

  it('answers with this site’s security headers, but without Cross-Origin-Opener-Policy', async () => {
    for (const path of ['/blaize/account', '/blaize/oauth/google/callback']) {
      const { headers } = await new Browser(port).ask(path);
      expect(headers['x-content-type-options'], path).toBe('nosniff');
      expect(headers['x-frame-options'], path).toBe('SAMEORIGIN');
      expect(headers['strict-transport-security'], path).toBeDefined();
      expect(headers['cross-origin-opener-policy'], path).toBeUndefined();
    }
  });

  it('sets its cookies for this site’s host', async () => {
    const answer = await new Browser(port).post('/blaize/login', { validators: { email_otp: '123456' } });
    expect(answer.cookies).toEqual([
      `blaize_session=${session}; Expires=Tue, 20 Nov 2040 10:00:00 GMT; Path=/; Secure; SameSite=None`,
      `blaize_tracking_id=${tracking}; Expires=Tue, 20 Nov 2040 10:00:00 GMT; Path=/; SameSite=Lax`,
      expect.stringMatching(/^visitor=registered; Path=\/; Max-Age=2592000; .*SameSite=Lax; Secure$/),
    ]);
    expect(answer.headers['cache-control']).toBe('no-store');
  });

  it.each([
    ['blaize_session=; Max-Age=0; Path=/', 'ended'],
    ['blaize_session=""; Path=/', 'ended'],
    ['blaize_session=deleted; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/', 'ended'],
    ['blaize_session=deleted; Max-Age=-1; Path=/', 'ended'],
    ['blaize_session=a; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=60; Path=/', 'open'],
    ['blaize_session=a; Path=/', 'open'],
  ])('sets %s, and the session is %s', async (line, state) => {
    const answer = await new Browser(port).ask('/blaize/sets', { method: 'POST', body: line });
    const [, visitor = '', access] = answer.cookies;
    expect(visitor).toMatch(state === 'open' ? /^visitor=registered;.* Max-Age=2592000/ : /^visitor=;.* Max-Age=0;/);
    if (state === 'open') expect(access).toBeUndefined();
    else expect(access).toMatch(/^access=;.* Max-Age=0;/);
  });

  it('is asked for the reader’s session and products, which decide the access cookie', async () => {
    const access = createAccessCookie({
      name: 'access',
      keys: [{ id: 'k', secret: 'a-secret-for-the-access-cookie-of-tests' }],
    });
    const { port: own } = stand.address() as AddressInfo;
    const sessions = tenantSessions({ url: `http://127.0.0.1:${own}`, secure: true, access });
    expect(await sessions.session(null)).toEqual({ session: null, cookies: [] });
    expect(await sessions.session('other=1')).toEqual({ session: null, cookies: [] });
    expect(seen).toEqual([]);
    expect(await sessions.session('blaize_session=ended; other=1')).toEqual({ session: null, cookies: [] });
    expect(seen[0]?.headers.cookie).toBe('blaize_session=ended');
    users.set('ada@example.com', {});
    signedIn.add(session);
    const { session: who, cookies: set } = await sessions.session(`blaize_session=${session}`);
    expect(who).toMatchObject({ email: 'ada@example.com', trackingId: tracking });
    expect(set.map((line) => line.split('=', 1)[0])).toEqual(['visitor', 'access']);
    expect(access.levelFor(set[1]?.split(';', 1)[0])).toBe('registered');
    const known = `blaize_session=${session}; visitor=registered; ${set[1]?.split(';', 1)[0]}`;
    expect((await sessions.session(known)).cookies).toEqual([]);
    products = ['sun-member'];
    const paid = (await sessions.session(`blaize_session=${session}; visitor=registered`)).cookies;
    expect(paid[0]).toMatch(/^visitor=member;/);
    expect(access.levelFor(paid[1]?.split(';', 1)[0])).toBe('subscriber');
    products = null;
    const unsaid = (await sessions.session(`blaize_session=${session}; visitor=registered`)).cookies;
    expect(access.levelFor(unsaid[0]?.split(';', 1)[0])).toBe('registered');
    products = [];
    signedIn.delete(session);
    await expect(tenantSessions({ url: 'http://127.0.0.1:1', secure: true, access }).session(known)).rejects.toThrow();
  });

  it('receives a purchase, after which the access cookie is deleted so that the next page gets a new one', async () => {
    const browser = new Browser(port);
    browser.jar.set('blaize_session', session);
    const buy = () => browser.post('/blaize/payment/stripe/subscribe', { product_id: 'p', payment_method: 'pm' });
    signedIn.delete(session);
    expect((await buy()).cookies).toEqual([]);
    signedIn.add(session);
    expect((await buy()).cookies).toEqual([expect.stringMatching(/^access=;.* Max-Age=0;/)]);
  });

  it('has redirects to itself turned into paths of this site; others are unchanged', async () => {
    const browser = new Browser(port);
    const link = await browser.get('/blaize/token-exchange?token=x');
    expect([link.status, link.headers.location, link.cookies.length]).toEqual([302, '/article/a?x=1#y', 3]);
    const away = await browser.get('/blaize/oauth/google');
    expect(away.headers.location).toBe('https://accounts.google.example/o/oauth2?client_id=1');
  });

  it('has compressed bodies and cache headers passed on, but not connection headers', async () => {
    const compressed = await new Browser(port).get('/blaize/compressed');
    expect(compressed.headers).toMatchObject({ 'content-encoding': 'gzip', 'cache-control': 'max-age=5' });
    const hop = await new Browser(port).get('/blaize/hop', {
      headers: { connection: 'x-mine', 'x-mine': '1', te: 'trailers' },
    });
    expect(hop.headers).toMatchObject({ 'x-kept': '2' });
    expect(hop.headers['x-secret']).toBeUndefined();
    expect(hop.headers['keep-alive']).not.toBe('timeout=9');
    expect(seen[1]?.headers).not.toHaveProperty('x-mine');
    expect(seen[1]?.headers).not.toHaveProperty('te');
  });

  it('gets no requests for other paths, which this site’s pages answer', async () => {
    for (const path of ['/', '/blaizer', '/api/geo', '/article/blaize'])
      expect((await new Browser(port).get(path)).text).toBe('a page of ours');
    expect(seen).toEqual([]);
  });

  it('gets no body over 1 MB: the site answers 413, with or without a declared length', async () => {
    const browser = new Browser(port);
    expect((await browser.post('/blaize/login', 'x'.repeat(1024 * 1024 + 1))).status).toBe(413);
    const chunked = await new Promise<number>((resolve) => {
      const outgoing = httpRequest(
        { port, host: '127.0.0.1', path: '/blaize/login', method: 'POST', agent: false },
        (incoming) => {
          incoming.resume();
          resolve(incoming.statusCode ?? 0);
        },
      );
      outgoing.on('error', () => resolve(413));
      for (let piece = 0; piece < 40; piece++) outgoing.write('x'.repeat(64 * 1024));
      outgoing.end();
    });
    expect(chunked).toBe(413);
  });

  it('causes a 504 when it is too slow, and a 502 when it is down', async () => {
    const common = { siteUrl, accessCookie: 'access', settings: unsaid, log: silent };
    const slow = openTenant({ ...common, url: tenantUrl, timeoutMs: 1000 });
    const gone = openTenant({ ...common, url: 'http://127.0.0.1:1' });
    const server = createServer((incoming, outgoing) => {
      const asked = incoming.url === '/blaize/never' ? slow : gone;
      void asked.pass(incoming, outgoing, incoming.url ?? '', '203.0.113.9');
    });
    try {
      const browser = new Browser(await listen(server));
      const late = await browser.get('/blaize/never');
      expect([late.status, late.json().message]).toEqual([504, expect.stringMatching(/try again/)]);
      const answer = await browser.get('/blaize/account');
      expect([answer.status, answer.json().message]).toEqual([502, expect.stringMatching(/try again/)]);
      expect(answer.headers['retry-after']).toBe('10');
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await slow.close();
      await gone.close();
    }
  });
});
