// @vitest-environment jsdom
import { beforeEach, describe, expect, it, vi } from 'vitest';

const mount = vi.fn();
vi.mock('../islands/PaywallModal/PaywallModal.island.tsx', () => ({ mount }));

/** A page that has just been opened. */
async function page(html: string, hash = ''): Promise<typeof import('../stores/ui.ts')> {
  vi.resetModules();
  history.replaceState(null, '', `/pricing?a=1${hash}`);
  // Listeners of the previous page are removed with it.
  document.documentElement.replaceWith(document.documentElement.cloneNode(false));
  document.documentElement.innerHTML = `<body>${html}<div data-paywall-host></div></body>`;
  await import('./popups.ts');
  return import('../stores/ui.ts');
}
const link = (payload: string) => `<a href="/subscribe?plan=x" data-paywall='${payload}'><b>Join</b></a>`;
const press = (more: MouseEventInit = {}) => {
  const event = new MouseEvent('click', { bubbles: true, cancelable: true, ...more });
  document.querySelector('b')?.dispatchEvent(event);
  return event;
};

beforeEach(() => mount.mockClear());

describe('a link to the paywall', () => {
  it('opens the paywall with its plan, and loads the paywall’s code only then', async () => {
    const { $ui } = await page(link('{"planId":"reader-yearly"}'));
    expect(mount).not.toHaveBeenCalled();
    expect(press().defaultPrevented).toBe(true);
    expect($ui.get().paywall).toEqual({ open: true, payload: { planId: 'reader-yearly' } });
    await vi.waitFor(() => expect(mount).toHaveBeenCalledOnce());
  });

  it.each([[{ ctrlKey: true }], [{ metaKey: true }], [{ shiftKey: true }], [{ altKey: true }], [{ button: 1 }]])(
    'stays a plain link for a click with %o',
    async (more) => {
      const { $ui } = await page(link('{"planId":"reader-yearly"}'));
      expect(press(more).defaultPrevented).toBe(false);
      expect($ui.get().paywall.open).toBe(false);
    },
  );

  it.each(['', 'true', '[]', '{', 'null'])('stays a plain link when its payload is invalid: %s', async (payload) => {
    const { $ui } = await page(link(payload));
    expect(press().defaultPrevented).toBe(false);
    expect($ui.get().paywall.open).toBe(false);
  });
});

describe('the hash of a mailed link', () => {
  it('opens the paywall with its plan and is removed from the address', async () => {
    const { $ui } = await page('', '#join=reader-penny');
    expect($ui.get().paywall).toEqual({ open: true, payload: { planId: 'reader-penny' } });
    expect(location.pathname + location.search + location.hash).toBe('/pricing?a=1');
  });

  it.each(['#comments', '#join=', '#join=<b>'])('does not open the paywall when it is %s', async (hash) => {
    const { $ui } = await page('', hash);
    expect($ui.get().paywall.open).toBe(false);
  });
});
