/**
 * What the reader subscribes to (spec section 2, "Your Subscriptions"). The server draws all of it, and its forms work as forms; with a
 * script a cancellation is taken back, and a planned change given up, without leaving the page.
 */
import { type SyntheticEvent, useEffect, useRef, useState } from 'react';
import { subscription as fetchSubscription, resume } from '../../lib/billing/client.ts';
import type { Subscription } from '../../lib/billing/wire.ts';
import { longDayInZone } from '../../lib/day-in-zone.ts';
import { common } from '../../lib/http/messages.ts';
import { subscriptionState } from '../../lib/plans/membership.ts';
import { subscription as messages } from '../../lib/plans/messages.ts';
import { PanelBoundary, PanelState, usePanel } from '../shared/Panel.tsx';
import styles from './SubscriptionPlan.module.css';

interface Props {
  /** As spec section 4 has it; may be blank. */
  label: string;
  first: Subscription | null;
  /** Everybody but founders. */
  upgrade: boolean;
}

export default function SubscriptionPlan(props: Props) {
  return (
    <PanelBoundary error={messages.failed}>
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
      setDone(messages.resumed);
    } else if (!answer.ok && answer.status === 404) {
      // It has ended meanwhile: shown as it is now.
      panel.retry();
    } else {
      setTrouble(!answer.ok && answer.status === 0 ? common.offline : common.wrong);
    }
  }

  const subscription = panel.value?.subscription ?? null;
  const state = subscription && subscriptionState(subscription, longDayInZone);
  const kind = state?.kind;
  return (
    <PanelState phase={panel.phase} error={messages.failed} onRetry={panel.retry} lines={4}>
      {label !== '' && <p className={styles.label}>{label}</p>}
      {done && (
        <p className={styles.done} role="status" ref={said} tabIndex={-1}>
          {done}
        </p>
      )}
      {state?.words && <p className={kind === 'overdue' ? styles.alarm : styles.words}>{state.words}</p>}
      {state && (
        <dl className={styles.facts}>
          {state.facts.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      {(!state || kind === 'ended') && upgrade && <p className={styles.words}>{messages.free}</p>}
      <div className={styles.actions}>
        {kind === 'overdue' && (
          <a className="button button-gold" href="/account/card">
            Update your card
          </a>
        )}
        {(kind === 'ending' || kind === 'changing') && (
          <form method="post" action="/account/subscription" onSubmit={goOn} aria-busy={busy}>
            <button
              type="submit"
              className={`button ${kind === 'ending' ? 'button-gold' : 'button-plain'}`}
              aria-disabled={busy}
            >
              {busy ? 'One moment…' : kind === 'ending' ? 'Resume subscription' : 'Keep my current plan'}
            </button>
          </form>
        )}
        {upgrade && (
          <a className="button" href="/pricing">
            Upgrade
          </a>
        )}
        {state && kind !== 'ending' && kind !== 'ended' && (
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
