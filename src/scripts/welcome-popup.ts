/**
 * When the welcome popup opens (spec section 4): on the home page, for readers who are not signed in, in a window at least
 * 768 pixels wide, scrolled past 800 pixels, who have neither seen it nor given an address before. Then it counts as seen.
 */
import { publication } from '../publication.ts';
import { $gaveAddress, $seenWelcomeModal } from '../stores/persisted.ts';
import { $session } from '../stores/session.ts';
import { isBusy, setWelcomePopup } from '../stores/ui.ts';

const { minWidth, scroll } = publication.layout.welcomePopup;

function watch(): void {
  const look = () => {
    if (window.scrollY <= scroll || window.innerWidth < minWidth || isBusy()) return;
    const { status, isAuthenticated } = $session.get();
    if (status === 'loading') return;
    stop();
    if (isAuthenticated || $gaveAddress.get() || $seenWelcomeModal.get()) return;
    $seenWelcomeModal.set(true);
    setWelcomePopup(true);
  };
  const stop = () => {
    removeEventListener('scroll', look);
    leave();
  };
  addEventListener('scroll', look, { passive: true });
  // The session settles only where somebody listens to it.
  const leave = $session.listen(look);
  look();
}

if (location.pathname === '/' && !$seenWelcomeModal.get()) watch();
