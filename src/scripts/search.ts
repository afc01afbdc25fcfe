/**
 * The search opens over the page: by its icon, and by the first letter in the box of the home page. Fetched then, and not before;
 * where it cannot be, the link leads on and the box stays the form that it is.
 */
import { $ui, openSearch, setSearchInput } from '../stores/ui.ts';

async function open(take: () => string): Promise<void> {
  const { mount } = await import('../islands/SearchOverlay/SearchOverlay.island.tsx');
  mount();
  // Letters that were typed until the field had the focus come one after the other.
  setSearchInput($ui.get().searchInput + take());
  openSearch();
}

const link = document.querySelector<HTMLAnchorElement>('.search-link');
link?.addEventListener('click', (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  open(() => '').catch(() => location.assign(link.href));
});

const box = document.querySelector<HTMLInputElement>('#header-search');
box?.addEventListener('input', () => {
  open(() => {
    const text = box.value;
    box.value = '';
    return text;
  }).catch(() => {});
});
