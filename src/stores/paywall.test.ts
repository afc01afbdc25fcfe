// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { forgetReader } from '../lib/article/forget-reader.ts';

/** The store of a page that has just been opened. */
async function open() {
  vi.resetModules();
  return import('./paywall.ts');
}
beforeEach(() => sessionStorage.clear());
afterEach(() => vi.unstubAllGlobals());

describe('the draft of the paywall', () => {
  it('is restored after a reload, until it is dropped', async () => {
    const first = await open();
    first.keepDraft({ email: 'ada@example.com' });
    first.keepDraft({ coupon: 'SUNSHINE20' });
    const next = await open();
    expect(next.$draft.get()).toEqual({ email: 'ada@example.com', coupon: 'SUNSHINE20' });
    next.dropDraft();
    expect((await open()).$draft.get()).toEqual({});
    expect(sessionStorage.length).toBe(0);
  });

  it('is deleted together with the payment attempt when the reader signs out', async () => {
    const store = await open();
    store.keepDraft({ email: 'ada@example.com', shipping: { name: 'Ada' } });
    store.beginAttempt('terms');
    await forgetReader();
    expect(sessionStorage.length).toBe(0);
    expect((await open()).$draft.get()).toEqual({});
  });

  it.each(['{', 'null', '[]', '"a"', '7'])('is empty when the stored text is %s', async (text) => {
    sessionStorage.setItem('broadsheet-checkout', text);
    sessionStorage.setItem('broadsheet-checkout-attempt', text);
    const store = await open();
    expect(store.$draft.get()).toEqual({});
    expect(store.openAttempt()).toBeNull();
  });
});

describe('the id of a payment attempt', () => {
  const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

  it('stays the same until the attempt ends, even across a reload', async () => {
    const store = await open();
    const id = store.beginAttempt('a');
    expect(id).toMatch(uuid);
    expect(store.beginAttempt('a')).toBe(id);
    const next = await open();
    expect(next.openAttempt()).toEqual({ id, terms: 'a' });
    expect(next.beginAttempt('a')).toBe(id);
    next.endAttempt();
    expect(next.openAttempt()).toBeNull();
    expect(next.beginAttempt('a')).not.toBe(id);
  });

  it('changes when the terms change', async () => {
    const store = await open();
    expect(store.beginAttempt('a')).not.toBe(store.beginAttempt('b'));
  });

  it('is a UUID in browsers without crypto.randomUUID', async () => {
    vi.stubGlobal('crypto', { getRandomValues: (bytes: Uint8Array) => bytes.fill(0xff) });
    expect((await open()).beginAttempt('a')).toMatch(uuid);
  });

  it('lasts as long as the page when storage is blocked', async () => {
    vi.stubGlobal('sessionStorage', null);
    const store = await open();
    const id = store.beginAttempt('a');
    store.keepDraft({ email: 'a' });
    expect(store.beginAttempt('a')).toBe(id);
    expect(store.$draft.get()).toEqual({ email: 'a' });
  });
});
