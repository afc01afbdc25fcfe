/** The keyboard of a menu (WAI-ARIA Authoring Practices, "Menu button"): arrows, Home, End, first letters, Tab. */
import { type KeyboardEvent, type RefObject, useRef } from 'react';
import { createTypeAhead } from '../../lib/type-ahead.ts';

export interface MenuKeys {
  focus(item: 'first' | 'last'): void;
  /** @param close shuts the menu and gives the focus back */
  onKeyDown(event: KeyboardEvent, close: () => void): void;
}

/** @param menu holds the items, elements with the role `menuitem` */
export function useMenuKeys(menu: RefObject<HTMLElement | null>): MenuKeys {
  const find = useRef(createTypeAhead());
  const items = () => [...(menu.current?.querySelectorAll<HTMLElement>('[role="menuitem"]') ?? [])];

  return {
    focus: (item) =>
      items()
        .at(item === 'first' ? 0 : -1)
        ?.focus(),
    onKeyDown(event, close) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const all = items();
      const current = all.indexOf(document.activeElement as HTMLElement);
      const go = (index: number) => {
        event.preventDefault();
        all.at(index)?.focus();
      };
      if (event.key === 'ArrowDown') go((current + 1) % all.length);
      else if (event.key === 'ArrowUp') go(current - 1);
      else if (event.key === 'Home') go(0);
      else if (event.key === 'End') go(-1);
      else if (event.key === 'Escape' || event.key === 'Tab') {
        // Tab goes on from the button that the focus is given back to.
        if (event.key === 'Escape') event.preventDefault();
        close();
      } else if (event.key === ' ') {
        event.preventDefault();
        all[current]?.click();
      } else if (event.key.length === 1) {
        const names = all.map((each) => each.textContent ?? '');
        const found = find.current(event.key, names, current);
        if (found >= 0) go(found);
      }
    },
  };
}
