/**
 * The paywall, which `$ui` opens with what is to be bought. No page carries it: `scripts/paywall.ts` fetches it when it is opened
 * first.
 */
import { useStore } from '@nanostores/react';
import { type ReactNode, useEffect, useId, useRef, useState, useSyncExternalStore } from 'react';
import { createRoot } from 'react-dom/client';
import { account, createAndEnter, verifyEmail } from '../../lib/accounts/client.ts';
import { forgetReader } from '../../lib/article/leaving.ts';
import {
  confirmation,
  coupon,
  plans,
  quote,
  saveShipping,
  shipping,
  subscribe,
  subscription,
  switchPlan,
} from '../../lib/billing/client.ts';
import { paywall as messages } from '../../lib/plans/messages.ts';
import { $draft, beginAttempt, dropDraft, endAttempt, keepDraft, openAttempt } from '../../stores/paywall.ts';
import { $session, refreshSession, signOut } from '../../stores/session.ts';
import { $ui, closePaywall, type PaywallPayload } from '../../stores/ui.ts';
import { Dialog } from '../shared/Dialog.tsx';
import parts from '../shared/shared.module.css';
import { AccountBody } from './AccountStep.tsx';
import { complete } from './after-payment.ts';
import { createPaywallFlow, type PaywallFlow, type PaywallState, placeOf } from './flow.ts';
import { Offer } from './Order.tsx';
import type { Order } from './order.ts';
import { PaymentBody, SwitchBody } from './PaymentStep.tsx';
import styles from './PaywallModal.module.css';
import { ShippingBody } from './ShippingStep.tsx';
import { useStripeScript } from './StripeForm.tsx';
import type { StepName } from './steps.ts';

export function Paywall() {
  const { paywall } = useStore($ui, { keys: ['paywall'] });
  return paywall.open ? <PaywallDialog key={JSON.stringify(paywall.payload)} payload={paywall.payload} /> : null;
}

/** Draws the paywall from now on. */
export function mount(host: HTMLElement): void {
  createRoot(host).render(<Paywall />);
}

/** The paywall on its sheet (spec section 2, "Paywall modal"). */
const calls = {
  confirmation,
  coupon,
  plans,
  quote,
  saveShipping,
  shipping,
  subscribe,
  subscription,
  switchPlan,
};

export function PaywallDialog({ payload }: { payload: PaywallPayload }) {
  const [flow] = useState(() =>
    createPaywallFlow({
      calls,
      accounts: { account, createAndEnter, verifyEmail },
      session: $session,
      drafts: {
        get: () => $draft.get(),
        keep: keepDraft,
        drop: dropDraft,
        openAttempt,
        beginAttempt,
        endAttempt,
      },
      payload,
      refreshSession,
      async signOut() {
        const answer = await signOut();
        if (answer.ok) await forgetReader();
        return answer;
      },
      onDone: (subscription, email, kind) => void complete(subscription, email, kind),
    }),
  );
  useEffect(() => {
    void flow.start();
    return flow.stop;
  }, [flow]);
  return <Sheet flow={flow} />;
}

const headings: Readonly<Record<string, string>> = { upgrade: 'Upgrade', downgrade: 'Change your subscription' };

/** Renders a flow. */
export function Sheet({ flow }: { flow: PaywallFlow }) {
  const state = useStore(flow.$state);
  const { busy } = useStore(flow.payment.$state);
  const online = useOnline();
  const order = flow.order();
  return (
    <Dialog
      heading={order ? <Title order={order} /> : 'Join the Sun'}
      aside={busy === 'confirming' || state.walletSheet}
      // A payment that is under way is not left by a slip of the hand.
      onClose={() => busy === null && state.phase !== 'done' && closePaywall()}
    >
      {!online && (
        <p className={styles.offline} role="status">
          {messages.offlineNote}
        </p>
      )}
      {state.phase === 'loading' && (
        <div className={styles.skeleton} role="status">
          <span className="visually-hidden">Loading the subscriptions…</span>
        </div>
      )}
      {state.phase === 'failed' && (
        <div className={styles.broken} role="alert">
          <p>{state.trouble}</p>
          <button type="button" className="button button-plain" onClick={() => void flow.start()}>
            Try again
          </button>
        </div>
      )}
      {order && state.phase === 'ready' && <Accordion flow={flow} state={state} order={order} />}
      {state.phase === 'done' && (
        <p className={styles.thanks} role="status">
          Thank you. One moment…
        </p>
      )}
    </Dialog>
  );
}

/** The promotion's own words, where it has some. */
function Title({ order }: { order: Order }) {
  const { price, quote } = useStore(order.$state);
  return price.pennyHeading ?? headings[quote?.kind ?? ''] ?? 'Join the Sun';
}

