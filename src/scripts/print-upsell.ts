/**
 * Offers the print edition to Sun Readers (spec section 2, "Print-edition upsell modal"): on the home page and articles, two seconds
 * after the page opened, once a day, and only if no campaign is running. `session-page.ts` loads this for them.
 */
import { isOfferedPrint } from '../lib/accounts/products.ts';
import { kindOf, normalizePath } from '../lib/layout-rules.ts';
import { publication } from '../publication.ts';
import { $printPromoLastSeen } from '../stores/persisted.ts';
import { $session } from '../stores/session.ts';
import { isBusy, openUpgradeModal } from '../stores/ui.ts';

const { delay, every } = publication.layout.printPromo;

/**
 * Whether the offer is due. A time in the future was written by a wrong clock and does not count.
 *
 * @param lastSeen epoch milliseconds; 0 is never
 */
export const isDue = (lastSeen: number, now: number): boolean => lastSeen > now || now - lastSeen >= every;

/** Whether the offer may be shown now. */
const mayShow = (): boolean =>
  isDue($printPromoLastSeen.get(), Date.now()) &&
  isOfferedPrint($session.get().activeProduct) &&
  document.querySelector('[data-campaign]') === null &&
  !isBusy();

async function show(): Promise<void> {
  // A hidden tab waits until the reader returns to it.
  if (document.hidden) return document.addEventListener('visibilitychange', () => void show(), { once: true });
  if (!mayShow()) return;
  const { mount, printEdition } = await import('../islands/PrintUpsell/PrintUpsell.island.tsx');
  if (!mayShow()) return;
  $printPromoLastSeen.set(Date.now());
  openUpgradeModal(printEdition);
  mount(document.body.appendChild(document.createElement('div')));
}

const kind = kindOf(normalizePath(location.pathname));
if ((kind === 'home' || kind === 'article') && isDue($printPromoLastSeen.get(), Date.now())) {
  setTimeout(() => void show().catch(() => {}), delay);
}
