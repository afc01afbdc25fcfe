import { expect, it } from 'vitest';
import { html, press, readText, tempDir } from '../testing.ts';
import { createWriteBatch } from './write-batch.ts';

it('a write batch stores pages in transactions of three, and the last page without waiting', async () => {
  const transactions: number[] = [];
  let stored = 0;
  const batch = createWriteBatch(3, (work) => {
    const before = stored;
    work();
    transactions.push(stored - before);
  });
  const results = await Promise.all(Array.from({ length: 7 }, () => batch.add(() => ++stored)));
  expect(results).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(transactions).toEqual([3, 3, 1]);
});

it('when one page fails, the write batch stores the others one by one and reports only that failure', async () => {
  let undone = 0;
  const batch = createWriteBatch(3, (work) => {
    try {
      work();
    } catch (error) {
      undone++;
      throw error;
    }
  });
  const results = await Promise.allSettled([
    batch.add(() => 'first'),
    batch.add(() => {
      throw new Error('full');
    }),
    batch.add(() => 'third'),
  ]);
  expect(undone).toBe(1);
  expect(results).toMatchObject([
    { status: 'fulfilled', value: 'first' },
    { status: 'rejected', reason: { message: 'full' } },
    { status: 'fulfilled', value: 'third' },
  ]);
});

it('when the transaction cannot be written, the write batch stores each page on its own', async () => {
  let stored = 0;
  const batch = createWriteBatch(2, (work) => {
    work();
    throw new Error('The disk is full.');
  });
  expect(await Promise.all([batch.add(() => ++stored), batch.add(() => ++stored)])).toEqual([3, 4]);
});

it('a warm-up stores all its pages even when they do not fill the last transaction', async () => {
  const { dir, remove } = tempDir();
  const fixture = press(dir, { render: async (key) => html(key), concurrency: 4, storeTogether: 4 });
  const keys = Array.from({ length: 10 }, (_, i) => `/page-${i}`);
  try {
    expect(await fixture.press.warm(keys, { concurrency: 4 })).toMatchObject({ rendered: 10, failed: 0 });
    expect(fixture.press.stats().store?.pages).toBe(10);
    for (const key of keys) expect(await readText(fixture.press, key)).toBe(key);
  } finally {
    await fixture.close();
    remove();
  }
});
