/**
 * The form that deletes the account after the reader has typed the account's address. It works without JavaScript; with it, errors
 * are shown in place.
 */
import { type SyntheticEvent, useId, useRef } from 'react';
import { forgetMe } from '../../lib/accounts/client.ts';
import { deletionMessages } from '../../lib/accounts/messages.ts';
import { formActions, formFields, formPages } from '../../lib/accounts/model.ts';
import { forgetProfileCopies } from '../../lib/accounts/storage.ts';
import { failureMessage } from '../../lib/http/messages.ts';
import { Notice, useScripted } from '../shared/notice.tsx';
import { useRequest } from '../shared/request.ts';
import styles from './forms.module.css';

interface Props {
  email: string;
  /** An error, as a sentence. */
  problem?: string | undefined;
}

export default function DeleteAccount({ email, problem: first }: Props) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  /** Whether a call had no response: it may have deleted the account nevertheless. */
  const unanswered = useRef(false);
  const { busy, problem, setProblem, start, end } = useRequest(first);
  const scripted = useScripted();

  async function submit(event: SyntheticEvent) {
    event.preventDefault();
    const typed = input.current?.value.trim().toLowerCase() ?? '';
    if (typed !== email.toLowerCase()) {
      setProblem(deletionMessages.otherAddress);
      return input.current?.focus();
    }
    const answer = await start(() => forgetMe(typed));
    if (!answer) return;
    if (answer.ok) {
      forgetProfileCopies();
      return location.assign(formPages.deleted);
    }
    const { status, message } = answer;
    unanswered.current ||= status === 0;
    if (status === 401 && unanswered.current) return end(deletionMessages.unsure);
    end(failureMessage(status, deletionMessages, status === 409 ? message : null));
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
