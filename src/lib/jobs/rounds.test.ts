import { expect, it, vi } from 'vitest';
import { silent } from '../logging.ts';
import { createRounds } from './rounds.ts';

it('rounds log a failure once, and a stop writes what waits', async () => {
  const [warn, info] = [vi.fn(), vi.fn()];
  let waiting = 1;
  const work = vi.fn(async () => {
    waiting = 0;
  });
  work.mockRejectedValueOnce(new Error('away')).mockRejectedValueOnce(new Error('away'));
  const log = { ...silent, warn, info };
  const rounds = createRounds({
    everyMs: 3_600_000,
    work,
    hasWork: () => waiting > 0,
    log,
    failing: 'fails',
    again: 'works',
  });
  rounds.start();
  await rounds.runRound();
  expect(warn).toHaveBeenCalledExactlyOnceWith({ err: expect.any(Error) }, 'fails');
  await rounds.stop();
  expect([waiting, work.mock.calls.length]).toEqual([0, 3]);
  expect(info).toHaveBeenCalledExactlyOnceWith({}, 'works');
  await rounds.stop();
  expect(work).toHaveBeenCalledTimes(3);
});
