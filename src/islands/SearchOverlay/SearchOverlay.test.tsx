// @vitest-environment jsdom
/** Without `act`, which would hide what happens between a page's first paint and the moment when React listens. */
import '../shared/testing.tsx';
import { afterEach, expect, it } from 'vitest';
import { $ui, closeSearch, openSearch } from '../../stores/ui.ts';
import { mount } from './SearchOverlay.island.tsx';

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: false });
afterEach(closeSearch);

/** As a key press: the letter is added to the field's text. */
function press(field: HTMLInputElement, letter: string): void {
  const { set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value') ?? {};
  set?.call(field, field.value + letter);
  field.dispatchEvent(new Event('input', { bubbles: true }));
}

it('the search field keeps letters that are typed the moment it gets the focus', async () => {
  const field = new Promise<HTMLInputElement>((resolve) =>
    addEventListener('focusin', (event) => resolve(event.target as HTMLInputElement), { once: true }),
  );
  mount();
  openSearch();
  const typed = await field;
  for (const letter of 'bridg') press(typed, letter);
  expect(typed.value).toBe('bridg');
  expect($ui.get().searchInput).toBe('bridg');
});
