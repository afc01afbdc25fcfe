// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { storePending } from '../accounts/storage.ts';
import { noteWaiting, storeDraft } from '../comments/drafts.ts';
import { forgetReader } from './forget-reader.ts';

beforeEach(() => {
  localStorage.clear();
  sessionStorage.clear();
});
afterEach(() => vi.unstubAllGlobals());

function kept(): Set<string> {
  const names = new Set(['broadsheet-stories', 'broadsheet-pictures', 'broadsheet-assets']);
  vi.stubGlobal('caches', { delete: async (name: string) => names.delete(name) });
  return names;
}

it('forgetting the reader deletes what shows who read what, but keeps the meter, settings of the browser and cached assets', async () => {
  const caches = kept();
  storeDraft(7, 0, { text: 'To the editor only', key: 'key-one' });
  storeDraft(7, 3, { text: 'And an answer', key: 'key-two' });
  noteWaiting(7, true);
  for (const name of ['trackedArticles', 'sound']) localStorage.setItem(name, '[7]');
  for (const name of ['broadsheet-checkout', 'broadsheet-checkout-attempt']) sessionStorage.setItem(name, '{}');
  storePending('page', { step: 'code', email: 'ada@example.com', purpose: 'login' });
  // Readings without an account, and what says nothing about the reader.
  const stays = ['broadsheet-meter', 'text-size', 'alert-closed', 'seen-welcome-modal', 'gave-address'];
  for (const name of stays) localStorage.setItem(name, '1');
  await forgetReader();
  expect(Object.keys(localStorage).sort()).toEqual(stays.toSorted());
  expect(sessionStorage.length).toBe(0);
  expect([...caches]).toEqual(['broadsheet-assets']);
});

it('forgetting the reader succeeds without storage or caches, and when both are broken', async () => {
  await expect(forgetReader()).resolves.toBeUndefined();
  vi.stubGlobal('caches', { delete: () => Promise.reject(new Error('Unexpected internal error')) });
  vi.stubGlobal('localStorage', undefined);
  await expect(forgetReader()).resolves.toBeUndefined();
});