function Accordion({ flow, state, order }: { flow: PaywallFlow; state: PaywallState; order: Order }) {
  const { steps, plans, email, shipping } = state;
  const bought = useStore(order.$state);
  const account = useStore(flow.account.$state);
  const paying = useStore(flow.payment.$state);
  const draft = useStore($draft);
  const isSwitch = bought.quote !== null && bought.quote.kind !== 'new';
  const near = steps.open !== 'account' || steps.reached > 0;
  const script = useStripeScript(plans, near && (!isSwitch || bought.price.print));
  const locked = paying.busy !== null;
  // Once it was opened a step keeps what was typed into it; the card's frame would be lost with it.
  const reached = (name: StepName) => steps.names.indexOf(name) <= steps.reached;
  const here = `${location.pathname}${location.search}#join=${encodeURIComponent(bought.price.zephrPlanId)}`;
  const ready = email !== null && (!bought.price.print || shipping.saved !== null);

  const control = (name: StepName): ReactNode => {
    if (locked || !reached(name) || (name === 'account' && steps.open === 'account')) return null;
    if (name === 'account' && email === null) return null;
    const word = name === 'account' ? 'Change' : 'Edit';
    const press = name === 'account' ? flow.change : () => flow.toggle(name);
    return (
      <button
        type="button"
        className={`${parts.textButton} ${styles.control}`}
        aria-expanded={name === 'account' ? undefined : steps.open === name}
        onClick={press}
      >
        {word}
        <span className="visually-hidden"> {titles[name].toLowerCase()}</span>
      </button>
    );
  };

  const bodies: Record<StepName, { summary: ReactNode; body: ReactNode }> = {
    account: {
      summary: email && <span className={styles.address}>{email}</span>,
      body: (
        <AccountBody
          state={account}
          step={flow.account}
          email={email}
          leaving={state.leaving}
          returnTo={here}
          onLogout={() => void flow.logout()}
          onContinue={() => flow.next('account')}
        />
      ),
    },
    shipping: {
      summary:
        shipping.saved && `${shipping.saved.name}, ${shipping.saved.address.line1}, ${shipping.saved.address.city}`,
      body: reached('shipping') && email !== null && (
        <ShippingBody
          script={script}
          known={draft.shipping ?? shipping.saved}
          busy={shipping.busy}
          error={shipping.error}
          onTyped={flow.typeShipping}
          onSave={(address) => void flow.saveShipping(address)}
        />
      ),
    },
    payment: {
      summary: null,
      body:
        reached('payment') &&
        email !== null &&
        (isSwitch && plans ? (
          <SwitchBody
            plans={plans}
            order={order}
            state={bought}
            payment={flow.payment}
            paying={paying}
            ready={ready}
            sumNotice={state.sumNotice}
          />
        ) : (
          <PaymentBody
            script={script}
            order={order}
            state={bought}
            payment={flow.payment}
            paying={paying}
            email={email}
            ready={ready}
            sumNotice={state.sumNotice}
            tax={plans?.tax ? { country: plans.country } : null}
            sentTo={bought.price.print && shipping.saved ? placeOf(shipping.saved) : null}
            onWalletSheet={flow.setWalletSheet}
            onSumChanged={flow.noteSum}
          />
        )),
    },
  };

  return (
    <>
      <Offer price={bought.price} choices={isSwitch ? [] : state.choices} locked={locked} onChoose={flow.choose} />
      <div className={styles.steps}>
        {steps.names.map((name, at) => (
          <Step
            key={name}
            number={at + 1}
            of={steps.names.length}
            heading={titles[name]}
            open={steps.open === name}
            done={name === 'account' ? email !== null : name === 'shipping' && shipping.saved !== null}
            summary={bodies[name].summary}
            control={control(name)}
          >
            {bodies[name].body}
          </Step>
        ))}
      </div>
    </>
  );
}

const titles: Readonly<Record<StepName, string>> = { account: 'Account', shipping: 'Shipping', payment: 'Payment' };

interface StepProps {
  number: number;
  of: number;
  heading: string;
  open: boolean;
  done: boolean;
  /** Shown while it is folded. */
  summary?: ReactNode;
  /** The control beside the heading. */
  control?: ReactNode;
  children: ReactNode;
}

/** One step of the accordion. Folded, it keeps what is in it. */
function Step({ number, of, heading, open, done, summary, control, children }: StepProps) {
  const id = useId();
  const title = useRef<HTMLHeadingElement>(null);
  // Opened, a step is read out from its heading on.
  useEffect(() => {
    if (open) title.current?.focus({ preventScroll: true });
    if (open) title.current?.scrollIntoView?.({ block: 'nearest' });
  }, [open]);

  return (
    <section
      className={styles.step}
      data-step={heading.toLowerCase()}
      data-open={open || undefined}
      aria-labelledby={id}
    >
      <div className={styles.stepHead}>
        <span className={styles.number} data-done={(done && !open) || undefined} aria-hidden="true">
          {done && !open ? (
            <svg viewBox="0 0 16 16" width="14" height="14" focusable="false" aria-hidden="true">
              <path d="M3 8.5l3.2 3.2L13 5" fill="none" stroke="currentColor" strokeWidth="2" />
            </svg>
          ) : (
            number
          )}
        </span>
        <h3 className={styles.stepTitle} id={id} ref={title} tabIndex={-1}>
          <span className="visually-hidden">
            Step {number} of {of}:{' '}
          </span>
          {heading}
        </h3>
        {control}
        {!open && summary && <div className={styles.summary}>{summary}</div>}
      </div>
      <div className={styles.stepBody} hidden={!open}>
        {children}
      </div>
    </section>
  );
}

const onLineChange = (changed: () => void): (() => void) => {
  addEventListener('online', changed);
  addEventListener('offline', changed);
  return () => {
    removeEventListener('online', changed);
    removeEventListener('offline', changed);
  };
};

/** Whether the browser is online. */
const useOnline = (): boolean =>
  useSyncExternalStore(
    onLineChange,
    () => navigator.onLine,
    () => true,
  );
