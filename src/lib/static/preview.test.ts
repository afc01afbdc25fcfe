import { expect, test } from 'vitest';
import { previewTrouble } from './preview.ts';

test('every answer has words of its own', () => {
  const headings = [400, 401, 404, 410, 501, 502].map((status) => previewTrouble(status).heading);
  expect(new Set(headings).size).toBe(6);
});

test('WordPress that is down, however it says so', () => {
  expect(previewTrouble(503)).toEqual(previewTrouble(502));
});

test('an expired link says what to do', () => expect(previewTrouble(410).advice).toMatch(/Press Preview/u));
