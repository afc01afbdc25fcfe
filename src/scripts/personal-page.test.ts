// @vitest-environment jsdom
import { afterEach, expect, it, vi } from 'vitest';
import { checkoutNames } from '../lib/article/forget-reader.ts';
import { signedOutElsewhere } from '../stores/session.ts';
import './personal-page.ts';

afterEach(() => vi.unstubAllGlobals());

it('a page of the reader’s account is loaded again, without the order, when the reader signs out in another tab', () => {
  const replace = vi.fn();
  vi.stubGlobal('location', { pathname: '/account/plan', search: '?to=member', hash: '#form', replace });
  for (const name of checkoutNames) sessionStorage.setItem(name, '{}');
  sessionStorage.setItem('other', '1');
  dispatchEvent(new Event(signedOutElsewhere));
  expect(replace).toHaveBeenCalledExactlyOnceWith('/account/plan?to=member');
  expect(Object.keys(sessionStorage)).toEqual(['other']);
});
