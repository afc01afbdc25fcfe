/** Parts of the forms that take an email address: the field, the consent line, sending again. */

import { type RefObject, type SyntheticEvent, useEffect, useRef } from 'react';
import { formFields } from '../../lib/accounts/forms.ts';
import { publication } from '../../publication.ts';
import styles from './shared.module.css';

/** The line about privacy and terms (spec section 2, "Auth popup"). */
export function Consent() {
  return (
    <p className={styles.consent}>
      By continuing you agree to the <a href="/privacy-policy#Terms-of-use">terms of use</a> and the{' '}
      <a href="/privacy-policy">privacy policy</a> of {publication.name}.
    </p>
  );
}

interface ResendProps {
  question: string;
  action: string;
  resent: boolean;
  busy: boolean;
  onResend(): void;
}

/** Asks for another message, and says briefly that it was sent. */
export function Resend({ question, action, resent, busy, onResend }: ResendProps) {
  return (
    <p className={styles.resend}>
      {question}{' '}
      <button
        type="button"
        className={styles.textButton}
        aria-disabled={busy || resent}
        onClick={() => {
          if (!busy && !resent) onResend();
        }}
      >
        {action}
      </button>{' '}
      <span className={styles.resent} role="status">
        {resent && 'Resent!'}
      </span>
    </p>
  );
}

/**
 * State and handlers of a form with one email field.
 *
 * @param error what is wrong with the address; the field is focused when it appears
 * @param onSubmit given what stands in the field
 */
export function useEmailField(error: string | null, onSubmit: (email: string) => void) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (error !== null) input.current?.focus();
  }, [error]);
  return {
    input,
    submit(event: SyntheticEvent) {
      event.preventDefault();
      onSubmit(input.current?.value ?? '');
    },
    /** Takes the address that was probably meant. */
    take(suggestion: string) {
      if (input.current) input.current.value = suggestion;
      onSubmit(suggestion);
    },
  };
}

export interface EmailFieldProps {
  field: RefObject<HTMLInputElement | null>;
  id: string;
  /** Id of what says what is wrong. */
  errorId: string;
  email: string;
  wrong: boolean;
  busy: boolean;
  placeholder?: string | undefined;
}

/** Uncontrolled, so that what is typed before the script has come stays. */
export const EmailField = ({ field, id, errorId, email, wrong, busy, placeholder }: EmailFieldProps) => (
  <input
    ref={field}
    className="field"
    id={id}
    name={formFields.email}
    type="email"
    placeholder={placeholder}
    autoComplete="email"
    autoCapitalize="none"
    spellCheck={false}
    required
    readOnly={busy}
    defaultValue={email}
    aria-describedby={errorId}
    aria-invalid={wrong || undefined}
  />
);
