import type { IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import { clientAddressOf, type TrustedProxies } from './client-address.ts';

const from = (trusted: TrustedProxies, remoteAddress: string, forwarded?: string): string =>
  clientAddressOf(trusted)({
    socket: { remoteAddress },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  } as unknown as IncomingMessage);

it.each([
  // No proxy is trusted: the header is ignored.
  [0, '203.0.113.5', '198.51.100.1', '203.0.113.5'],
  [0, '::ffff:203.0.113.5', undefined, '203.0.113.5'],
  [1, '10.0.0.1', '198.51.100.1', '198.51.100.1'],
  // Addresses that the reader added in front of it are ignored.
  [1, '10.0.0.1', '1.2.3.4, 198.51.100.1', '198.51.100.1'],
  [2, '10.0.0.1', '1.2.3.4, 198.51.100.1, 10.0.0.2', '198.51.100.1'],
  [2, '10.0.0.1', '198.51.100.1', '198.51.100.1'],
  [1, '10.0.0.1', undefined, '10.0.0.1'],
  [1, '10.0.0.1', 'unknown', '10.0.0.1'],
  [2, '10.0.0.1', '198.51.100.1, <script>', '10.0.0.1'],
  [1, '10.0.0.1', '198.51.100.1:4711', '198.51.100.1'],
  [1, '10.0.0.1', '[2001:db8::1]:4711', '2001:db8::1'],
  [['10.0.0.0/8'], '10.9.9.9', '1.2.3.4, 198.51.100.1, 10.1.1.1', '198.51.100.1'],
  [['10.0.0.0/8'], '203.0.113.5', '198.51.100.1', '203.0.113.5'],
  [['10.0.0.0/8'], '10.9.9.9', '10.1.1.1', '10.1.1.1'],
  [['2001:db8::/32', '127.0.0.1'], '2001:db8::7', '198.51.100.1', '198.51.100.1'],
  [['127.0.0.1'], '::ffff:127.0.0.1', '198.51.100.1', '198.51.100.1'],
] as const)(
  'with trusted proxies %j, a request from %s with X-Forwarded-For %j has the client address %s',
  (trusted, remote, forwarded, address) => {
    expect(from(trusted, remote, forwarded)).toBe(address);
  },
);
