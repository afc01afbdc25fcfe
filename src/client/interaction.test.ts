import { JSDOM } from 'jsdom';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import interaction from './interaction.ts';

let page: JSDOM;
let island: HTMLElement;
let button: HTMLElement;

beforeEach(() => {
  page = new JSDOM('<div id="island"><button>Open</button></div>');
  vi.stubGlobal('HTMLElement', page.window.HTMLElement);
  vi.stubGlobal('document', page.window.document);
  island = page.window.document.querySelector('#island') as HTMLElement;
  button = page.window.document.querySelector('button') as HTMLElement;
});

const options = { name: 'interaction', value: 'true' };
const event = (type: string) => new page.window.Event(type, { bubbles: true });

describe('client:interaction', () => {
  it('loads nothing until the reader touches the island, and then once', async () => {
    const hydrate = vi.fn(async () => {});
    const load = vi.fn(async () => hydrate);
    interaction(load, options, island);
    expect(load).not.toHaveBeenCalled();
    button.dispatchEvent(event('focusin'));
    button.dispatchEvent(event('pointerdown'));
    await vi.waitFor(() => expect(hydrate).toHaveBeenCalledOnce());
    expect(load).toHaveBeenCalledOnce();
  });

  it('repeats a held click once the island is hydrated', async () => {
    const heard = vi.fn();
    interaction(async () => async () => button.addEventListener('click', heard), options, island);
    button.click();
    expect(heard).not.toHaveBeenCalled();
    await vi.waitFor(() => expect(heard).toHaveBeenCalledOnce());
    button.click();
    expect(heard).toHaveBeenCalledTimes(2);
  });

  it('repeats a click on a button’s icon as a click on the button', async () => {
    button.innerHTML = '<svg><path></path></svg>';
    const heard = vi.fn();
    interaction(async () => async () => button.addEventListener('click', heard), options, island);
    button
      .querySelector('path')
      ?.dispatchEvent(new page.window.MouseEvent('click', { bubbles: true, cancelable: true }));
    expect(heard).not.toHaveBeenCalled();
    await vi.waitFor(() => expect(heard).toHaveBeenCalledOnce());
  });

  it('loads an island again after a failed attempt', async () => {
    const hydrate = vi.fn(async () => {});
    const load = vi.fn(async () => hydrate).mockRejectedValueOnce(new Error('connection reset'));
    interaction(load, options, island);
    button.dispatchEvent(event('pointerdown'));
    await vi.waitFor(() => expect(hydrate).toHaveBeenCalledOnce());
    expect(load).toHaveBeenCalledTimes(2);
  });

  it('lets the click through when the island cannot be loaded', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {});
    const heard = vi.fn();
    button.addEventListener('click', heard);
    interaction(() => Promise.reject(new Error('offline')), options, island);
    button.click();
    expect(heard).not.toHaveBeenCalled();
    await vi.waitFor(() => expect(heard).toHaveBeenCalledOnce());
  });

  it('does not intercept a Ctrl+click', () => {
    const load = vi.fn(async () => async () => {});
    interaction(load, options, island);
    const click = new page.window.MouseEvent('click', { bubbles: true, cancelable: true, ctrlKey: true });
    button.dispatchEvent(click);
    expect(click.defaultPrevented).toBe(false);
    expect(load).not.toHaveBeenCalled();
  });

  it('hydrates an island at idle for a signed-in reader if the directive asks for it', async () => {
    const idle: (() => void)[] = [];
    vi.stubGlobal('requestIdleCallback', (action: () => void) => idle.push(action));
    const load = vi.fn(async () => async () => {});
    const whenSignedIn = { name: 'interaction', value: 'or-idle-when-signed-in' };

    interaction(load, whenSignedIn, island);
    page.window.document.documentElement.dataset.visitor = 'registered';
    interaction(load, options, island);
    expect(idle).toHaveLength(0);
    interaction(load, whenSignedIn, island);
    expect(load).not.toHaveBeenCalled();
    for (const action of idle) action();
    expect(load).toHaveBeenCalledOnce();
    vi.unstubAllGlobals();
  });
});

describe('client:interaction="or-seen-for-a-minute"', () => {
  it('loads the island when it has been in view for a minute without a break', async () => {
    vi.useFakeTimers();
    let see = (_isIntersecting: boolean): void => {};
    const watched: Element[] = [];
    vi.stubGlobal(
      'IntersectionObserver',
      class {
        constructor(report: (entries: readonly { isIntersecting: boolean }[]) => void) {
          see = (isIntersecting) => report([{ isIntersecting }]);
        }
        observe(element: Element): void {
          watched.push(element);
        }
        disconnect(): void {}
      },
    );
    const load = vi.fn(async () => async () => {});
    interaction(load, { name: 'interaction', value: 'or-seen-for-a-minute' }, island);
    expect(watched).toEqual([button]);
    see(true);
    vi.advanceTimersByTime(59_000);
    see(false);
    vi.advanceTimersByTime(60_000);
    expect(load).not.toHaveBeenCalled();
    see(true);
    vi.advanceTimersByTime(60_000);
    expect(load).toHaveBeenCalledOnce();
    vi.useRealTimers();
  });
});
