/** The steps before the payment: the account, and the shipping address. */
import { AddressElement, Elements } from '@stripe/react-stripe-js';
import type { StripeAddressElementOptions } from '@stripe/stripe-js';
import { type SyntheticEvent, useId, useMemo, useRef, useState } from 'react';
import type { Shipping } from '../../lib/billing/schema.ts';
import { paywallSteps as messages } from '../../lib/plans/messages.ts';
import { shippingOf } from '../../lib/plans/schema.ts';
import { SignInPanel } from '../SignIn/SignInPanel.tsx';
import { useFlow } from '../SignIn/use-flow.ts';
import { Consent, EmailField, useEmailField } from '../shared/form.tsx';
import { Notice } from '../shared/notice.tsx';
import parts from '../shared/shared.module.css';
import styles from './PaywallModal.module.css';
import { ScriptPlaceholder, type StripeScript } from './StripeForm.tsx';
import type { AccountState, AccountStep } from './steps.ts';
import { appearance } from './stripe.ts';

interface Props {
  state: AccountState;
  step: AccountStep;
  /** The signed-in account's address; `null` if the reader is signed out. */
  email: string | null;
  leaving: boolean;
  /** Path to come back to by a link. */
  returnTo: string;
  onLogout(): void;
  onContinue(): void;
}

/** The email field, the account that is signed in, or the sign-in of a known address. */
export function AccountBody({ state, step, email, leaving, returnTo, onLogout, onContinue }: Props) {
  if (email !== null)
    return (
      <div className={styles.stack}>
        <p className={styles.signedIn}>
          <span>
            {messages.signedInAs} <b className={styles.address}>{email || messages.aReader}</b>
          </span>
          <button type="button" className={parts.textButton} aria-disabled={leaving} onClick={onLogout}>
            {leaving ? messages.wait : messages.logout}
          </button>
        </p>
        <Notice id="paywall-account-trouble" text={state.error} />
        <button type="button" className={`button ${styles.wide}`} onClick={onContinue}>
          {messages.next}
        </button>
      </div>
    );
  if (state.signingIn) return <SignInHere email={state.email} returnTo={returnTo} onBack={step.back} />;
  return <Address state={state} step={step} />;
}

function Address({ state, step }: Pick<Props, 'state' | 'step'>) {
  const { email, busy, error, exists } = state;
  const id = useId();
  const { input, submit, take } = useEmailField(error, (typed) => void step.submit(typed));

  return (
    <form className={styles.stack} noValidate aria-busy={busy} onSubmit={submit}>
      <div className={styles.fieldset}>
        <label className={styles.label} htmlFor={`${id}-email`}>
          {messages.email}
        </label>
        <EmailField
          field={input}
          id={`${id}-email`}
          errorId={`${id}-note ${id}-error`}
          email={email}
          wrong={error !== null}
          busy={busy}
        />
        <Notice id={`${id}-error`} text={error} onSuggestion={take} />
        {exists && (
          <p className={styles.action}>
            <button type="button" className={parts.textButton} onClick={step.signIn}>
              {messages.signInAsk}
            </button>
          </p>
        )}
        <p className={styles.hint} id={`${id}-note`}>
          {messages.emailNote}
        </p>
      </div>
      <button className={`button ${styles.wide}`} type="submit" aria-disabled={busy}>
        {busy ? messages.wait : messages.next}
      </button>
      {!exists && (
        <p className={styles.hint}>
          {messages.hasAccount}{' '}
          <button type="button" className={parts.textButton} onClick={step.signIn}>
            {messages.signIn}
          </button>
        </p>
      )}
      <Consent />
    </form>
  );
}

/** The sign-in by link or code, in place, so that the order keeps what was typed. */
function SignInHere({ email, returnTo, onBack }: { email: string; returnTo: string; onBack(): void }) {
  const flow = useFlow({ redirect: returnTo, initial: { email }, surface: 'paywall', onSignedIn: () => {} });
  return (
    <div className={styles.stack} data-sign-in="">
      <SignInPanel flow={flow} providers={[]} returnTo={returnTo} focused />
      <p className={styles.hint}>
        <button type="button" className={parts.textButton} onClick={onBack}>
          {messages.backToOrder}
        </button>
      </p>
    </div>
  );
}

interface ShippingProps {
  script: StripeScript;
  /** What is known of the address. */
  known: Partial<Shipping> | null;
  busy: boolean;
  error: string | null;
  onTyped(address: Partial<Shipping>): void;
  onSave(address: Shipping): void;
}

/** Stripe's address fields; the form is sent once the address is complete (spec section 5). */
export function ShippingBody({ script, known, busy, error, onTyped, onSave }: ShippingProps) {
  const [address, setAddress] = useState<Shipping | null>(null);
  const first = useRef(known);
  const options = useMemo<StripeAddressElementOptions>(() => {
    const { name, address, phone } = first.current ?? {};
    return {
      mode: 'shipping',
      allowedCountries: ['US'],
      fields: { phone: 'always' },
      validation: { phone: { required: 'always' } },
      defaultValues: {
        ...(name && { name }),
        ...(phone && { phone }),
        address: { ...address, country: 'US' } as { country: string },
      },
    };
  }, []);
  const elementsOptions = useMemo(() => ({ appearance: appearance() }), []);
  if (!script.stripe) return <ScriptPlaceholder script={script} />;

  function submit(event: SyntheticEvent) {
    event.preventDefault();
    if (address && !busy) onSave(address);
  }
  return (
    <form className={styles.stack} noValidate aria-busy={busy} onSubmit={submit}>
      <Elements stripe={script.stripe} options={elementsOptions}>
        <AddressElement
          options={options}
          onChange={({ complete, value }) => {
            const typed = shippingOf(value);
            setAddress(complete ? typed : null);
            onTyped(typed);
          }}
        />
      </Elements>
      <Notice id="paywall-shipping-error" text={error} />
      <button type="submit" className={`button ${styles.wide}`} disabled={address === null} aria-disabled={busy}>
        {busy ? messages.saving : messages.next}
      </button>
    </form>
  );
}
