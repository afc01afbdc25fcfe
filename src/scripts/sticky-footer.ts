/**
 * Shows the sticky footer to readers who haven't given an address in this browser, and remembers whether it is folded. Styles hide
 * it from readers who are signed in.
 */
import { $condensedSubscribe, $gaveAddress } from '../stores/persisted.ts';

const footer = document.querySelector<HTMLElement>('[data-sticky-footer]');
const details = footer?.querySelector('details');

if (footer && details) {
  $condensedSubscribe.subscribe((folded) => {
    details.open = !folded;
  });
  details.addEventListener('toggle', () => {
    if ($condensedSubscribe.get() === details.open) $condensedSubscribe.set(!details.open);
  });
  new ResizeObserver(() => {
    document.documentElement.style.setProperty('--sticky-footer', `${footer.offsetHeight}px`);
  }).observe(footer);
  // Read once: a reader who subscribes here sees the confirmation until the next page.
  footer.dataset.shown = $gaveAddress.get() ? 'no' : 'yes';
}
