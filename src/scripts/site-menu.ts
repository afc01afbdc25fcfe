/** What the slide-over menu needs beyond HTML: modality everywhere, closing on route changes, type-ahead in the list. */
import { setSiteMenu } from '../stores/ui.ts';
import { typeAhead } from './type-ahead.ts';

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
