// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { visitorScript } from './accounts/visitor.ts';
import { earlyScript } from './early-script.ts';
import { whenShown } from './when-shown.ts';

const prerendering = (value: boolean): void => {
  Object.defineProperty(document, 'prerendering', { value, configurable: true });
};
beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  Reflect.deleteProperty(document, 'prerendering');
  vi.restoreAllMocks();
  document.documentElement.hidden = false;
  delete document.documentElement.dataset.visitor;
});

describe('whenShown', () => {
  it('calls back at once without prerendering and on an open page', () => {
    const action = vi.fn();
    whenShown(action);
    prerendering(false);
    whenShown(action);
    expect(action).toHaveBeenCalledTimes(2);
  });

  it('calls back once, without arguments, after a prerendered page is opened and painted', () => {
    const action = vi.fn();
    prerendering(true);
    whenShown(action);
    expect(action).not.toHaveBeenCalled();
    prerendering(false);
    document.dispatchEvent(new Event('prerenderingchange'));
    expect(action).not.toHaveBeenCalled();
    vi.runAllTimers();
    expect(action.mock.calls).toEqual([[]]);
  });

  it('never calls back on a prerendered page that reloads because the reader has signed out', () => {
    const reload = vi.fn();
    const early = vi.fn();
    const late = vi.fn();
    const cookie = vi.spyOn(document, 'cookie', 'get').mockReturnValue('visitor=registered');
    prerendering(true);
    new Function('location', earlyScript([visitorScript]))({ reload });
    // The event handler that jsdom doesn't have is called where it was set.
    document.addEventListener('prerenderingchange', () => Reflect.get(document, 'onprerenderingchange')(), {
      once: true,
    });
    whenShown(early);
    cookie.mockReturnValue('');
    prerendering(false);
    document.dispatchEvent(new Event('prerenderingchange'));
    vi.runAllTimers();
    expect(reload).toHaveBeenCalledOnce();
    // A module that runs before the page has been unloaded.
    whenShown(late);
    expect([early, late].map(({ mock }) => mock.calls.length)).toEqual([0, 0]);
  });
});
