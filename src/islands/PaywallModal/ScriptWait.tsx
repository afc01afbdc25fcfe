/** In the place of the card company's fields until its script is there. */

import { messages } from './messages.ts';
import styles from './PaywallModal.module.css';
import type { StripeScript } from './use-stripe-script.ts';

export function ScriptWait({ script }: { script: StripeScript }) {
  if (!script.failed)
    return (
      <div className={styles.skeleton} role="status">
        <span className="visually-hidden">Loading the form…</span>
      </div>
    );
  return (
    <div className={styles.broken} role="alert">
      <p>{messages.scriptFailed}</p>
      <button type="button" className="button button-plain" onClick={script.retry}>
        Try again
      </button>
    </div>
  );
}
