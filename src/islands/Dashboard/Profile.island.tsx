/**
 * The reader's profile (spec sections 2 to 5). The form works without JavaScript; with it, it is checked and saved in place. If it can't be
 * saved, a line below the form shows it and nothing that was typed is lost (spec section 7, "silently ignored").
 */
import { type SyntheticEvent, useId, useLayoutEffect, useRef, useState } from 'react';
import { saveProfile } from '../../lib/accounts/client.ts';
import { accountMessages, profileMessages } from '../../lib/accounts/messages.ts';
import { formActions, formFields } from '../../lib/accounts/model.ts';
import {
  formatUsPhone,
  type ProfileField,
  profileFields,
  readProfileForm,
  shownValue,
  storeProfileCopies,
} from '../../lib/accounts/profile.ts';
import { Notice, useScripted } from '../shared/notice.tsx';
import styles from './forms.module.css';

export interface ProfileProps {
  /** As the account service names them (spec section 7). */
  profile: Readonly<Record<string, string | number | boolean>>;
  email: string;
  trackingId: string;
  /** Path of the page with the form. */
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
  const { status, problem, submit, edited } = useProfile(email, trackingId, first, saved);
  const scripted = useScripted();
  return (
    <form
      className={styles.profile}
      method="post"
      action={formActions.profile}
      aria-label="Profile Information"
      noValidate={scripted}
      onSubmit={submit}
      onInput={edited}
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

type Status = keyof typeof profileMessages | null;

/** State of the form, and how it is saved. @param first a message that the server has rendered */
function useProfile(email: string, trackingId: string, first: string | undefined, saved: boolean) {
  const [status, setStatus] = useState<Status>(saved ? 'saved' : null);
  const [problem, setProblem] = useState<Problem | null>(
    first === undefined
      ? null
      : { field: profileFields.find(({ message }) => message === first) ?? null, message: first },
  );

  /** Whether something was typed while the form was being saved. */
  const isEdited = useRef(false);

  async function submit(event: SyntheticEvent<HTMLFormElement>) {
    event.preventDefault();
    if (status === 'saving') return;
    isEdited.current = false;
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
      return setStatus(isEdited.current ? null : 'saved');
    }
    // Only errors that the user can correct are shown as errors.
    if (answer.status === 400 || answer.status === 429) {
      setStatus(null);
      return setProblem({ field: null, message: answer.message ?? accountMessages.failed });
    }
    setStatus(answer.status === 401 ? 'signedOut' : answer.status === 0 ? 'offline' : 'failed');
  }

  const edited = () => {
    isEdited.current = true;
    if (status !== null && status !== 'saving') setStatus(null);
  };
  return { status, problem, submit, edited };
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

export interface ProfileFieldProps {
  id: string;
  field: ProfileField;
  /** As the form shows it; empty when there is none. */
  value: string;
  error: string | null;
}

/** The caret's position after so many digits. */
function placeAfter(text: string, digits: number): number {
  let at = 0;
  for (let seen = 0; at < text.length && seen < digits; at++) if (/\d/.test(text[at] ?? '')) seen++;
  return at;
}

/** A phone number of the United States (spec section 5): the country is fixed, and the number is formatted while it is typed. */
function PhoneField({ id, field, value, error }: ProfileFieldProps) {
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(value);
  const caret = useRef<number | null>(null);

  // Keeps what was typed before hydration.
  useLayoutEffect(() => {
    const typedBefore = input.current?.value ?? '';
    setText((now) => (typedBefore === now ? now : formatUsPhone(typedBefore)));
  }, []);
  useLayoutEffect(() => {
    if (caret.current === null || document.activeElement !== input.current) return;
    input.current?.setSelectionRange(caret.current, caret.current);
    caret.current = null;
  });

  function typed({ currentTarget, nativeEvent }: SyntheticEvent<HTMLInputElement>) {
    const raw = currentTarget.value;
    const place = currentTarget.selectionStart ?? raw.length;
    // Deleting a separator deletes the digit before it, because the format restores the separator.
    const back = (nativeEvent as InputEvent).inputType === 'deleteContentBackward';
    const same = back && raw.replace(/\D/g, '') === text.replace(/\D/g, '');
    const head = raw.slice(0, place);
    const meant = same ? head.replace(/\d(\D*)$/, '$1') + raw.slice(place) : raw;
    const next = formatUsPhone(meant);
    const before = (same ? head.replace(/\d(\D*)$/, '$1') : head).replace(/\D/g, '').length;
    const country = /^\D*1/.test(meant) ? 0 : 1;
    caret.current = place === raw.length ? next.length : placeAfter(next, before + country);
    setText(next);
  }

  return (
    <div className={styles.half}>
      <label className={styles.label} htmlFor={id}>
        {field.label}
        <span className={styles.optional}> (optional)</span>
      </label>
      <div className={styles.phone}>
        <span className={styles.country} aria-hidden="true">
          US
        </span>
        <input
          ref={input}
          className="field"
          id={id}
          name={field.name}
          type="tel"
          autoComplete={field.autoComplete}
          value={text}
          onChange={typed}
          onBlur={() => text.trim() === '+1' && setText('')}
          aria-describedby={`${id}-hint ${id}-error`}
          aria-invalid={error !== null || undefined}
        />
      </div>
      <p className={styles.hint} id={`${id}-hint`}>
        Eleven digits, beginning with 1. United States only.
      </p>
      <Notice id={`${id}-error`} text={error} />
    </div>
  );
}
