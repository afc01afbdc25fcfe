/** Requests that the site passes on to a Zephr tenant, here a server that answers every request. */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { silent } from '../logging.ts';
import { openTenant, type Tenant } from './zephr.server.ts';

const siteUrl = 'https://paper.example';
const cookie = 'blaize_session=a';
const seen: string[] = [];
const servers: Server[] = [];
let tenant: Tenant;
let site: string;

async function listen(handle: RequestListener): Promise<string> {
  const server = createServer(handle);
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

beforeAll(async () => {
  const url = await listen((incoming, outgoing) => {
    seen.push(`${incoming.method} ${incoming.url}`);
    incoming.resume();
    outgoing.writeHead(200, { 'set-cookie': ['a=1; Path=/;', 'b=2; samesite=None; Secure'] }).end('{}');
  });
  const settings = { codeKey: null, codeCheckPath: null, userInfoPath: null };
  tenant = openTenant({ url, siteUrl, accessCookie: 'access', settings, log: silent });
  site = await listen((incoming, outgoing) => void tenant.pass(incoming, outgoing, incoming.url ?? '', '203.0.113.9'));
});
afterAll(async () => {
  await tenant.close();
  for (const server of servers) server.close();
});
beforeEach(() => void seen.splice(0));

const ask = (path: string, headers: Record<string, string>, method = 'POST') =>
  fetch(`${site}${path}`, { method, headers: { cookie, ...headers }, ...(method === 'POST' && { body: 'a=b' }) });

describe('a tenant', () => {
  it.each([
    ['another site', { origin: 'https://evil.example' }],
    ['a sibling domain', { origin: siteUrl, 'sec-fetch-site': 'same-site' }],
    ['a client with cookies that names no origin', {}],
  ])('gets no call that changes something from %s', async (_, headers: Record<string, string>) => {
    for (const path of ['/blaize/logout', '/zephr/subscribe', '/blaize/oauth/..%2flogout']) {
      const refused = await ask(path, headers);
      expect([refused.status, await refused.json()]).toEqual([
        403,
        { message: `This request comes from another site. Please open ${siteUrl} and try again.` },
      ]);
    }
    expect(seen).toEqual([]);
  });

  it('gets calls of this site’s pages, all that only read, and the return from a provider', async () => {
    const evil = { origin: 'https://evil.example' };
    expect((await ask('/blaize/logout', { origin: siteUrl })).status).toBe(200);
    expect((await ask('/blaize/account', evil, 'GET')).status).toBe(200);
    expect((await ask('/blaize/oauth/apple/callback?x=1', evil)).status).toBe(200);
    expect(seen).toEqual(['POST /blaize/logout', 'GET /blaize/account', 'POST /blaize/oauth/apple/callback?x=1']);
  });

  it('sets cookies that other sites’ forms don’t send, unless it says otherwise', async () => {
    const { headers } = await ask('/blaize/account', {}, 'GET');
    expect(headers.getSetCookie()).toEqual(['a=1; Path=/; SameSite=Lax', 'b=2; samesite=None; Secure']);
  });
});
