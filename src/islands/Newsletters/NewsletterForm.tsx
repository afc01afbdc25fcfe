/** An email address, the button, and what was wrong; the same in the bar at the foot of the page and on pages of its own. */
import { type ReactNode, useId } from 'react';
import { formActions, formFields } from '../../lib/accounts/forms.ts';
import { EmailField, Notice, useEmailField } from '../shared/form.tsx';
import styles from './Newsletters.module.css';

export interface NewsletterFormProps {
  email: string;
  error: string | null;
  busy: boolean;
  label: string;
  submit: string;
  returnTo: string;
  /** In one line, the label for assistive technology alone. */
  inline?: boolean;
  scripted: boolean;
  /** Further fields above the address. */
  children?: ReactNode;
  onSubmit(email: string): void;
}

export function NewsletterForm(props: NewsletterFormProps) {
  const { email, error, busy, label, submit, returnTo, inline = false, scripted, children, onSubmit } = props;
  const id = useId();
  const { input, submit: send, take } = useEmailField(error, onSubmit);

  return (
    <form
      className={inline ? styles.inline : styles.form}
      method="post"
      action={formActions.newsletter}
      noValidate={scripted}
      aria-busy={busy}
      onSubmit={send}
    >
      {children}
      <label className={inline ? 'visually-hidden' : styles.label} htmlFor={`${id}-email`}>
        {label}
      </label>
      <div className={styles.row}>
        <EmailField
          field={input}
          id={`${id}-email`}
          errorId={`${id}-error`}
          email={email}
          busy={busy}
          wrong={error !== null}
          placeholder={inline ? 'Email address' : undefined}
        />
        <button className="button" type="submit" aria-disabled={busy}>
          {busy ? 'One moment…' : submit}
        </button>
      </div>
      <Notice id={`${id}-error`} text={error} onSuggestion={take} plain={!scripted} />
      <input type="hidden" name={formFields.return} value={returnTo} />
    </form>
  );
}
