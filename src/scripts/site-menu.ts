/** Keyboard movement in a list of links: arrows, Home, End, and the first letters of a name. */
import { createTypeAhead } from '../lib/type-ahead.ts';
import { setSiteMenu } from '../stores/ui.ts';

/** Makes a list of links answer to the keyboard. */
export function typeAhead(list: HTMLElement): void {
  const find = createTypeAhead();
  list.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const links = [...list.querySelectorAll<HTMLAnchorElement>('a[href]')];
    const current = links.indexOf(document.activeElement as HTMLAnchorElement);
    let next = -1;
    if (event.key === 'ArrowDown') next = Math.min(current + 1, links.length - 1);
    else if (event.key === 'ArrowUp') next = Math.max(current - 1, 0);
    else if (event.key === 'Home') next = 0;
    else if (event.key === 'End') next = links.length - 1;
    else if (event.key.length === 1 && event.key !== ' ') {
      const names = links.map((link) => link.textContent ?? '');
      next = find(event.key, names, current);
    } else return;
    if (next < 0) return;
    event.preventDefault();
    links[next]?.focus();
  });
}

/* What the slide-over menu needs beyond HTML: modality everywhere, closing on route changes, type-ahead in the list. */

const menu = document.querySelector<HTMLDialogElement>('#site-menu');

function close(): void {
  if (!menu) return;
  if (menu.open) menu.close();
  if (menu.matches(':popover-open')) menu.hidePopover();
}

if (menu) {
  // Where the browser has invoker commands the button has opened the dialog already; elsewhere it would be a popover,
  // which leaves the page behind it reachable.
  for (const button of document.querySelectorAll<HTMLButtonElement>('[data-open-menu]')) {
    button.addEventListener('click', (event) => {
      event.preventDefault();
      if (!menu.open) menu.showModal();
    });
  }
  for (const button of menu.querySelectorAll<HTMLButtonElement>('[data-close-menu]')) {
    button.addEventListener('click', (event) => {
      event.preventDefault();
      close();
    });
  }
  menu.addEventListener('click', (event) => {
    const target = event.target as Element;
    // A click on the backdrop arrives at the dialog itself, outside of its box.
    const box = menu.getBoundingClientRect();
    const outside = event.clientX > box.right || event.clientX < box.left;
    if ((target === menu && outside) || target.closest('a')) close();
  });
  menu.addEventListener('toggle', (event) => setSiteMenu((event as ToggleEvent).newState === 'open'));
  // A page that comes back from the browser's memory comes back with its menu shut.
  addEventListener('pagehide', close);
  addEventListener('popstate', close);
  addEventListener('hashchange', close);

  const list = menu.querySelector<HTMLElement>('[data-type-ahead]');
  if (list) typeAhead(list);
}
