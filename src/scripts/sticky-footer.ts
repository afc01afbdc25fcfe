/**
 * Shows the sticky footer to readers who haven't given an address in this browser, and remembers whether it is folded. Styles hide
 * it from readers who are signed in.
 */
import { $condensedSubscribe, $gaveAddress } from '../stores/persisted.ts';

const footer = document.querySelector<HTMLElement>('[data-sticky-footer]');
const room = document.querySelector<HTMLElement>('[data-sticky-footer-room]');
const details = footer?.querySelector('details');

if (footer && details) {
  $condensedSubscribe.subscribe((folded) => {
    details.open = !folded;
  });
  details.addEventListener('toggle', () => {
    if ($condensedSubscribe.get() === details.open) $condensedSubscribe.set(!details.open);
  });
  new ResizeObserver(() => {
    const height = footer.offsetHeight;
    // Set as properties that aren't inherited: after a change of a variable, a browser would recompute the styles of the whole
    // page.
    document.documentElement.style.scrollPaddingBlockEnd = height > 0 ? `calc(1rem + ${height}px)` : '';
    if (room) room.style.height = `calc(${height}px - 6rem)`;
  }).observe(footer);
  // Read once: a reader who subscribes here sees the confirmation until the next page.
  footer.dataset.shown = $gaveAddress.get() ? 'no' : 'yes';
  // Folded content has no computed styles until it is shown; computing them in advance makes unfolding faster.
  if (!details.open) window.requestIdleCallback?.(() => void details.lastElementChild?.getBoundingClientRect());
}
