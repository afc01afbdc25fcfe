/**
 * When the welcome popup opens (spec section 4): on the home page, for readers who are not signed in, in a window at least 768
 * pixels wide, scrolled past 800 pixels, who have neither seen it nor given an address before. It then counts as seen.
 */
import { whenShown } from '../lib/when-shown.ts';
import { publication } from '../publication.ts';
import { $gaveAddress, $seenWelcomeModal } from '../stores/persisted.ts';
import { isBusy, setWelcomePopup } from '../stores/ui.ts';

const { minWidth, scroll } = publication.layout.welcomePopup;

function openIfDue(): void {
  if (window.scrollY <= scroll || window.innerWidth < minWidth || isBusy()) return;
  // Set at the first paint for readers who may be signed in, and removed if they are not.
  if (document.documentElement.dataset.visitor !== undefined) return;
  removeEventListener('scroll', openIfDue);
  if ($gaveAddress.get() || $seenWelcomeModal.get()) return;
  $seenWelcomeModal.set(true);
  setWelcomePopup(true);
}

whenShown(() => {
  if (location.pathname !== '/' || $seenWelcomeModal.get()) return;
  addEventListener('scroll', openIfDue, { passive: true });
  openIfDue();
});
