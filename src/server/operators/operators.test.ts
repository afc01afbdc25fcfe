/** The operators' sign-in: limited, and ended by signing out in every process at once. */
import { IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { secret } from '../../../tests/world/accounts.ts';
import { onBothEngines } from '../../../tests/world/databases.ts';
import { createHmacs } from '../../lib/crypto.server.ts';
import type { Database } from '../../lib/database.ts';
import { createLimiter, type Limiter } from '../../lib/http/limiter.server.ts';
import { defaultLimits } from '../../lib/http/limits.ts';
import { silent } from '../../lib/logging.ts';
import type { Invalidation } from '../../press/press.server.ts';
import { createOperatorAccess } from './operator-access.ts';
import { createOperators, type OperatorsOptions } from './operators.ts';

const token = 'the-operators-token-of-the-tests';
const siteUrl = 'https://paper.example';

onBothEngines('operators', (engines) => {
  const clock = { now: Date.UTC(2026, 10, 23) };

  async function process(place: Awaited<ReturnType<typeof engines.place>>) {
    const database = await engines.open(place);
    const now = () => clock.now;
    // A machine that is busy with other tests may take longer than a second to count.
    const limiter = createLimiter(database, createHmacs(secret), defaultLimits, now, undefined, 60_000);
    const options = { token, siteUrl, database, limiter, now, always: {}, log: silent, clientAddress: addressOf };
    const metrics = { contentType: 'text/plain', text: async () => 'up 1\n' };
    const operators = createOperators({ ...options, metrics } as unknown as OperatorsOptions);
    return async (method: string, path: string, headers: Record<string, string>, body = '') => {
      const incoming = new IncomingMessage(new Socket());
      Object.assign(incoming, { method, url: path, headers });
      const given = { status: 0, headers: {} as OutgoingHttpHeaders };
      const writeHead = (status: number, sent: OutgoingHttpHeaders) => Object.assign(given, { status, headers: sent });
      const outgoing = { writeHead, end: () => {} } as unknown as ServerResponse;
      await operators.answer(incoming, outgoing, new URL(path, siteUrl), async () => body);
      return given;
    };
  }
  const addressOf = (incoming: IncomingMessage): string => String(incoming.headers['x-address'] ?? '203.0.113.1');
  const form = (body: string, more: Record<string, string> = {}) =>
    ['POST', '/-/press', { origin: siteUrl, 'sec-fetch-site': 'same-origin', ...more }, body] as const;
  const signIn = (given: string, address?: string) =>
    form(new URLSearchParams({ action: 'sign-in', token: given }).toString(), address ? { 'x-address': address } : {});

  it('get ten wrong sign-in attempts per address, by form or header, counted across all processes', async () => {
    const place = await engines.place();
    const processes = [await process(place), await process(place)] as const;
    const tries = await Promise.all(
      Array.from({ length: 60 }, (_, one) => processes[one % 2 ? 1 : 0](...signIn(`wrong ${one}`))),
    );
    expect(tries.filter(({ status }) => status === 303)).toHaveLength(10);
    expect(tries.filter(({ status }) => status === 429)).toHaveLength(50);
    expect(Number(tries.at(-1)?.headers['retry-after'])).toBeGreaterThan(0);
    // Then the right one can't be told from a wrong one.
    expect((await processes[0](...signIn(token))).status).toBe(429);
    expect((await processes[1]('GET', '/metrics', { authorization: `Bearer ${token}` })).status).toBe(401);
    // From elsewhere it is accepted, however often.
    for (let time = 0; time < 15; time++) {
      expect((await processes[0](...signIn(token, '198.51.100.7'))).headers['set-cookie']).toMatch(/^operator=/);
    }
    clock.now += 600_001;
    expect((await processes[0](...signIn(token))).headers['set-cookie']).toMatch(/^operator=/);
  });

  it('are signed out in every process at once, and automatically after two hours', async () => {
    const place = await engines.place();
    const [one, two] = [await process(place), await process(place)];
    const enter = async () => String((await one(...signIn(token))).headers['set-cookie']).split(';')[0] ?? '';
    const metrics = async (cookie: string) => (await two('GET', '/metrics', { cookie })).status;
    const cookie = await enter();
    const other = await enter();
    expect(await metrics(cookie)).toBe(200);
    expect((await one(...form('action=sign-out', { cookie }))).status).toBe(303);
    expect(await metrics(cookie)).toBe(401);
    expect(await metrics(other)).toBe(200);
    expect(await metrics('operator=')).toBe(401);
    clock.now += 2 * 3600_000;
    expect(await metrics(other)).toBe(401);
  });
});

it('signed-in operators see why Stripe is not used, and whether serving workers’ responses are left out', async () => {
  const limiter: Limiter = { count: async () => null, release: async () => {} };
  const stats = () => ({});
  const sources = { press: { stats }, cdn: { stats }, indexNow: { stats }, content: { status: stats }, server: stats };
  const stripe = { problem: 'STRIPE_SECRET_KEY is a test-mode key.', wallets: null };
  const options = {
    token,
    siteUrl,
    database: {},
    limiter,
    log: silent,
    clientAddress: () => '203.0.113.1',
    always: {},
  };
  const more = {
    reports: { list: () => [] },
    metrics: { vitals: async () => [] },
    stripe: () => stripe,
    hasServingWorkers: true,
  };
  const operators = createOperators({ ...options, ...sources, ...more } as unknown as OperatorsOptions);
  const incoming = new IncomingMessage(new Socket());
  const url = new URL('/-/press', siteUrl);
  expect((await operators.view(incoming, url))?.figures).toBeNull();
  incoming.headers.authorization = `Bearer ${token}`;
  expect((await operators.view(incoming, url))?.figures).toMatchObject({ stripe, hasServingWorkers: true });
});

it('an operator’s refresh of a tag renders its pages on this node, even if the cluster has them', async () => {
  const invalidations: unknown[] = [];
  const press = {
    async invalidate(tags: Iterable<string>, how: Invalidation) {
      invalidations.push({ tags: [...tags], unshared: how.unshared });
      return { refreshed: [], unchanged: 1, failed: 0, ms: 1 };
    },
  };
  const access = { token, siteUrl, limiter: { count: async () => null, release: async () => {} }, database: {} };
  const sources = { press, cdn: { purge() {} }, log: silent, always: {}, clientAddress: () => '203.0.113.1' };
  const operators = createOperators({ ...access, ...sources } as unknown as OperatorsOptions);
  const incoming = new IncomingMessage(new Socket());
  Object.assign(incoming, { method: 'POST', headers: { authorization: `Bearer ${token}` } });
  let location: unknown;
  const outgoing = {
    writeHead: (_: number, headers: OutgoingHttpHeaders) => {
      location = headers.location;
    },
    end: () => {},
  } as unknown as ServerResponse;
  await operators.answer(incoming, outgoing, new URL('/-/press', siteUrl), async () => 'action=refresh-tag&value=site');
  expect(location).toBe('/-/press?notice=unchanged');
  expect(invalidations).toEqual([{ tags: ['site'], unshared: true }]);
});

it('the metrics can be scraped with the right token while the database hangs', async () => {
  const database = { engine: 'postgres', transaction: () => new Promise(() => {}), db: {} } as unknown as Database;
  const limiter = createLimiter(database, createHmacs(secret), defaultLimits, Date.now, undefined, 50);
  const access = createOperatorAccess({ token, database, limiter, log: silent, now: Date.now });
  expect(await access.tryToken(token, '203.0.113.1')).toEqual({ kind: 'right' });
  for (let more = 0; more < 10; more++)
    expect(await access.tryToken('wrong', '203.0.113.1')).toEqual({ kind: 'wrong' });
  expect((await access.tryToken(token, '203.0.113.1')).kind).toBe('limited');
});

it('a monitor with the right token causes no further writes until a wrong token comes from its address', async () => {
  const calls: string[] = [];
  const limiter: Limiter = {
    count: async () => (calls.push('count') > 4 ? { scope: 'address', retryAfter: 1 } : null),
    release: async () => void calls.push('release'),
  };
  const database = {} as unknown as Database;
  const access = createOperatorAccess({ token, database, limiter, log: silent, now: Date.now });
  for (let time = 0; time < 5; time++) expect((await access.tryToken(token, '203.0.113.1')).kind).toBe('right');
  expect(calls.splice(0)).toEqual(['count', 'release']);
  for (let time = 0; time < 4; time++) expect((await access.tryToken('wrong', '203.0.113.1')).kind).toBe('wrong');
  // As before, the right token can't be told from a wrong one beyond the limit.
  expect((await access.tryToken(token, '203.0.113.1')).kind).toBe('limited');
});
