import { expect, it } from 'vitest';
import { fixedWork, speedSentence } from './speed.ts';

it('the fixed workload takes some processor time, and the report states how much', () => {
  const took = fixedWork();
  expect(took).toBeGreaterThan(1);
  expect(speedSentence(12.34, 15)).toContain('took 12.3 ms of processor time before, and 15.0 ms after');
});
