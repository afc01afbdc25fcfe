// @vitest-environment jsdom
import { beforeEach, describe, expect, it, vi } from 'vitest';

/** A page that meets every condition of the popup, except for what a test changes. */
async function visit(
  change: { path?: string; width?: number; seen?: boolean; known?: boolean; visitor?: string } = {},
) {
  vi.resetModules();
  const { dataset } = document.documentElement;
  if (change.visitor) dataset.visitor = change.visitor;
  else delete dataset.visitor;
  history.replaceState(null, '', change.path ?? '/');
  Object.assign(window, { innerWidth: change.width ?? 768, scrollY: 0 });
  if (change.seen) localStorage.setItem('seen-welcome-modal', 'true');
  if (change.known) localStorage.setItem('gave-address', 'true');
  await import('./welcome-popup.ts');
  const { $ui, openAuthPopup } = await import('../stores/ui.ts');
  return { isOpen: () => $ui.get().welcomePopup, openAuthPopup };
}

const scrollTo = (y: number) => {
  Object.assign(window, { scrollY: y });
  window.dispatchEvent(new Event('scroll'));
};

beforeEach(() => {
  localStorage.clear();
  document.body.innerHTML = '';
});

describe('the welcome popup', () => {
  it('opens after more than 800 pixels of scrolling, and counts as seen only then', async () => {
    const page = await visit();
    scrollTo(800);
    expect(page.isOpen()).toBe(false);
    expect(localStorage.getItem('seen-welcome-modal')).toBeNull();
    scrollTo(801);
    expect(page.isOpen()).toBe(true);
    expect(localStorage.getItem('seen-welcome-modal')).toBe('true');
  });

  it.each([
    ['on another page', { path: '/section/culture' }],
    ['in a window of less than 768 pixels', { width: 767 }],
    ['for readers who are signed in', { visitor: 'registered' }],
    ['for readers who have seen it', { seen: true }],
    ['for readers who have given an email address', { known: true }],
  ] as const)('does not open %s', async (_where, change) => {
    const page = await visit(change);
    scrollTo(2000);
    expect(page.isOpen()).toBe(false);
  });

  it('waits until a reader who may be signed in turns out to be signed out', async () => {
    const page = await visit({ visitor: 'reader' });
    scrollTo(2000);
    expect(page.isOpen()).toBe(false);
    expect(localStorage.getItem('seen-welcome-modal')).toBeNull();
    delete document.documentElement.dataset.visitor;
    scrollTo(2001);
    expect(page.isOpen()).toBe(true);
  });

  it('does not open over a dialog or while a field has the focus, but opens later', async () => {
    const page = await visit();
    document.body.innerHTML = '<dialog open></dialog>';
    scrollTo(900);
    expect(page.isOpen()).toBe(false);
    document.body.innerHTML = '<input>';
    document.querySelector('input')?.focus();
    scrollTo(950);
    expect(page.isOpen()).toBe(false);
    document.body.innerHTML = '';
    scrollTo(1000);
    expect(page.isOpen()).toBe(true);
  });
});
