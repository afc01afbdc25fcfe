/**
 * The reader's profile (spec sections 2 to 5): a form that the browser can send by itself. With a script it is checked and saved in
 * place. A profile that could not be saved is no alarm (spec section 7, "silently ignored"): a quiet line says so, and nothing that was
 * typed is lost.
 */
import { type SyntheticEvent, useId, useState } from 'react';
import { saveProfile } from '../../lib/accounts/client.ts';
import { formActions, formFields } from '../../lib/accounts/forms.ts';
import { accountMessages, profileMessages } from '../../lib/accounts/messages.ts';
import { readProfileForm, shownValue } from '../../lib/accounts/profile.ts';
import { type ProfileField, profileFields, storeProfileCopies } from '../../lib/accounts/profile-fields.ts';
import { Notice, useScripted } from '../shared/notice.tsx';
import { PhoneField, type ProfileFieldProps } from './PhoneField.tsx';
import styles from './Profile.module.css';

export interface ProfileProps {
  /** As the account service names them (spec section 7). */
  profile: Readonly<Record<string, string | number | boolean>>;
  email: string;
  trackingId: string;
  /** Path of the page that the form stands on. */
  returnTo: string;
  problem?: string | undefined;
  saved?: boolean;
}

/** The field that a message is about, and the message. */
interface Problem {
  readonly field: ProfileField | null;
  readonly message: string;
}

export default function Profile({ profile, email, trackingId, returnTo, problem: first, saved = false }: ProfileProps) {
  const id = useId();
  const [status, setStatus] = useState<keyof typeof profileMessages | null>(saved ? 'saved' : null);
  const [problem, setProblem] = useState<Problem | null>(
    first === undefined
      ? null
      : { field: profileFields.find(({ message }) => message === first) ?? null, message: first },
  );
  const scripted = useScripted();

  async function submit(event: SyntheticEvent<HTMLFormElement>) {
    event.preventDefault();
    if (status === 'saving') return;
    const form = event.currentTarget;
    const data = new FormData(form);
    const read = readProfileForm((name) => String(data.get(name) ?? ''));
    if ('refused' in read) {
      const { refused: field } = read;
      setProblem({ field, message: field.message ?? '' });
      setStatus(null);
      (form.elements.namedItem(field.name) as HTMLElement | null)?.focus();
      return;
    }
    setProblem(null);
    setStatus('saving');
    const answer = await saveProfile(read.profile);
    if (answer.ok) {
      storeProfileCopies(read.profile, email, trackingId);
      return setStatus('saved');
    }
    // What the reader can correct is said; for everything else a quiet line is enough.
    if (answer.status === 400 || answer.status === 429) {
      setStatus(null);
      return setProblem({ field: null, message: answer.message ?? accountMessages.failed });
    }
    setStatus(answer.status === 401 ? 'signedOut' : answer.status === 0 ? 'offline' : 'failed');
  }

  return (
    <form
      className={styles.profile}
      method="post"
      action={formActions.profile}
      aria-label="Profile Information"
      noValidate={scripted}
      onSubmit={submit}
      onInput={() => status !== null && status !== 'saving' && setStatus(null)}
    >
      <Notice id={`${id}-problem`} text={problem && !problem.field ? problem.message : null} />
      <div className={styles.fields}>
        {profileFields.map((field) => {
          const Field = field.kind === 'phone' ? PhoneField : TextField;
          return (
            <Field
              key={field.name}
              id={`${id}-${field.name}`}
              field={field}
              value={shownValue(field, profile)}
              error={problem?.field === field ? problem.message : null}
            />
          );
        })}
      </div>
      <input type="hidden" name={formFields.return} value={returnTo} />
      <div className={styles.end}>
        <button className="button" type="submit" aria-disabled={status === 'saving' || undefined}>
          Save
        </button>
        <p className={styles.status} role="status" data-state={status ?? undefined}>
          {status && profileMessages[status]}
        </p>
      </div>
    </form>
  );
}

function TextField({ id, field, value, error }: ProfileFieldProps) {
  const { name, label, kind = 'text', autoComplete, maxLength, half } = field;
  return (
    <div className={half ? styles.half : styles.wide}>
      <label className={styles.label} htmlFor={id}>
        {label}
        <span className={styles.optional}> (optional)</span>
      </label>
      <input
        className="field"
        id={id}
        name={name}
        type={kind === 'date' ? 'date' : 'text'}
        autoComplete={autoComplete}
        maxLength={kind === 'date' ? undefined : maxLength}
        defaultValue={value}
        aria-describedby={error === null ? undefined : `${id}-error`}
        aria-invalid={error !== null || undefined}
        {...(kind === 'date' && { min: '1900-01-01', max: new Date().toISOString().slice(0, 10) })}
      />
      {error !== null && <Notice id={`${id}-error`} text={error} />}
    </div>
  );
}
