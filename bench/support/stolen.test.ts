import { expect, it } from 'vitest';
import { stolenBetween, ticks } from './stolen.ts';

it('stolen time is the share of CPU time that the host took between two readings', () => {
  const before = ticks('cpu  100 0 50 800 10 0 0 40 7 0\ncpu0 1 2 3\n');
  const after = ticks('cpu  150 0 60 820 10 0 0 60 9 0\n');
  expect(before).toEqual({ all: 1000, stolen: 40 });
  expect(stolenBetween(before, after)).toBeCloseTo(0.2);
});

it('stolen time is unknown when the kernel does not report it', () => {
  expect(ticks('')).toBeNull();
  expect(ticks('cpu 1 2 3 4\n')).toBeNull();
  expect(stolenBetween(null, ticks('cpu  1 1 1 1 1 1 1 1'))).toBeNull();
});
