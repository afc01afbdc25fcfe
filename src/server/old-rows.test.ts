import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { silent } from '../lib/logging.ts';
import { compose } from './compose.ts';
import { parseConfig } from './config/config.ts';
import { startPruning } from './old-rows.ts';

const minute = 60_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

it('deletes old rows every ten minutes until it is stopped, also after a failure of another feature', async () => {
  const warn = vi.fn();
  const deleted = vi.fn(async () => ({ numDeletedRows: 1n }));
  const fails = () => Promise.reject(new Error('away'));
  const pruning = startPruning({ failing: [fails], other: [deleted] }, { ...silent, warn });
  for (const times of [1, 2]) {
    vi.advanceTimersByTime(10 * minute);
    await vi.waitFor(() => expect(deleted).toHaveBeenCalledTimes(times));
  }
  expect(warn).toHaveBeenCalledWith({ err: expect.any(Error), feature: 'failing' }, expect.any(String));
  await pruning.stop();
  vi.advanceTimersByTime(60 * minute);
  expect(deleted).toHaveBeenCalledTimes(2);
});

it('deletes the windows of limits that have ended, also if the accounts are at a Zephr tenant', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'old-rows-'));
  const app = await compose(
    parseConfig({
      SITE_URL: 'https://paper.example',
      DATA_DIR: dir,
      ACCESS_KEYS: 'k1:a-secret-for-the-access-cookie-of-tests',
      ZEPHR_URL: 'https://tenant.example',
    }),
    silent,
  );
  const { db } = app.database;
  await db.insertInto('limits').values({ key: 'operator:address:a', since: 0, until: 1, count: 1 }).execute();
  app.start();
  vi.advanceTimersByTime(10 * minute);
  await vi.waitFor(async () => expect(await db.selectFrom('limits').select('key').execute()).toEqual([]));
  await app.stop();
  rmSync(dir, { recursive: true });
});
