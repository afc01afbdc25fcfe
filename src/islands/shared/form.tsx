/** Parts of the forms that take an email address: the field, the consent line, sending again. */
import { type RefObject, type SyntheticEvent, useEffect, useRef } from 'react';
import { formFields } from '../../lib/accounts/model.ts';
import { publication } from '../../publication.ts';
import styles from './shared.module.css';

/** The line about privacy and terms (spec section 2, "Auth popup"). Pages render it without hydration. @param more a further sentence */
export function Consent({ more }: { more?: string }) {
  return (
    <p className={styles.consent}>
      By continuing you agree to the <a href="/privacy-policy#Terms-of-use">terms of use</a> and the{' '}
      <a href="/privacy-policy">privacy policy</a> of {publication.name}.{more && ` ${more}`}
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

/** A button that sends a message again, and a short confirmation. */
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
 * @param onSubmit called with the value of the field
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
    /** Submits the suggested address. */
    take(suggestion: string) {
      if (input.current) input.current.value = suggestion;
      onSubmit(suggestion);
    },
  };
}

export interface EmailFieldProps {
  field: RefObject<HTMLInputElement | null>;
  id: string;
  /** Id of the error message. */
  errorId: string;
  email: string;
  wrong: boolean;
  busy: boolean;
  placeholder?: string | undefined;
}

/** Uncontrolled, so that text that is typed before the hydration stays. */
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
