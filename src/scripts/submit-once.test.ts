// @vitest-environment jsdom
import { expect, it } from 'vitest';
import { submitOnce } from './submit-once.ts';

it('a form is sent once, and again when the reader has come back to its page', () => {
  document.body.innerHTML = '<form><button>Sign in</button></form>';
  const form = document.querySelector('form') as HTMLFormElement;
  submitOnce(form);
  const press = (): boolean => form.dispatchEvent(new Event('submit', { cancelable: true }));
  const shown = (persisted: boolean): boolean => dispatchEvent(Object.assign(new Event('pageshow'), { persisted }));
  expect(press()).toBe(true);
  shown(false);
  expect(press()).toBe(false);
  shown(true);
  expect([press(), press()]).toEqual([true, false]);
});
