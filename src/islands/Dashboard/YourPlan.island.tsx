/**
 * The reader's plan on /thankyou (spec section 2, "Routes"). The server renders a text that fits every plan, which stays if the plan can't
 * be fetched.
 */
import { useEffect, useState } from 'react';
import { subscription } from '../../lib/billing/client.ts';
import { longDayInZone } from '../../lib/day-in-zone.ts';
import { type Bought, boughtOf } from '../../lib/plans/membership.ts';
import { subscription as messages } from '../../lib/plans/messages.ts';
import styles from './panels.module.css';

export default function YourPlan() {
  const [bought, setBought] = useState<Bought | null>(null);
  useEffect(() => {
    let gone = false;
    void subscription().then((answer) => {
      if (answer.ok && !gone) setBought(boughtOf(answer.value?.subscription ?? null, longDayInZone));
    });
    return () => {
      gone = true;
    };
  }, []);

  return (
    <div className={styles.bought} aria-live="polite">
      {bought === null ? (
        <div key="any">
          <p className={styles.boughtName}>{messages.yours}</p>
          <p>{messages.unknownPlan}</p>
        </div>
      ) : (
        <div key="own">
          <p className={styles.boughtName}>{bought.name}</p>
          <p>
            {bought.next}{' '}
            {bought.print && (
              <>
                {messages.byMail} <a href="/shipping">{messages.checkAddress}</a>.
              </>
            )}
          </p>
        </div>
      )}
    </div>
  );
}
