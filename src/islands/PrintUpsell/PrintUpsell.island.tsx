/**
 * The offer of the print edition to Sun Readers (spec section 2, "Print-edition upsell modal"). `scripts/print-upsell.ts` loads it when it
 * is due.
 */
import { useStore } from '@nanostores/react';
import { createRoot } from 'react-dom/client';
import { publication } from '../../publication.ts';
import { $ui, closeUpgradeModal } from '../../stores/ui.ts';
import { Dialog } from '../shared/Dialog.tsx';
import styles from './PrintUpsell.module.css';

/** The name of the offer in `$ui.upgradeModal`. */
export const printEdition = 'print-edition';

export function PrintUpsell() {
  const { upgradeModal } = useStore($ui, { keys: ['upgradeModal'] });
  if (upgradeModal !== printEdition) return null;
  return (
    <Dialog
      heading="Ink on paper, once a week."
      standfirst={`The print edition of ${publication.name}, folded and delivered to your door. It comes with a ${publication.plans.names[publication.plans.printWith ?? 'member']} subscription.`}
      onClose={closeUpgradeModal}
    >
      <p className={styles.terms}>
        Before you pay, you see the price and the credit for the time you’ve already paid for.
      </p>
      <div className={styles.ways}>
        <a className="button button-gold" href="/print">
          Upgrade Today
        </a>
        <button type="button" className="button button-plain" onClick={closeUpgradeModal}>
          Not now
        </button>
      </div>
    </Dialog>
  );
}

/** Renders the offer whenever it is open. */
export function mount(host: HTMLElement): void {
  createRoot(host).render(<PrintUpsell />);
}
