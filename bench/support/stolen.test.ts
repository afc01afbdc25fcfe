import { expect, it } from 'vitest';
import { stolenBetween, ticks } from './stolen.ts';

it('is the share that the host took of the time between two moments', () => {
  const before = ticks('cpu  100 0 50 800 10 0 0 40 7 0\ncpu0 1 2 3\n');
  const after = ticks('cpu  150 0 60 820 10 0 0 60 9 0\n');
  expect(before).toEqual({ all: 1000, stolen: 40 });
  expect(stolenBetween(before, after)).toBeCloseTo(0.2);
});

it('is not known where the kernel does not say', () => {
  expect(ticks('')).toBeNull();
  expect(ticks('cpu 1 2 3 4\n')).toBeNull();
  expect(stolenBetween(null, ticks('cpu  1 1 1 1 1 1 1 1'))).toBeNull();
});
