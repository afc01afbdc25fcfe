/** Parts of the islands' forms: messages, the email field, the consent line. */

import { type RefObject, type SyntheticEvent, useEffect, useRef, useSyncExternalStore } from 'react';
import { confirmPage, formFields } from '../../lib/accounts/forms.ts';
import { publication } from '../../publication.ts';
import { emailInText } from './email.ts';
import styles from './shared.module.css';

interface NoticeProps {
  id: string;
  /** `null` keeps the place in the page, so that a message which comes later is read out. */
  text: string | null;
  /** Makes an address in the text something to click; only beside a field for addresses. */
  onSuggestion?: ((email: string) => void) | undefined;
  /** Without a script an address is plain text. */
  plain?: boolean;
}

/** An error, announced when it appears. */
export function Notice({ id, text, onSuggestion, plain = false }: NoticeProps) {
  return (
    <div id={id} role="alert" className={styles.notice}>
      {text !== null && (
        <p>
          <Words text={text} onSuggestion={plain ? undefined : onSuggestion} />
        </p>
      )}
    </div>
  );
}

function Words({ text, onSuggestion }: { text: string; onSuggestion: NoticeProps['onSuggestion'] }) {
  const { before, email, after } = emailInText(text);
  if (email === null || !onSuggestion) return text;
  return (
    <>
      {before}
      <button type="button" className={styles.suggestion} onClick={() => onSuggestion(email)}>
        {email}
      </button>
      {after}
    </>
  );
}

/** The line about privacy and terms (spec section 2, "Auth popup"). */
export function Consent() {
  return (
    <p className={styles.consent}>
      By continuing you agree to the <a href="/privacy-policy#Terms-of-use">terms of use</a> and the{' '}
      <a href="/privacy-policy">privacy policy</a> of {publication.name}.
    </p>
  );
}

/** Follows a refusal for an unconfirmed address: a link to have the confirmation email sent again. */
export const ConfirmLink = () => (
  <p>
    <a href={confirmPage(location.pathname)}>Send the confirmation email again</a>
  </p>
);

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

const never = () => () => {};

/** False in what the server draws and while React takes that over, then true; true at once where the server drew nothing. */
export const useScripted = (): boolean =>
  useSyncExternalStore(
    never,
    () => true,
    () => false,
  );
