/** Step 1: the email field, the account that is signed in, or the sign-in of a known address. */
import { useId } from 'react';
import { SignInPanel } from '../SignIn/SignInPanel.tsx';
import { useFlow } from '../SignIn/use-flow.ts';
import { Consent, EmailField, useEmailField } from '../shared/form.tsx';
import { Notice } from '../shared/notice.tsx';
import parts from '../shared/shared.module.css';
import type { AccountState, AccountStep } from './account-step.ts';
import styles from './PaywallModal.module.css';

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

export function AccountBody({ state, step, email, leaving, returnTo, onLogout, onContinue }: Props) {
  if (email !== null)
    return (
      <div className={styles.stack}>
        <p className={styles.signedIn}>
          <span>
            Signed in as <b className={styles.address}>{email || 'a reader'}</b>
          </span>
          <button type="button" className={parts.textButton} aria-disabled={leaving} onClick={onLogout}>
            {leaving ? 'One moment…' : 'Logout'}
          </button>
        </p>
        <Notice id="paywall-account-trouble" text={state.error} />
        <button type="button" className={`button ${styles.wide}`} onClick={onContinue}>
          Continue
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
          Email address
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
              Sign in?
            </button>
          </p>
        )}
        <p className={styles.hint} id={`${id}-note`}>
          We’ll send your receipt and sign-in links there.
        </p>
      </div>
      <button className={`button ${styles.wide}`} type="submit" aria-disabled={busy}>
        {busy ? 'One moment…' : 'Continue'}
      </button>
      {!exists && (
        <p className={styles.hint}>
          Already have an account?{' '}
          <button type="button" className={parts.textButton} onClick={step.signIn}>
            Sign In
          </button>
        </p>
      )}
      <Consent />
    </form>
  );
}

/** The sign-in by link or code, in place: what was typed for the order stays where it is. */
function SignInHere({ email, returnTo, onBack }: { email: string; returnTo: string; onBack(): void }) {
  const flow = useFlow({ redirect: returnTo, initial: { email }, surface: 'paywall', onSignedIn: () => {} });
  return (
    <div className={styles.stack} data-sign-in="">
      <SignInPanel flow={flow} providers={[]} returnTo={returnTo} focused />
      <p className={styles.hint}>
        <button type="button" className={parts.textButton} onClick={onBack}>
          Back to the order
        </button>
      </p>
    </div>
  );
}
