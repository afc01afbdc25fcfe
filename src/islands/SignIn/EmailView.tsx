/** The e-mail login panel at its beginning (spec section 2, "Email login panel"). */
import { useEffect, useId } from 'react';
import { formActions, formFields } from '../../lib/accounts/forms.ts';
import { EmailField, useEmailField } from '../shared/form.tsx';
import { Notice } from '../shared/notice.tsx';
import { SocialButtons } from '../shared/SocialButtons.tsx';
import parts from '../shared/shared.module.css';
import type { Provider } from '../shared/social.ts';
import styles from './SignIn.module.css';

export interface EmailViewProps {
  email: string;
  /** Said beside the field. */
  error: string | null;
  /** Said above the form: what the address has nothing to do with. */
  trouble: string | null;
  busy: boolean;
  providers: readonly Provider[];
  waiting: Provider | null;
  returnTo: string;
  /** False in what the server draws: the browser then checks the form and sends it. */
  scripted: boolean;
  focused: boolean;
  onSubmit(email: string): void;
  onProvider(provider: Provider): void;
}

export function EmailView(props: EmailViewProps) {
  const { email, error, trouble, busy, providers, waiting, returnTo, scripted, focused, onSubmit, onProvider } = props;
  const id = useId();
  const { input, submit, take } = useEmailField(error, onSubmit);

  useEffect(() => {
    if (focused) input.current?.focus();
  }, [focused, input]);

  return (
    <div className={styles.panel}>
      <Notice id={`${id}-trouble`} text={trouble} />
      <form
        className={styles.form}
        method="post"
        action={formActions.signIn}
        noValidate={scripted}
        aria-busy={busy}
        onSubmit={submit}
      >
        <label className={styles.label} htmlFor={`${id}-email`}>
          Please enter your email address below:
        </label>
        <EmailField
          field={input}
          id={`${id}-email`}
          errorId={`${id}-error`}
          email={email}
          busy={busy}
          wrong={error !== null}
        />
        <Notice id={`${id}-error`} text={error} onSuggestion={take} plain={!scripted} />
        <input type="hidden" name={formFields.return} value={returnTo} />
        <button className={`button ${styles.submit}`} type="submit" aria-disabled={busy}>
          {busy ? 'One moment…' : 'Continue'}
        </button>
      </form>
      {providers.length > 0 && (
        <>
          <p className={parts.or}>or</p>
          <SocialButtons providers={providers} returnTo={returnTo} waiting={waiting} onChoose={onProvider} />
        </>
      )}
    </div>
  );
}
