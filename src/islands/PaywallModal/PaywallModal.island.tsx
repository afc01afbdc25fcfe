/** The paywall, which `$ui` opens for a plan. `scripts/popups.ts` loads it when it is opened for the first time. */
import { useStore } from '@nanostores/react';
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { formatSum } from '../../lib/money.ts';
import { paywall as messages } from '../../lib/plans/messages.ts';
import { $draft } from '../../stores/paywall.ts';
import { $ui, closePaywall, type PaywallPayload } from '../../stores/ui.ts';
import { Dialog } from '../shared/Dialog.tsx';
import { useOnline } from '../shared/online.ts';
import parts from '../shared/shared.module.css';
import { createPaywallFlow, type PaywallFlow, type PaywallState, placeOf } from './flow.ts';
import { Offer } from './Order.tsx';
import type { Order, OrderState } from './order.ts';
import { PaymentBody, SwitchBody } from './PaymentStep.tsx';
import styles from './PaywallModal.module.css';
import { AccountBody, ShippingBody } from './Steps.tsx';
import { Failure, type StripeScript, useStripeScript } from './StripeForm.tsx';
import type { StepName } from './steps.ts';

export function Paywall() {
  const { paywall } = useStore($ui, { keys: ['paywall'] });
  return paywall.open ? <PaywallDialog key={JSON.stringify(paywall.payload)} payload={paywall.payload} /> : null;
}

/** Renders the paywall whenever it is open. */
export function mount(host: HTMLElement): void {
  createRoot(host).render(<Paywall />);
}

function PaywallDialog({ payload }: { payload: PaywallPayload }) {
  const [flow] = useState(() => createPaywallFlow(payload));
  useEffect(() => {
    void flow.start();
    return flow.stop;
  }, [flow]);
  return <Sheet flow={flow} />;
}

/** Shown before a step, as high as what follows: the sheet stays where it is. */
function StepSkeleton({ step }: { step: StepName }) {
  return (
    <div className={`${styles.skeleton} ${styles.awaited}`} data-step={step} role="status">
      <span className="visually-hidden">{messages.loading}</span>
    </div>
  );
}

/** The step that the sheet opens with, as far as the page knows before the session has loaded. */
const firstStep = (): StepName => ('visitor' in document.documentElement.dataset ? 'payment' : 'account');

/** Renders a flow (spec section 2, "Paywall modal"). */
function Sheet({ flow }: { flow: PaywallFlow }) {
  const state = useStore(flow.$state);
  const { busy } = useStore(flow.payment.$state);
  const online = useOnline();
  const order = flow.order();
  return (
    <Dialog
      heading={order ? <Title order={order} /> : messages.join}
      aside={busy === 'confirming' || state.walletSheet}
      // The dialog stays open while a payment is under way.
      onClose={busy === null && state.phase !== 'done' ? closePaywall : null}
    >
      {!online && (
        <p className={styles.offline} role="status">
          {messages.offlineNote}
        </p>
      )}
      {state.phase === 'loading' && <StepSkeleton step={firstStep()} />}
      {state.phase === 'failed' && <Failure text={state.trouble} onRetry={() => void flow.start()} />}
      {order && state.phase === 'ready' && <Accordion flow={flow} state={state} order={order} />}
      {state.phase === 'done' && (
        <p className={styles.thanks} role="status">
          {messages.thanks}
        </p>
      )}
    </Dialog>
  );
}

const headings: Readonly<Record<string, string>> = { upgrade: messages.upgrade, downgrade: messages.changePlan };

/** The promotion's own heading, if it has one. */
function Title({ order }: { order: Order }) {
  const { price, quote } = useStore(order.$state);
  return price.pennyHeading ?? headings[quote?.kind ?? ''] ?? messages.join;
}

interface AccordionProps {
  flow: PaywallFlow;
  state: PaywallState;
  order: Order;
}

