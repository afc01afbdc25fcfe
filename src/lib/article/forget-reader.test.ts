// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { noteWaiting, storeDraft } from '../comments/drafts.ts';
import { forgetReader } from './forget-reader.ts';

beforeEach(() => localStorage.clear());
afterEach(() => vi.unstubAllGlobals());

function kept(): Set<string> {
  const names = new Set(['broadsheet-stories', 'broadsheet-pictures', 'broadsheet-assets']);
  vi.stubGlobal('caches', { delete: async (name: string) => names.delete(name) });
  return names;
}

it('forgetting the reader deletes drafts and stored stories, but keeps the text size and cached assets', async () => {
  const caches = kept();
  storeDraft(7, 0, { text: 'To the editor only', key: 'key-one' });
  storeDraft(7, 3, { text: 'And an answer', key: 'key-two' });
  noteWaiting(7, true);
  localStorage.setItem('text-size', 'large');
  await forgetReader();
  expect(Object.keys(localStorage)).toEqual(['text-size']);
  expect([...caches]).toEqual(['broadsheet-assets']);
});

it('forgetting the reader succeeds without storage or caches, and when both are broken', async () => {
  await expect(forgetReader()).resolves.toBeUndefined();
  vi.stubGlobal('caches', { delete: () => Promise.reject(new Error('Unexpected internal error')) });
  vi.stubGlobal('localStorage', undefined);
  await expect(forgetReader()).resolves.toBeUndefined();
});
