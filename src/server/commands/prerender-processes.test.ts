import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createSupply, processesFor, renderInProcesses } from './prerender-processes.ts';

const folder = mkdtempSync(join(tmpdir(), 'prerender-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const keys = Array.from({ length: 1234 }, (_, number) => `/article/${number}`);

it('prerendering starts no process for up to 400 pages', async () => {
  expect(processesFor(0)).toBe(1);
  expect(processesFor(400)).toBe(1);
  await renderInProcesses({}, 0, 1, createSupply(keys, 1), () => {});
});

it('prerendering hands out each page once, the last ones in small batches', () => {
  const supply = createSupply(keys, 2);
  const parts: (readonly string[])[] = [];
  for (let part = supply.take(); part.length > 0; part = supply.take()) parts.push(part);
  expect(parts.flat()).toEqual(keys);
  expect(Math.max(...parts.map(({ length }) => length))).toBeLessThanOrEqual(100);
  expect(parts.slice(-3).every(({ length }) => length <= 10)).toBe(true);
});

it('prerendering hands out no page after it was stopped', () => {
  const stopping = new AbortController();
  const supply = createSupply(keys, 2, stopping.signal);
  expect(supply.take()).not.toEqual([]);
  stopping.abort();
  expect(supply.take()).toEqual([]);
});

it('prerendering reports why a process failed', async () => {
  const env = { PATH: process.env.PATH, DATA_DIR: folder, PORT: 'none' };
  await expect(renderInProcesses(env, 1, 1, createSupply(keys, 2), () => {})).rejects.toThrow('PORT');
});
