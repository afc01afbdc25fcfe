/**
 * The reader's subscription (spec section 2, "Your Subscriptions"). The server renders it and its forms work without JavaScript; with it,
 * a cancellation or a planned change is taken back in place.
 */
import { type SyntheticEvent, useEffect, useRef, useState } from 'react';
import { subscription as fetchSubscription, resume } from '../../lib/billing/client.ts';
import { cancelPath, type Subscription, subscriptionParam } from '../../lib/billing/schema.ts';
import { longDayInZone } from '../../lib/day-in-zone.ts';
import { common, failureMessage } from '../../lib/http/messages.ts';
import {
  resumedInWords,
  type SubscriptionState,
  subscriptionName,
  subscriptionState,
} from '../../lib/plans/membership.ts';
import { subscription as messages } from '../../lib/plans/messages.ts';
import { PanelBoundary, PanelState, usePanel } from '../shared/Panel.tsx';
import { useRequest } from '../shared/request.ts';
import styles from './panels.module.css';

interface Props {
  /** The membership label (spec section 4); may be blank. */
  label: string;
  first: Subscription | null;
  /** Whether an upgrade is offered: to all but founders. */
  upgrade: boolean;
  /** Whether the reader has others, too: then texts and the link to cancel say which one they are about. */
  several?: boolean;
}

export default function SubscriptionPlan(props: Props) {
  return (
    <PanelBoundary error={messages.failed}>
      <Plan {...props} />
    </PanelBoundary>
  );
}

/** Resumes a canceled subscription or cancels a planned change, and keeps the message to show. @param onResumed returns it */
function useResume(id: string | undefined, onResumed: (subscription: Subscription) => string, onGone: () => void) {
  const { busy, problem, start, end } = useRequest();
  const [done, setDone] = useState<string | null>(null);

  async function submit(event: SyntheticEvent) {
    event.preventDefault();
    const answer = await start(() => {
      setDone(null);
      return resume(id);
    });
    if (!answer) return;
    if (answer.ok && answer.value?.subscription) {
      setDone(onResumed(answer.value.subscription));
      return end();
    }
    if (!answer.ok && answer.status === 404) {
      onGone();
      return end();
    }
    end(failureMessage(answer.status, { failed: common.wrong }));
  }
  return { busy, problem, done, submit };
}

function Plan({ label, first, upgrade, several = false }: Props) {
  const panel = usePanel<{ readonly subscription: Subscription | null }>({
    load: fetchSubscription,
    first: { subscription: first },
  });
  // If the subscription has ended, the panel shows the current state.
  const subscription = panel.value?.subscription ?? null;
  const resuming = useResume(
    subscription?.id,
    (resumed) => {
      panel.set({ subscription: resumed });
      return resumedInWords(resumed, several);
    },
    panel.retry,
  );
  const { done, problem } = resuming;
  const message = useRef<HTMLParagraphElement>(null);
  // The pressed button is gone, so the message gets the focus.
  useEffect(() => {
    if (done !== null) message.current?.focus();
  }, [done]);

  const state = subscription && subscriptionState(subscription, longDayInZone, several);
  const kind = state?.kind;
  return (
    <PanelState phase={panel.phase} error={messages.failed} onRetry={panel.retry} lines={4}>
      {label !== '' && <p className={styles.membership}>{label}</p>}
      {done && (
        <p className={styles.done} role="status" ref={message} tabIndex={-1}>
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
      <Actions subscription={subscription} kind={kind} upgrade={upgrade} several={several} resuming={resuming} />
      <div role="alert" className={styles.trouble}>
        {problem && <p>{problem}</p>}
      </div>
    </PanelState>
  );
}

interface ActionsProps {
  subscription: Subscription | null;
  /** The state of the subscription; `undefined`: there is none. */
  kind: SubscriptionState['kind'] | undefined;
  upgrade: boolean;
  several: boolean;
  resuming: ReturnType<typeof useResume>;
}

function Actions({ subscription, kind, upgrade, several, resuming: { busy, submit } }: ActionsProps) {
  return (
    <div className={styles.actions}>
      {(kind === 'overdue' || subscription?.invoiceOpen) && (
        <a className="button button-gold" href={subscription?.byInvoice ? '#invoices' : '/account/card'}>
          {subscription?.byInvoice ? messages.payInvoice : messages.updateCard}
        </a>
      )}
      {(kind === 'ending' || (kind === 'changing' && !subscription?.next?.fixed)) && (
        <form method="post" action="/account/subscription" onSubmit={submit} aria-busy={busy}>
          <input type="hidden" name={subscriptionParam} value={subscription?.id} />
          <button
            type="submit"
            className={`button ${kind === 'ending' ? 'button-gold' : 'button-plain'}`}
            aria-disabled={busy}
          >
            {busy ? messages.wait : kind === 'ending' ? messages.resume : messages.keepPlan}
          </button>
        </form>
      )}
      {upgrade && (
        <a className="button" href="/pricing">
          {messages.upgrade}
        </a>
      )}
      {subscription && kind !== 'ending' && kind !== 'ended' && (
        <a
          className="button button-plain"
          href={several ? `${cancelPath}?${subscriptionParam}=${subscription.id}` : cancelPath}
        >
          {messages.cancel}
          <span className="visually-hidden">
            {several ? ` (${subscriptionName(subscription)})` : ' your subscription'}
          </span>
        </a>
      )}
    </div>
  );
}
