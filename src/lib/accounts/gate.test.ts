import { expect, it } from 'vitest';
import { createGate } from './gate.ts';

it('lets so many in, says how long to wait, and opens again', () => {
  let clock = 0;
  const gate = createGate({ most: 2, seconds: 60, now: () => clock });
  expect([gate.enter('a'), gate.enter('a')]).toEqual([0, 0]);
  clock = 30_500;
  expect(gate.enter('a')).toBe(30);
  expect(gate.enter('b')).toBe(0);
  clock = 60_000;
  expect(gate.enter('a')).toBe(0);
});

it('remembers a bounded number', () => {
  const gate = createGate({ most: 1, seconds: 60, remembered: 2, now: () => 0 });
  for (const who of ['a', 'b', 'c']) gate.enter(who);
  expect(gate.enter('c')).toBe(60);
  expect(gate.enter('b')).toBe(60);
  expect(gate.enter('a')).toBe(0);
});
