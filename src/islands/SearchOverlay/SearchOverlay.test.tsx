// @vitest-environment jsdom
/** Without `act`: it would hide what lies between a page's first drawing and the moment at which React listens. */
import '../shared/testing.tsx';
import { afterEach, expect, it } from 'vitest';
import { $ui, closeSearch, openSearch } from '../../stores/ui.ts';
import { mount } from './SearchOverlay.island.tsx';

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: false });
afterEach(closeSearch);

/** As one key would: the letter joins what the field holds. */
function press(field: HTMLInputElement, letter: string): void {
  const { set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value') ?? {};
  set?.call(field, field.value + letter);
  field.dispatchEvent(new Event('input', { bubbles: true }));
}

it('keeps the letters that are typed the moment the field has the focus', async () => {
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
