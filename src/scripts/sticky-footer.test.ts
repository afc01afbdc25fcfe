// @vitest-environment jsdom
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { type Session, sessionOf } from '../lib/accounts/session.ts';

const session = vi.hoisted(() => ({ $session: null as unknown as import('nanostores').WritableAtom<Session> }));
vi.mock('../stores/session.ts', () => session);

const key = 'show-condensed-zephr-sticky-subscribe';
const bar = () => document.querySelector('aside[data-subscribe-bar]') as HTMLElement;
const open = () => document.querySelector('#subscribe-bar-open') as HTMLElement;
const fold = () => document.querySelector('[data-fold]') as HTMLButtonElement;
const room = () => document.body.getAttribute('data-subscribe-bar');

async function visit(status: 'anonymous' | 'loading' | 'registered' = 'anonymous') {
  vi.resetModules();
  vi.stubGlobal(
    'ResizeObserver',
    class {
      observe() {}
    },
  );
  const { atom } = await import('nanostores');
  const { anonymousSession, loadingSession } = await import('../lib/accounts/session.ts');
  const sessions = {
    anonymous: anonymousSession,
    loading: loadingSession,
    registered: sessionOf({ authenticated: true }),
  };
  session.$session = atom<Session>(sessions[status]);
  document.body.innerHTML = `<aside data-subscribe-bar><div id="subscribe-bar-open"></div>
    <button data-fold hidden><span data-fold-name>Hide</span></button></aside>`;
  await import('./sticky-footer.ts');
  return (next: keyof typeof sessions) => session.$session.set(sessions[next]);
}

beforeEach(() => {
  localStorage.clear();
  document.body.removeAttribute('data-subscribe-bar');
});

describe('the bar at the foot of the page', () => {
  it('is there for readers who are not signed in, once that is known', async () => {
    const turnsOutToBe = await visit('loading');
    expect(bar().getAttribute('data-shown')).toBe('no');
    expect(room()).toBeNull();
    turnsOutToBe('anonymous');
    expect(bar().getAttribute('data-shown')).toBe('yes');
    expect(room()).toBe('collapsed');
    turnsOutToBe('registered');
    expect(bar().getAttribute('data-shown')).toBe('no');
    expect(room()).toBeNull();
  });

  it('begins folded, unfolds, folds, and remembers it', async () => {
    await visit();
    expect(fold().hidden).toBe(false);
    expect(open().hidden).toBe(true);
    expect(fold().getAttribute('aria-expanded')).toBe('false');
    expect(fold().textContent).toBe('Subscribe to The Sun');
    expect(room()).toBe('collapsed');
    fold().click();
    expect(open().hidden).toBe(false);
    expect(room()).toBe('expanded');
    expect(localStorage.getItem(key)).toBe('false');

    await visit();
    expect(room()).toBe('expanded');
    fold().click();
    expect(open().hidden).toBe(true);
    expect(localStorage.getItem(key)).toBe('true');
  });

  it('does not ask whoever has given an address in this browser', async () => {
    localStorage.setItem('gave-address', 'true');
    await visit();
    expect(bar().getAttribute('data-shown')).toBe('no');
    expect(room()).toBeNull();
  });

  it('stays while its own thanks are read', async () => {
    await visit();
    localStorage.setItem('gave-address', 'true');
    window.dispatchEvent(
      new StorageEvent('storage', { key: 'gave-address', newValue: 'true', storageArea: localStorage }),
    );
    expect(bar().getAttribute('data-shown')).toBe('yes');
  });

  it('follows what is chosen in another tab', async () => {
    await visit();
    localStorage.setItem(key, 'false');
    window.dispatchEvent(new StorageEvent('storage', { key, newValue: 'false', storageArea: localStorage }));
    expect(room()).toBe('expanded');
  });
});
