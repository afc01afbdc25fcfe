import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createLog } from '../logging.ts';
import type { TrustedProxies } from './client-address.ts';
import { currentRequestId, requestIds, withRequestId } from './request-id.ts';

const idOf = (trusted: TrustedProxies, remoteAddress: string, given?: string): string =>
  requestIds(trusted)({ socket: { remoteAddress }, headers: { 'x-request-id': given } } as unknown as IncomingMessage);

const uuid = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[\da-f]{4}-[\da-f]{12}$/;

it.each([
  [1, '10.0.0.1', '4f2c9d0e6b7a48d1'],
  [['10.0.0.0/8'], '::ffff:10.9.9.9', 'edge_1234-abcd'],
] as const)('with trusted proxies %j, the request id that %s sends is kept', (trusted, remote, given) => {
  expect(idOf(trusted, remote, given)).toBe(given);
});

it.each([
  ['no proxy is trusted', 0, '10.0.0.1', '4f2c9d0e6b7a48d1'],
  ['the proxy is not trusted', ['10.0.0.0/8'], '203.0.113.5', '4f2c9d0e6b7a48d1'],
  ['the request has none', 1, '10.0.0.1', undefined],
  ['the given one is too short', 1, '10.0.0.1', '1234567'],
  ['the given one is too long', 1, '10.0.0.1', 'a'.repeat(65)],
  ['the given one has invalid characters', 1, '10.0.0.1', '12345678 "}'],
] as const)('a new request id is made when %s', (_why, trusted, remote, given) => {
  expect(idOf(trusted, remote, given)).toMatch(uuid);
});

it('the request id is in each log line about its request, and in no later one', async () => {
  const lines: string[] = [];
  const log = createLog('info', { write: (line: string) => void lines.push(line) });
  let later: Promise<void> | undefined;
  const ask = (id: string) =>
    withRequestId(id, async () => {
      log.info({}, `${id} at once`);
      await nextTurn();
      log.info({ url: '/a' }, `${id} later`);
      later ??= nextTurn().then(() => log.info({}, 'left behind'));
    });
  await Promise.all([ask('request-1'), ask('request-2')]);
  await later;
  log.info({}, 'outside');
  expect(currentRequestId()).toBeUndefined();
  const seen = lines.map((line) => JSON.parse(line) as { msg: string; requestId?: string });
  expect(seen.map(({ msg, requestId }) => [msg, requestId])).toEqual([
    ['request-1 at once', 'request-1'],
    ['request-2 at once', 'request-2'],
    ['request-1 later', 'request-1'],
    ['request-2 later', 'request-2'],
    ['left behind', undefined],
    ['outside', undefined],
  ]);
});
