// @vitest-environment jsdom
import { beforeEach, describe, expect, it, vi } from 'vitest';

const key = 'show-condensed-zephr-sticky-subscribe';
const footer = () => document.querySelector('[data-sticky-footer]') as HTMLElement;
const details = () => document.querySelector('details') as HTMLDetailsElement;

/** Opens a page whose sticky footer is unfolded, as the server renders it. */
async function visit() {
  vi.resetModules();
  vi.stubGlobal(
    'ResizeObserver',
    class {
      observe() {}
    },
  );
  document.body.innerHTML =
    '<aside data-sticky-footer><details open><summary>Subscribe</summary><form></form></details></aside>';
  await import('./sticky-footer.ts');
}

/** Folds or unfolds as a reader does; browsers fire the event later, and so does jsdom. */
async function fold() {
  details().open = !details().open;
  details().dispatchEvent(new Event('toggle'));
}

beforeEach(() => localStorage.clear());

describe('the sticky footer', () => {
  it('starts collapsed, and remembers whether the reader expands or collapses it', async () => {
    await visit();
    expect(footer().dataset.shown).toBe('yes');
    expect(details().open).toBe(false);
    await fold();
    expect(localStorage.getItem(key)).toBe('false');
    await visit();
    expect(details().open).toBe(true);
    await fold();
    expect(localStorage.getItem(key)).toBe('true');
  });

  it('stores nothing until the reader expands or collapses it', async () => {
    await visit();
    details().dispatchEvent(new Event('toggle'));
    expect(localStorage.getItem(key)).toBeNull();
  });

  it('is hidden from readers who have already given an address in this browser', async () => {
    localStorage.setItem('gave-address', 'true');
    await visit();
    expect(footer().dataset.shown).toBe('no');
  });

  it('stays visible right after the reader has given an address', async () => {
    await visit();
    localStorage.setItem('gave-address', 'true');
    window.dispatchEvent(
      new StorageEvent('storage', { key: 'gave-address', newValue: 'true', storageArea: localStorage }),
    );
    expect(footer().dataset.shown).toBe('yes');
  });

  it('is laid out in advance when the page is idle, but only while it is collapsed', async () => {
    const idle: (() => void)[] = [];
    vi.stubGlobal('requestIdleCallback', (action: () => void) => idle.push(action));
    const measured = vi.spyOn(HTMLFormElement.prototype, 'getBoundingClientRect');
    await visit();
    expect(measured).not.toHaveBeenCalled();
    for (const action of idle) action();
    expect(measured).toHaveBeenCalledOnce();
    await fold();
    await visit();
    expect(idle).toHaveLength(1);
  });

  it('expands when the reader expands it in another tab', async () => {
    await visit();
    localStorage.setItem(key, 'false');
    window.dispatchEvent(new StorageEvent('storage', { key, newValue: 'false', storageArea: localStorage }));
    expect(details().open).toBe(true);
  });
});
