/**
 * What the reader subscribes to (spec section 2, "Your Subscriptions"). The server draws all of it, and its forms work as forms; with a
 * script a cancellation is taken back, and a planned change given up, without leaving the page.
 */
import { type SyntheticEvent, useEffect, useRef, useState } from 'react';
import { subscription as fetchSubscription, resume } from '../../lib/billing/client.ts';
import type { Subscription } from '../../lib/billing/wire.ts';
import { longDayInZone } from '../../lib/day-in-zone.ts';
import { standingOf } from '../../lib/plans/membership.ts';
import { PanelBoundary, PanelState, usePanel } from '../shared/Panel.tsx';
import styles from './SubscriptionPlan.module.css';

interface Props {
  /** As spec section 4 has it; may be blank. */
  label: string;
  first: Subscription | null;
  /** Everybody but founders. */
  upgrade: boolean;
}

const failed = 'Failed to fetch subscriptions';

export default function SubscriptionPlan(props: Props) {
  return (
    <PanelBoundary error={failed}>
      <Plan {...props} />
    </PanelBoundary>
  );
}

function Plan({ label, first, upgrade }: Props) {
  const panel = usePanel<{ readonly subscription: Subscription | null }>({
    load: fetchSubscription,
    first: { subscription: first },
  });
  const [busy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState<string | null>(null);
  const [done, setDone] = useState<string | null>(null);
  const going = useRef(false);
  const said = useRef<HTMLParagraphElement>(null);
  // The button that was pressed is gone.
  useEffect(() => {
    if (done !== null) said.current?.focus();
  }, [done]);

  async function goOn(event: SyntheticEvent) {
    event.preventDefault();
    if (going.current) return;
    going.current = true;
    setBusy(true);
    setTrouble(null);
    setDone(null);
    const answer = await resume();
    going.current = false;
    setBusy(false);
    if (answer.ok && answer.value?.subscription) {
      panel.set({ subscription: answer.value.subscription });
      setDone('Done. Your subscription goes on.');
    } else if (!answer.ok && answer.status === 404) {
      // It has ended meanwhile: shown as it is now.
      panel.retry();
    } else {
      const offline = !answer.ok && answer.status === 0;
      setTrouble(
        offline
          ? 'The paper cannot be reached. Please check your connection and try again.'
          : 'Something went wrong. Please try again.',
      );
    }
  }

  const subscription = panel.value?.subscription ?? null;
  const standing = subscription && standingOf(subscription, longDayInZone);
  const kind = standing?.kind;
  return (
    <PanelState phase={panel.phase} error={failed} onRetry={panel.retry} lines={4}>
      {label !== '' && <p className={styles.label}>{label}</p>}
      {done && (
        <p className={styles.done} role="status" ref={said} tabIndex={-1}>
          {done}
        </p>
      )}
      {standing?.words && <p className={kind === 'unpaid' ? styles.alarm : styles.words}>{standing.words}</p>}
      {standing && (
        <dl className={styles.facts}>
          {standing.facts.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      {(!standing || kind === 'over') && upgrade && (
        <p className={styles.words}>
          Free stories, the newsletters and the crossword are yours. Subscribers read every story.
        </p>
      )}
      <div className={styles.actions}>
        {kind === 'unpaid' && (
          <a className="button button-gold" href="/account/card">
            Update your card
          </a>
        )}
        {(kind === 'ending' || kind === 'changes') && (
          <form method="post" action="/account/subscription" onSubmit={goOn} aria-busy={busy}>
            <button
              type="submit"
              className={`button ${kind === 'ending' ? 'button-gold' : 'button-plain'}`}
              aria-disabled={busy}
            >
              {busy ? 'One moment…' : kind === 'ending' ? 'Resume subscription' : 'Keep my present plan'}
            </button>
          </form>
        )}
        {upgrade && (
          <a className="button" href="/pricing">
            Upgrade
          </a>
        )}
        {standing && kind !== 'ending' && kind !== 'over' && (
          <a className="button button-plain" href="/cancel">
            Cancel<span className="visually-hidden"> your subscription</span>
          </a>
        )}
      </div>
      <div role="alert" className={styles.trouble}>
        {trouble && <p>{trouble}</p>}
      </div>
    </PanelState>
  );
}
