import { expect, it } from 'vitest';
import { searchWait } from './limit.server.ts';

const waits = (address: string, times: number): number[] => Array.from({ length: times }, () => searchWait(address));

it('answers a network so many questions in a minute, and others all the same', () => {
  expect(Math.max(...waits('203.0.113.9', 600))).toBe(0);
  expect(searchWait('203.0.113.9')).toBeGreaterThan(0);
  expect(searchWait('203.0.113.10')).toBe(0);
  expect(Math.max(...waits('2001:db8:1:2::1', 600))).toBe(0);
  expect(searchWait('2001:db8:1:2:3::4')).toBeGreaterThan(0);
});

it('does not take a proxy on this machine for one reader', () => {
  for (const address of ['127.0.0.1', '::1']) expect(Math.max(...waits(address, 1000))).toBe(0);
});
