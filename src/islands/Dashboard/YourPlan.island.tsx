/**
 * What was bought, on the page that says thank you (spec section 2, "Routes"). The server draws what is true of every plan; who is
 * signed in sees their own. Where the server does not say, the first words stay.
 */
import { useEffect, useState } from 'react';
import { subscription } from '../../lib/billing/client.ts';
import { longDayInZone } from '../../lib/day-in-zone.ts';
import { type Bought, boughtOf } from '../../lib/plans/membership.ts';
import { subscription as messages } from '../../lib/plans/messages.ts';
import styles from './YourPlan.module.css';

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
    <div className={styles.plan} aria-live="polite">
      {bought === null ? (
        <div key="any">
          <p className={styles.name}>Your subscription</p>
          <p>{messages.unknownPlan}</p>
        </div>
      ) : (
        <div key="own">
          <p className={styles.name}>{bought.name}</p>
          <p>
            {bought.next}{' '}
            {bought.print && (
              <>
                Your paper comes by mail. <a href="/shipping">Check the address</a>.
              </>
            )}
          </p>
        </div>
      )}
    </div>
  );
}
