/** What step 1 holds: an address, or who is signed in, or the sign-in of an address that has an account already. */
import { type SyntheticEvent, useEffect, useId, useRef } from 'react';
import { SignInPanel } from '../SignIn/SignInPanel.tsx';
import { useFlow } from '../SignIn/use-flow.ts';
import { Consent, Notice } from '../shared/form.tsx';
import parts from '../shared/shared.module.css';
import type { AccountState, AccountStep } from './account-step.ts';
import styles from './PaywallModal.module.css';

interface Props {
  state: AccountState;
  step: AccountStep;
  /** Of whoever is signed in; `null` is nobody. */
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
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (error !== null) input.current?.focus();
  }, [error]);

  function submit(event: SyntheticEvent) {
    event.preventDefault();
    void step.submit(input.current?.value ?? '');
  }
  function take(suggestion: string) {
    if (input.current) input.current.value = suggestion;
    void step.submit(suggestion);
  }

  return (
    <form className={styles.stack} noValidate aria-busy={busy} onSubmit={submit}>
      <div className={styles.fieldset}>
        <label className={styles.label} htmlFor={`${id}-email`}>
          Email address
        </label>
        <input
          ref={input}
          className="field"
          id={`${id}-email`}
          name="email"
          type="email"
          autoComplete="email"
          autoCapitalize="none"
          spellCheck={false}
          required
          readOnly={busy}
          defaultValue={email}
          aria-describedby={`${id}-note ${id}-error`}
          aria-invalid={error !== null || undefined}
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
          Your receipt and your sign-in links go there.
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
