/**
 * The header (spec section 2): it becomes full once the page has been scrolled, its search opens over the page, and its menu closes
 * when the route changes and supports the keyboard.
 */
import { isPlainClick } from '../lib/plain-click.ts';
import { createTypeAhead } from '../lib/type-ahead.ts';
import { afterPaint } from '../lib/when-shown.ts';
import { $ui, openSearch, setSearchInput, setSiteMenu } from '../stores/ui.ts';

const header = document.querySelector<HTMLElement>('[data-starts="compact"]');
if (header) {
  const threshold = Number(header.dataset.threshold);
  const update = () => {
    header.dataset.header = window.scrollY > threshold ? 'full' : 'compact';
  };
  addEventListener('scroll', update, { passive: true });
  update();
}

/** Loads `SearchOverlay` and opens it with the text that `take` returns. If it can't be loaded, the link and the form work without it. */
async function openSearchWith(take: () => string): Promise<void> {
  const { mount } = await import('../islands/SearchOverlay/SearchOverlay.island.tsx');
  mount();
  // Letters typed before the field has the focus arrive one by one.
  setSearchInput($ui.get().searchInput + take());
  openSearch();
}

const link = document.querySelector<HTMLAnchorElement>('.search-link');
link?.addEventListener('click', (event) => {
  if (!isPlainClick(event)) return;
  event.preventDefault();
  openSearchWith(() => '').catch(() => location.assign(link.href));
});

const box = document.querySelector<HTMLInputElement>('#header-search');
box?.addEventListener('input', () => {
  openSearchWith(() => {
    const text = box.value;
    box.value = '';
    return text;
  }).catch(() => {});
});

/** Moves the focus in a list of links: arrows, Home, End, and the first letters of a name. */
function typeAhead(list: HTMLElement): void {
  const find = createTypeAhead();
  list.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { key } = event;
    const links = [...list.querySelectorAll<HTMLAnchorElement>('a[href]')];
    const current = links.indexOf(document.activeElement as HTMLAnchorElement);
    const last = links.length - 1;
    const moves: Partial<Record<string, number>> = {
      ArrowDown: Math.min(current + 1, last),
      ArrowUp: Math.max(current - 1, 0),
      Home: 0,
      End: last,
    };
    const names = () => links.map((link) => link.textContent);
    const next = moves[key] ?? (key.length === 1 && key !== ' ' ? find(key, names(), current) : -1);
    if (next < 0) return;
    event.preventDefault();
    links[next]?.focus();
  });
}

const menu = document.querySelector<HTMLDialogElement>('#site-menu');

/** Makes everything but the menu unreachable while it is open, as a modal dialog does. */
function isolate(isolated: boolean): void {
  for (const part of document.body.children) if (part !== menu) (part as HTMLElement).inert = isolated;
}

/**
 * Opens the menu as a popover, which is isolated once it is shown. A modal dialog is isolated first, and for that the browser computes the
 * styles of the whole page before it shows anything.
 */
function open(dialog: HTMLDialogElement): void {
  // Older browsers have no popovers.
  (dialog.showPopover ?? dialog.showModal).call(dialog);
  dialog.querySelector('a')?.focus();
}

/** After the menu was opened or closed and that has been painted, updates the page behind it. */
function afterToggle(dialog: HTMLDialogElement, opener: HTMLElement | undefined): void {
  afterPaint(() => {
    const isOpen = dialog.matches(':popover-open');
    isolate(isOpen);
    // The browser can't give the focus back to a part of the page that is still isolated.
    if (!isOpen && document.activeElement === document.body) opener?.focus({ preventScroll: true });
  });
}

/** Closes the menu in the way in which it was opened; does nothing if it is closed. */
function close(): void {
  menu?.close();
  menu?.togglePopover?.(false);
}

/** Replaces what the button does without a script. */
function onPress(selector: string, act: (button: HTMLElement) => void): void {
  for (const button of document.querySelectorAll<HTMLElement>(selector))
    button.addEventListener('click', (event) => {
      event.preventDefault();
      act(button);
    });
}

if (menu) {
  let opener: HTMLElement | undefined;
  onPress('[data-open-menu]', (button) => {
    opener = button;
    if (!menu.open) open(menu);
  });
  onPress('[data-close-menu]', close);
  menu.addEventListener('click', (event) => {
    const target = event.target as Element;
    // The target of a click on the backdrop is the dialog, outside of its box.
    const box = menu.getBoundingClientRect();
    const outside = event.clientX > box.right || event.clientX < box.left;
    if ((target === menu && outside) || target.closest('a')) close();
  });
  menu.addEventListener('toggle', (event) => {
    setSiteMenu((event as ToggleEvent).newState === 'open');
    if (!menu.open) afterToggle(menu, opener);
  });
  menu.addEventListener('keydown', ({ key }) => {
    if (key === 'Tab' && !menu.open) isolate(true);
  });
  // A page restored from the back-forward cache should have its menu closed.
  addEventListener('pagehide', () => {
    close();
    isolate(false);
  });
  addEventListener('popstate', close);
  addEventListener('hashchange', close);

  const list = menu.querySelector<HTMLElement>('[data-type-ahead]');
  if (list) typeAhead(list);
}
