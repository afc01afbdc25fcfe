/**
 * What is said to a Sun Reader about the printed paper (spec section 2, "Print-edition upsell modal"). No page carries it;
 * `scripts/print-upsell.ts` fetches it when its time has come.
 */
import { useStore } from '@nanostores/react';
import { createRoot } from 'react-dom/client';
import { publication } from '../../publication.ts';
import { $ui, closeUpgradeModal } from '../../stores/ui.ts';
import { Dialog } from '../shared/Dialog.tsx';
import styles from './PrintUpsell.module.css';

/** Its name in `$ui.upgradeModal`. */
export const printEdition = 'print-edition';

export function PrintUpsell() {
  const { upgradeModal } = useStore($ui, { keys: ['upgradeModal'] });
  if (upgradeModal !== printEdition) return null;
  return (
    <Dialog
      heading="Ink on paper, once a week."
      standfirst={`The print edition of ${publication.name}, folded and delivered to your door. It comes with a Sun Member subscription.`}
      onClose={closeUpgradeModal}
    >
      <p className={styles.terms}>
        Before you pay you see what it costs, and what is taken off for the time that you have paid already.
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

/** Draws it from now on, whenever it is open. */
export function mount(host: HTMLElement): void {
  createRoot(host).render(<PrintUpsell />);
}
