import { expect, it } from 'vitest';
import { createBoundedMap } from './bounded-map.ts';

it('a bounded map keeps entries in use and drops old ones', () => {
  const recent = createBoundedMap<number>(10);
  recent.set('kept', 1);
  for (let i = 0; i < 1000; i++) {
    recent.set(`n${i}`, i);
    expect(recent.get('kept')).toBe(1);
  }
  expect(recent.get('n0')).toBeUndefined();
  expect(recent.get('n999')).toBe(999);
  recent.clear();
  expect(recent.get('kept')).toBeUndefined();
});

it('a bounded map deletes an entry however long ago it was set', () => {
  const recent = createBoundedMap<number>(10);
  for (let i = 0; i < 15; i++) recent.set(`n${i}`, i);
  recent.set('n9', -9);
  for (const key of ['n9', 'n14']) recent.delete(key);
  expect([recent.get('n8'), recent.get('n9'), recent.get('n14')]).toEqual([8, undefined, undefined]);
});
