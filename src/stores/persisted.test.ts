// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

/** The stores of a page that has just been opened. */
async function open() {
  vi.resetModules();
  return import('./persisted.ts');
}

beforeEach(() => localStorage.clear());
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

describe('values kept in the browser', () => {
  it('use the localStorage keys of spec section 3', async () => {
    const page = await open();
    page.$seenWelcomeModal.set(true);
    page.$condensedSubscribe.set(true);
    page.$printPromoLastSeen.set(1_763_600_000_000);
    expect({ ...localStorage }).toEqual({
      'seen-welcome-modal': 'true',
      'show-condensed-zephr-sticky-subscribe': 'true',
      'print-edition-promo-last-seen': '1763600000000',
    });
  });

  it('are restored on the next page', async () => {
    const first = await open();
    first.$seenWelcomeModal.set(true);
    first.$printPromoLastSeen.set(5);
    const next = await open();
    expect(next.$seenWelcomeModal.get()).toBe(true);
    expect(next.$condensedSubscribe.get()).toBe(true);
    next.$condensedSubscribe.set(false);
    expect((await open()).$condensedSubscribe.get()).toBe(false);
    expect(next.$printPromoLastSeen.get()).toBe(5);
    next.$seenWelcomeModal.set(false);
    expect(localStorage.getItem('seen-welcome-modal')).toBeNull();
  });

  it('follow changes in another tab', async () => {
    const { $condensedSubscribe } = await open();
    const heard = vi.fn();
    const stop = $condensedSubscribe.listen(heard);
    const key = 'show-condensed-zephr-sticky-subscribe';
    window.dispatchEvent(new StorageEvent('storage', { key, newValue: 'false' }));
    expect($condensedSubscribe.get()).toBe(false);
    window.dispatchEvent(new StorageEvent('storage', { key, newValue: null }));
    expect($condensedSubscribe.get()).toBe(true);
    expect(heard).toHaveBeenCalledTimes(2);
    stop();
  });

  it.each(['{', 'null', '{"a":1}', '"text"', '[1,null]'])(
    'fall back to the default when the stored text is %s',
    async (text) => {
      localStorage.setItem('print-edition-promo-last-seen', text);
      const page = await open();
      expect(page.$printPromoLastSeen.get()).toBe(0);
    },
  );
});

describe('values kept in the browser work on the page', () => {
  const use = async () => {
    const { $seenWelcomeModal } = await open();
    const heard = vi.fn();
    const stop = $seenWelcomeModal.listen(heard);
    $seenWelcomeModal.set(true);
    expect($seenWelcomeModal.get()).toBe(true);
    expect(heard).toHaveBeenCalledOnce();
    $seenWelcomeModal.set(false);
    expect($seenWelcomeModal.get()).toBe(false);
    stop();
  };

  it('when localStorage is blocked', async () => {
    vi.spyOn(window, 'localStorage', 'get').mockImplementation(() => {
      throw new DOMException('denied', 'SecurityError');
    });
    vi.stubGlobal('localStorage', undefined);
    await use();
  });

  it('when localStorage is missing', async () => {
    vi.stubGlobal('localStorage', null);
    await use();
  });

  it('when localStorage is full', async () => {
    vi.stubGlobal('localStorage', {
      getItem: () => null,
      removeItem: () => {},
      setItem() {
        throw new DOMException('full', 'QuotaExceededError');
      },
    });
    await use();
  });
});
