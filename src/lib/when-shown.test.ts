// @vitest-environment jsdom
import { afterEach, describe, expect, it, vi } from 'vitest';
import { whenShown } from './when-shown.ts';

const prerendering = (value: boolean): void => {
  Object.defineProperty(document, 'prerendering', { value, configurable: true });
};
afterEach(() => Reflect.deleteProperty(document, 'prerendering'));

describe('whenShown', () => {
  it('calls back at once in a browser that doesn’t prerender, and on a page that was opened', () => {
    const action = vi.fn();
    whenShown(action);
    prerendering(false);
    whenShown(action);
    expect(action).toHaveBeenCalledTimes(2);
  });

  it('calls back once, without the event, when a prerendered page is opened', () => {
    const action = vi.fn();
    prerendering(true);
    whenShown(action);
    expect(action).not.toHaveBeenCalled();
    prerendering(false);
    document.dispatchEvent(new Event('prerenderingchange'));
    document.dispatchEvent(new Event('prerenderingchange'));
    expect(action.mock.calls).toEqual([[]]);
  });
});
