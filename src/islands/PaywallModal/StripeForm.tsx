/** Stripe's frames in a form of ours: wallet buttons, card fields, and placeholders until Stripe.js has loaded. */

import { ExpressCheckoutElement, PaymentElement } from '@stripe/react-stripe-js';
import type {
  AvailablePaymentMethods,
  ClickResolveDetails,
  Stripe,
  StripeExpressCheckoutElementConfirmEvent,
  StripePaymentElementOptions,
} from '@stripe/stripe-js';
import { type ReactNode, useEffect, useId, useState } from 'react';
import type { PlansAnswer } from '../../lib/billing/schema.ts';
import { paywall as messages } from '../../lib/plans/messages.ts';
import { useRetryOnline } from '../shared/online.ts';
import parts from '../shared/shared.module.css';
import styles from './PaywallModal.module.css';
import { expressOptions, loadStripe } from './stripe.ts';

/**
 * Hides a form behind a skeleton until all of it can be shown at once. Until then, Stripe's frames load in their places: browsers
 * don't render frames without a size.
 */
export function FormPlaceholder({ isSettled, children }: { isSettled: boolean; children: ReactNode }) {
  return (
    <div className={styles.pending} data-form="" data-settled={isSettled || undefined}>
      {!isSettled && <Skeleton />}
      <div className={styles.stack}>{children}</div>
    </div>
  );
}

/** How long to wait for the wallet buttons, milliseconds: at most, and once the fields are there. Later buttons are left out. */
const buttonsMs = { atMost: 8000, afterFields: 2000 };
/** How long to wait for the fields once the buttons are known, milliseconds; then a skeleton shows in their place. */
const fieldsMs = 400;

/**
 * Decides when a card form is shown. Stripe.js reports late whether there are wallet buttons above the card, so form and buttons
 * appear together, and nothing moves under the reader's finger. A frame scrolled out of sight may never report ready, so waiting
 * ends by itself.
 */
export function useFormSettled() {
  const [fields, setFields] = useState(false);
  const [buttons, setButtons] = useState<'unknown' | 'some' | 'none'>('unknown');
  const isKnown = buttons !== 'unknown';
  useEffect(() => {
    if (isKnown && fields) return;
    const giveUp = isKnown ? () => setFields(true) : () => setButtons('none');
    const timer = setTimeout(giveUp, isKnown ? fieldsMs : fields ? buttonsMs.afterFields : buttonsMs.atMost);
    return () => clearTimeout(timer);
  }, [isKnown, fields]);
  return {
    isSettled: fields && isKnown,
    /** Whether the buttons stay in the page: they are there, or may still come. */
    hasButtons: buttons !== 'none',
    onButtons: (hasAny: boolean) =>
      setButtons((before) => (before === 'unknown' ? (hasAny ? 'some' : 'none') : before)),
    onFields: () => setFields(true),
  };
}

interface ExpressProps {
  /** What a wallet's sheet shows; `null`: nothing can be paid at the moment. */
  details: ClickResolveDetails | null;
  /** A line below the buttons. */
  hint?: string | undefined;
  /** The text between the buttons and the form below. */
  or: string;
  /** Called once: whether there are buttons. */
  onSettled(hasButtons: boolean): void;
  onOpen(): void;
  onCancel(): void;
  onConfirm(event: StripeExpressCheckoutElementConfirmEvent): void;
}

const hasAny = (methods: AvailablePaymentMethods | undefined): boolean =>
  methods !== undefined && Object.values(methods).includes(true);

/**
 * Apple Pay, Google Pay and Link above a card form. Stripe.js draws those that the reader's browser has, on a registered domain
 * (docs/operations.md, "Wallets"). Without any, the section is removed.
 */
