// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Session, sessionOf } from '../lib/accounts/session.ts';

const session = vi.hoisted(() => ({ $session: null as unknown as import('nanostores').WritableAtom<Session> }));
vi.mock('../stores/session.ts', () => session);
const drawn = vi.hoisted(() => ({ mount: vi.fn() }));
vi.mock('../islands/PrintUpsell/PrintUpsell.island.tsx', () => ({ printEdition: 'print-edition', mount: drawn.mount }));

const key = 'print-edition-promo-last-seen';
const day = 86_400_000;
const now = Date.parse('2026-11-21T12:00:00Z');

async function visit(change: { path?: string; product?: string; seen?: number; body?: string } = {}) {
  vi.resetModules();
  const { atom } = await import('nanostores');
  const product = change.product ?? 'sun-reader';
  session.$session = atom(sessionOf({ authenticated: true, activeProducts: [product] }));
  history.replaceState(null, '', change.path ?? '/');
  if (change.seen !== undefined) localStorage.setItem(key, String(change.seen));
  document.body.innerHTML = change.body ?? '';
  await import('./print-upsell.ts');
  const { $ui, openAuthPopup } = await import('../stores/ui.ts');
  return { opened: () => $ui.get().upgradeModal, openAuthPopup };
}

beforeEach(() => {
  localStorage.clear();
  drawn.mount.mockReset();
  vi.useFakeTimers({ now });
});
afterEach(() => vi.useRealTimers());

describe('the print edition’s upsell', () => {
  it('opens two seconds after the page, and counts as seen only then', async () => {
    const page = await visit();
    await vi.advanceTimersByTimeAsync(1999);
    expect(page.opened()).toBeNull();
    expect(localStorage.getItem(key)).toBeNull();
    await vi.advanceTimersByTimeAsync(1);
    await vi.waitFor(() => expect(page.opened()).toBe('print-edition'));
    expect(Number(localStorage.getItem(key))).toBeGreaterThanOrEqual(now + 2000);
    expect(drawn.mount).toHaveBeenCalledOnce();
  });

  it.each([
    ['on an article page', { path: '/article/a-story' }],
    ['a day after it was last seen', { seen: now - day }],
    ['when it was last seen at a time in the future', { seen: now + 30 * day }],
  ])('also opens in this case: %s', async (_where, change) => {
    const page = await visit(change);
    await vi.advanceTimersByTimeAsync(2000);
    await vi.waitFor(() => expect(page.opened()).toBe('print-edition'));
  });

  it.each([
    ['on another page', { path: '/section/culture' }],
    ['for a member', { product: 'sun-member' }],
    ['for a founder', { product: 'sun-founder' }],
    ['a second time within a day', { seen: now - day + 10_000 }],
    ['on a page with a campaign', { body: '<div data-campaign="spring"></div>' }],
    ['over another dialog', { body: '<dialog open></dialog>' }],
  ])('does not open %s', async (_where, change) => {
    const page = await visit(change);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(page.opened()).toBeNull();
    expect(drawn.mount).not.toHaveBeenCalled();
  });

  it('does not open over a popup that was opened in the meantime', async () => {
    const page = await visit();
    page.openAuthPopup();
    await vi.advanceTimersByTimeAsync(2000);
    expect(page.opened()).toBeNull();
    expect(localStorage.getItem(key)).toBeNull();
  });

  it('waits until the page is visible', async () => {
    const hidden = vi.spyOn(document, 'hidden', 'get').mockReturnValue(true);
    const page = await visit();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(page.opened()).toBeNull();
    hidden.mockRestore();
    document.dispatchEvent(new Event('visibilitychange'));
    await vi.waitFor(() => expect(page.opened()).toBe('print-edition'));
  });
});
