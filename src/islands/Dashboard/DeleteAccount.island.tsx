/**
 * The form that deletes the account after its address was typed. It works without JavaScript; with it, errors are shown in place.
 */
import { type SyntheticEvent, useId, useRef, useState } from 'react';
import { forgetMe } from '../../lib/accounts/client.ts';
import { deletionMessages } from '../../lib/accounts/messages.ts';
import { formActions, formFields, formPages } from '../../lib/accounts/model.ts';
import { forgetProfileCopies } from '../../lib/accounts/profile-copies.ts';
import { messages } from '../shared/messages.ts';
import { Notice, useScripted } from '../shared/notice.tsx';
import styles from './forms.module.css';

interface Props {
  email: string;
  /** An error, as a sentence. */
  problem?: string | undefined;
}

export default function DeleteAccount({ email, problem: first }: Props) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const unheard = useRef(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(first ?? null);
  const scripted = useScripted();

  async function submit(event: SyntheticEvent) {
    event.preventDefault();
    if (busy) return;
    const typed = input.current?.value.trim().toLowerCase() ?? '';
    if (typed !== email.toLowerCase()) {
      setProblem(deletionMessages.otherAddress);
      return input.current?.focus();
    }
    setBusy(true);
    setProblem(null);
    const answer = await forgetMe(typed);
    if (answer.ok) {
      forgetProfileCopies();
      return location.assign(formPages.deleted);
    }
    const { status } = answer;
    setBusy(false);
    unheard.current ||= status === 0;
    if (status === 401 && unheard.current) setProblem(deletionMessages.unsure);
    else if (status === 409) setProblem(answer.message ?? deletionMessages.failed);
    else
      setProblem(
        status === 0 ? messages.offline : status === 401 ? deletionMessages.signedOut : deletionMessages.failed,
      );
  }

  return (
    <form
      className={styles.deletion}
      method="post"
      action={formActions.delete}
      aria-label="Delete my account"
      noValidate={scripted}
      onSubmit={submit}
    >
      <label className={styles.label} htmlFor={`${id}-email`}>
        Type {email} to confirm
      </label>
      <input
        ref={input}
        className="field"
        id={`${id}-email`}
        name={formFields.email}
        type="email"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        required
        readOnly={busy}
        aria-describedby={`${id}-problem`}
        aria-invalid={problem !== null || undefined}
      />
      <button className={`button ${styles.delete}`} type="submit" aria-disabled={busy || undefined}>
        {busy ? 'Deleting…' : 'Delete my account'}
      </button>
      <div className={styles.problem}>
        <Notice id={`${id}-problem`} text={problem} />
      </div>
    </form>
  );
}