export function Express({ details, hint, or, onSettled, onOpen, onCancel, onConfirm }: ExpressProps) {
  const id = useId();
  return (
    <section className={styles.express} aria-labelledby={id} inert={details === null} data-express="">
      <p className={styles.expressHeading} id={id}>
        {messages.express}
      </p>
      <ExpressCheckoutElement
        options={expressOptions}
        onReady={({ availablePaymentMethods }) => onSettled(hasAny(availablePaymentMethods))}
        onLoadError={() => onSettled(false)}
        onClick={({ resolve, reject }) => {
          if (details === null) return reject();
          resolve(details);
          onOpen();
        }}
        onCancel={onCancel}
        onConfirm={onConfirm}
      />
      {hint && <p className={styles.hint}>{hint}</p>}
      <p className={parts.or}>{or}</p>
    </section>
  );
}

interface CardFieldsProps {
  options: StripePaymentElementOptions;
  /** The fields, or an error in their place, are visible. */
  onSettled(): void;
  onChange(complete: boolean): void;
}

/** The card's fields, in a frame of Stripe's; they can be loaded again if they fail. */
export function CardFields({ options, onSettled, onChange }: CardFieldsProps) {
  const [broken, setBroken] = useState(false);
  const [isShown, setShown] = useState(false);
  const [attempt, setAttempt] = useState(0);
  function loadAgain() {
    setBroken(false);
    setShown(false);
    setAttempt(attempt + 1);
  }
  if (broken) return <Failure text={messages.scriptFailed} onRetry={loadAgain} />;
  return (
    <>
      {!isShown && <div className={`${styles.skeleton} ${styles.cover}`} aria-hidden="true" />}
      <PaymentElement
        key={attempt}
        options={options}
        onReady={() => {
          setShown(true);
          onSettled();
        }}
        onLoadError={() => {
          console.error('Paywall: the card fields could not be loaded');
          onChange(false);
          setBroken(true);
          onSettled();
        }}
        onChange={({ complete }) => onChange(complete)}
      />
    </>
  );
}

/** In place of Stripe's fields until its script has loaded. */
export function ScriptPlaceholder({ script }: { script: StripeScript }) {
  return script.failed ? <Failure text={messages.scriptFailed} onRetry={script.retry} /> : <Skeleton />;
}

const Skeleton = () => (
  <div className={styles.skeleton} role="status">
    <span className="visually-hidden">{messages.loadingForm}</span>
  </div>
);

/** What could not be loaded, and a button to try again. It retries automatically when the browser comes back online. */
export function Failure({ text, onRetry }: { text: string | null; onRetry(): void }) {
  useRetryOnline(true, onRetry);
  return (
    <div className={styles.broken} role="alert">
      <p>{text}</p>
      <button type="button" className="button button-plain" onClick={onRetry}>
        {messages.retry}
      </button>
    </div>
  );
}

export interface StripeScript {
  readonly stripe: Stripe | null;
  readonly failed: boolean;
  retry(): void;
}

/** Loads Stripe.js when it is wanted. @param wanted whether the reader is about to enter a card */
export function useStripeScript(
  plans: Pick<PlansAnswer, 'scriptUrl' | 'publishableKey'> | null,
  wanted: boolean,
): StripeScript {
  const [stripe, setStripe] = useState<Stripe | null>(null);
  const [failed, setFailed] = useState(false);
  const [attempt, setAttempt] = useState(0);
  const { scriptUrl, publishableKey } = plans ?? {};

  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt loads it again
  useEffect(() => {
    if (!wanted || !scriptUrl || !publishableKey || stripe) return;
    let here = true;
    setFailed(false);
    loadStripe(scriptUrl, publishableKey).then(
      (loaded) => here && setStripe(loaded),
      (error: unknown) => {
        console.error('Paywall: Stripe.js', error instanceof Error ? error.message : '');
        if (here) setFailed(true);
      },
    );
    return () => {
      here = false;
    };
  }, [wanted, scriptUrl, publishableKey, attempt, stripe]);

  return { stripe, failed, retry: () => setAttempt((before) => before + 1) };
}