function Accordion({ flow, state, order }: AccordionProps) {
  const { steps, plans } = state;
  const bought = useStore(order.$state);
  const locked = useStore(flow.payment.$state).busy !== null;
  const isSwitch = bought.quote !== null && bought.quote.kind !== 'new';
  const isNear = steps.open !== 'account' || steps.reached > 0;
  const script = useStripeScript(plans, isNear && (!isSwitch || bought.price.print));
  const body = { flow, state, order, bought, script, isSwitch };
  return (
    <>
      <Offer price={bought.price} choices={isSwitch ? [] : state.choices} locked={locked} onChoose={flow.choose} />
      <div className={styles.steps}>
        {steps.names.map((name, at) => (
          <Step
            key={name}
            number={at + 1}
            of={steps.names.length}
            heading={messages.steps[name]}
            open={steps.open === name}
            done={isDone(name, state)}
            summary={summaryOf(name, state)}
            control={!locked && <StepControl name={name} flow={flow} state={state} />}
          >
            {name === 'account' && <AccountStep {...body} />}
            {name === 'shipping' && isReached(name, state) && <ShippingStep {...body} />}
            {name === 'payment' && isReached(name, state) && <PaymentStep {...body} />}
          </Step>
        ))}
      </div>
    </>
  );
}

/** A step keeps its fields in the page once it was reached: removing Stripe's frames would lose what was typed. */
const isReached = (name: StepName, { steps, email }: PaywallState): boolean =>
  steps.names.indexOf(name) <= steps.reached && email !== null;

const isDone = (name: StepName, { email, shipping }: PaywallState): boolean =>
  name === 'account' ? email !== null : name === 'shipping' && shipping.saved !== null;

function summaryOf(name: StepName, { email, shipping: { saved } }: PaywallState): ReactNode {
  if (name === 'account') return email && <span className={styles.address}>{email}</span>;
  return name === 'shipping' && saved && `${saved.name}, ${saved.address.line1}, ${saved.address.city}`;
}

/** The button that returns to a step. */
function StepControl({ name, flow, state }: Omit<AccordionProps, 'order'> & { name: StepName }) {
  const { steps } = state;
  const isAccount = name === 'account';
  if (!isReached(name, state) || (isAccount && steps.open === 'account')) return null;
  return (
    <button
      type="button"
      className={`${parts.textButton} ${styles.control}`}
      aria-expanded={isAccount ? undefined : steps.open === name}
      onClick={isAccount ? flow.change : () => flow.toggle(name)}
    >
      {isAccount ? messages.change : messages.edit}
      <span className="visually-hidden"> {messages.steps[name].toLowerCase()}</span>
    </button>
  );
}

interface BodyProps extends AccordionProps {
  bought: OrderState;
  script: StripeScript;
  isSwitch: boolean;
}

function AccountStep({ flow, state, bought }: BodyProps) {
  return (
    <AccountBody
      state={useStore(flow.account.$state)}
      step={flow.account}
      email={state.email}
      leaving={state.leaving}
      returnTo={`${location.pathname}${location.search}#join=${encodeURIComponent(bought.price.zephrPlanId)}`}
      onLogout={() => void flow.logout()}
      onContinue={() => flow.next('account')}
    />
  );
}

function ShippingStep({ flow, state: { shipping }, script }: BodyProps) {
  return (
    <ShippingBody
      script={script}
      known={useStore($draft).shipping ?? shipping.saved}
      busy={shipping.busy}
      error={shipping.error}
      onTyped={flow.typeShipping}
      onSave={(address) => void flow.saveShipping(address)}
    />
  );
}

function PaymentStep({ flow, state, order, bought, script, isSwitch }: BodyProps) {
  const { plans, email, shipping, changedSum } = state;
  const paying = useStore(flow.payment.$state);
  const ready = email !== null && (!bought.price.print || shipping.saved !== null);
  const isChanged = changedSum !== null && changedSum === bought.quote?.dueToday;
  const sumNotice = isChanged ? messages.sumChanged(formatSum(changedSum, bought.price.currency)) : null;
  const shared = { order, state: bought, payment: flow.payment, paying, ready, sumNotice };
  if (isSwitch && plans) return <SwitchBody {...shared} plans={plans} />;
  return (
    <PaymentBody
      {...shared}
      script={script}
      email={email}
      tax={plans?.tax ? { country: plans.country } : null}
      sentTo={bought.price.print && shipping.saved ? placeOf(shipping.saved) : null}
      onWalletSheet={flow.setWalletSheet}
      onSumChanged={flow.noteSum}
    />
  );
}

interface StepProps {
  number: number;
  of: number;
  heading: string;
  open: boolean;
  done: boolean;
  /** Shown while the step is closed. */
  summary?: ReactNode;
  /** The control next to the heading. */
  control?: ReactNode;
  children: ReactNode;
}

/** One step of the accordion. A closed step keeps its fields. */
function Step({ number, of, heading, open, done, summary, control, children }: StepProps) {
  const id = useId();
  const title = useRef<HTMLHeadingElement>(null);
  // Screen readers read an opened step from its heading on.
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
