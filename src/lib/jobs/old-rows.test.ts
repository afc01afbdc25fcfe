import { expect, it } from 'vitest';
import { deleteOldRows } from './old-rows.ts';

it('deletes all old rows in steps of at most 500, so that no request waits long', async () => {
  const waiting = { one: 1200, two: 3 };
  const steps: number[] = [];
  const rowsOf = (kind: keyof typeof waiting) => async (most: number) => {
    const rows = Math.min(most, waiting[kind]);
    waiting[kind] -= rows;
    steps.push(rows);
    return { numDeletedRows: BigInt(rows) };
  };
  expect(await deleteOldRows([rowsOf('one'), rowsOf('two')])).toBe(1203);
  expect(steps).toEqual([500, 500, 200, 3]);
});
