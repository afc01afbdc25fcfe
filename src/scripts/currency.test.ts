// @vitest-environment jsdom
import { beforeEach, expect, it, vi } from 'vitest';

/** Reports to the page's newest observer whether its element is near. */
let seen: (near: boolean) => void;
const asked = vi.fn(async (_: string) => Response.json({ currency: 'gbp' }));

async function visit({ prices = true, country = true, visitor = '', cookie = '' } = {}): Promise<void> {
  vi.resetModules();
  seen = () => {};
  vi.stubGlobal('fetch', asked);
  vi.stubGlobal(
    'IntersectionObserver',
    class {
      constructor(tell: (entries: { isIntersecting: boolean }[]) => void) {
        seen = (isIntersecting) => tell([{ isIntersecting }]);
      }
      observe() {}
      disconnect() {}
    },
  );
  if (visitor) document.documentElement.dataset.visitor = visitor;
  vi.spyOn(document, 'cookie', 'get').mockReturnValue(cookie);
  document.body.innerHTML = prices ? `<p><span class="in-currency" ${country ? 'data-asked' : ''}>$12</span></p>` : '';
  await import('./currency.ts');
}
const shown = () => document.documentElement.dataset.currency;

beforeEach(() => {
  asked.mockClear();
  delete document.documentElement.dataset.currency;
  delete document.documentElement.dataset.visitor;
});

it('prices that come near the viewport request the reader’s currency and show it', async () => {
  await visit();
  seen(false);
  expect(asked).not.toHaveBeenCalled();
  seen(true);
  expect(asked).toHaveBeenCalledExactlyOnceWith('/api/v1/checkout/currency');
  await vi.waitFor(() => expect(shown()).toBe('gbp'));
});

it.each([
  ['the page has no prices', { prices: false }],
  ['no header names the country', { country: false }],
  ['the currency is known', { cookie: 'currency=eur' }],
  ['the currency is known from a subscription', { cookie: 'currency=eur.own', visitor: 'reader' }],
])('prices do not request the currency when %s', async (_, page) => {
  await visit(page);
  seen(true);
  expect(asked).not.toHaveBeenCalled();
});

it.each([
  [
    'who subscribes, when only the country’s currency is known',
    { cookie: 'currency=usd', visitor: 'member', country: false },
  ],
  ['who no longer subscribes, when the subscription’s currency is known', { cookie: 'currency=eur.own' }],
])('prices request the currency again for a reader %s', async (_, page) => {
  await visit(page);
  seen(true);
  expect(asked).toHaveBeenCalledOnce();
});

it('prices stay as they are when the currency cannot be fetched', async () => {
  asked.mockRejectedValueOnce(new TypeError('offline'));
  await visit();
  seen(true);
  await vi.waitFor(() => expect(asked).toHaveBeenCalled());
  expect(shown()).toBeUndefined();
});
