// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { newDraftKey, noteWaiting, readDraft, storeDraft } from './drafts.ts';

beforeEach(() => localStorage.clear());
afterEach(() => vi.restoreAllMocks());

const day = 86_400_000;

it('a draft is kept with its id for a week, separately for each story and reply', () => {
  storeDraft(7, 0, { text: 'Well', key: 'key-one' }, 0);
  storeDraft(7, 3, { text: 'Indeed', key: 'key-two' }, 0);
  expect(readDraft(7, 0, 6 * day)).toEqual({ text: 'Well', key: 'key-one' });
  expect(readDraft(7, 3, 0)?.text).toBe('Indeed');
  expect(readDraft(7, 0, 8 * day)).toBeNull();
  expect(readDraft(8, 0, 0)).toBeNull();
  storeDraft(7, 0, { text: '  ', key: 'key-one' }, 0);
  expect(readDraft(7, 0, 0)).toBeNull();
  storeDraft(7, 3, { text: '', key: 'key-two' }, 0);
  expect(localStorage.length).toBe(0);
});

it('malformed stored drafts are ignored', () => {
  for (const nonsense of ['{', 'null', '7', '{"text":7}', '{"text":"a"}', '[]']) {
    localStorage.setItem('comment-draft:7:0', nonsense);
    expect(readDraft(7, 0), nonsense).toBeNull();
  }
});

it('saving and reading drafts does not throw when storage is blocked', () => {
  vi.spyOn(Storage.prototype, 'getItem').mockImplementation(() => {
    throw new Error('blocked');
  });
  vi.spyOn(Storage.prototype, 'setItem').mockImplementation(() => {
    throw new Error('full');
  });
  expect(() => storeDraft(7, 0, { text: 'Well', key: 'key-one' })).not.toThrow();
  expect(readDraft(7, 0)).toBeNull();
  expect(() => noteWaiting(7, true)).not.toThrow();
});

it('the browser remembers the newest fifty articles with a waiting comment', () => {
  for (let id = 1; id <= 60; id++) noteWaiting(id, true);
  noteWaiting(60, false);
  const kept = localStorage.getItem('comments-waiting')?.split(',') ?? [];
  expect([kept.length, kept[0], kept.includes('60'), kept.includes('1')]).toEqual([49, '59', false, false]);
  for (const id of kept) noteWaiting(Number(id), false);
  expect(localStorage.getItem('comments-waiting')).toBeNull();
});

it('draft ids are unique and match the server’s format', () => {
  const keys = Array.from({ length: 100 }, newDraftKey);
  expect(new Set(keys).size).toBe(100);
  for (const key of keys) expect(key).toMatch(/^[\w-]{8,64}$/);
});
