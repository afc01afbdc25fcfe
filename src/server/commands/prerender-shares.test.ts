import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { processesFor, startShares } from './prerender-shares.ts';

const folder = mkdtempSync(join(tmpdir(), 'shares-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const own = { rendered: 3, skipped: 1, failed: 0, ms: 20 };

it('starts no process for few pages', async () => {
  expect(processesFor(0)).toBe(1);
  expect(processesFor(400)).toBe(1);
  const alone = startShares({}, { only: [], concurrency: 1 }, 1, undefined);
  const progress = { done: 1, total: 4, rate: 2, leftMs: null };
  expect(alone.progress(progress)).toEqual(progress);
  expect(await alone.result(Promise.resolve(own))).toEqual(own);
});

it('says why a share failed', async () => {
  const env = { PATH: process.env.PATH, DATA_DIR: folder, PORT: 'none' };
  const shares = startShares(env, { only: ['/about'], concurrency: 1 }, 2, undefined);
  await expect(shares.result(Promise.resolve(own))).rejects.toThrow('PORT');
});
