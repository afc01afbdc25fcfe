import { expect, it } from 'vitest';
import { AcquireTimeoutError, openTurns } from './turns.ts';

it('serves in the order of arrival, those ahead first', async () => {
  const turns = openTurns(1, 10_000);
  const served: string[] = [];
  const visit = async (name: string, ahead: boolean) => {
    const release = await turns.take(ahead);
    served.push(name);
    release();
  };
  const release = await turns.take(false);
  const all = Promise.all([
    visit('editor 1', false),
    visit('editor 2', false),
    visit('site 1', true),
    visit('editor 3', false),
    visit('site 2', true),
  ]);
  release();
  await all;
  expect(served).toEqual(['site 1', 'site 2', 'editor 1', 'editor 2', 'editor 3']);
});

it('has no more turns than places, however often one is given back', async () => {
  const turns = openTurns(2, 10);
  const first = await turns.take(false);
  await turns.take(false);
  first();
  first();
  await turns.take(false);
  await expect(turns.take(true)).rejects.toBeInstanceOf(AcquireTimeoutError);
});

it('forgets who has lost patience', async () => {
  const turns = openTurns(1, 10);
  const release = await turns.take(false);
  await expect(turns.take(false)).rejects.toThrow('10 ms');
  release();
  (await turns.take(false))();
});
