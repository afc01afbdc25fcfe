/**
 * The reader's profile (spec sections 2 to 5): a form that the browser can send by itself. With a script it is checked and saved in
 * place. A profile that could not be saved is no alarm (spec section 7, "silently ignored"): a quiet line says so, and nothing that was
 * typed is lost.
 */
import { type SyntheticEvent, useId, useRef, useState } from 'react';
import { saveProfile } from '../../lib/accounts/client.ts';
import { formActions, formFields } from '../../lib/accounts/forms.ts';
import { keepProfileCopies } from '../../lib/accounts/profile.ts';
import { usPhoneDigits } from '../../lib/us-phone.ts';
import { Notice, useScripted } from '../shared/form.tsx';
import { PhoneField } from './PhoneField.tsx';
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

/** What is said after trying to save; `null` before. */
const said = {
  saved: 'Your profile has been saved.',
  saving: 'Saving…',
  kept: 'Your profile was not saved just now. What you typed is still here: please save it again in a little while.',
  offline: 'You are offline, and your profile was not saved. What you typed is still here.',
  out: 'You are signed out. Sign in in another tab, then save again.',
} as const;

const wrongPhone = 'Invalid phone number';

export default function Profile({ profile, email, trackingId, returnTo, problem, saved = false }: ProfileProps) {
  const id = useId();
  const form = useRef<HTMLFormElement>(null);
  const [status, setStatus] = useState<keyof typeof said | null>(saved ? 'saved' : null);
  const [phoneError, setPhoneError] = useState<string | null>(problem === wrongPhone ? problem : null);
  const [trouble, setTrouble] = useState<string | null>(problem === wrongPhone ? null : (problem ?? null));
  const scripted = useScripted();

  async function submit(event: SyntheticEvent<HTMLFormElement>) {
    event.preventDefault();
    if (status === 'saving') return;
    const data = new FormData(event.currentTarget);
    const of = (name: string): string => String(data.get(name) ?? '').trim();
    const phone = usPhoneDigits(of('phone'));
    setTrouble(null);
    setPhoneError(phone === null ? wrongPhone : null);
    if (phone === null) {
      setStatus(null);
      (form.current?.elements.namedItem('phone') as HTMLElement | null)?.focus();
      return;
    }
    setStatus('saving');
    const [first, last, birthday, address] = [of('first_name'), of('last_name'), of('birthday'), of('address')];
    const answer = await saveProfile({
      first_name: first,
      last_name: last,
      'phone-number': phone,
      date_of_birth: birthday,
      address,
    });
    if (answer.ok) {
      keepProfileCopies({ address, firstName: first, lastName: last, email, phone, birthday, trackingId });
      return setStatus('saved');
    }
    // What the reader can mend is said; for everything else a quiet line is enough.
    if (answer.status === 400 || answer.status === 429) {
      setStatus(null);
      return setTrouble(answer.message);
    }
    setStatus(answer.status === 401 ? 'out' : answer.status === 0 ? 'offline' : 'kept');
  }

  const field = (name: string, label: string, attribute: string, more: Partial<Field> = {}) => (
    <TextField id={`${id}-${name}`} name={name} label={label} value={String(profile[attribute] ?? '')} {...more} />
  );
  return (
    <form
      ref={form}
      className={styles.profile}
      method="post"
      action={formActions.profile}
      aria-label="Profile Information"
      noValidate={scripted}
      onSubmit={submit}
      onInput={() => status !== null && status !== 'saving' && setStatus(null)}
    >
      <Notice id={`${id}-problem`} text={trouble} />
      <div className={styles.fields}>
        {field('first_name', 'First name', 'first_name', { autoComplete: 'given-name', half: true, longest: 100 })}
        {field('last_name', 'Last name', 'last_name', { autoComplete: 'family-name', half: true, longest: 100 })}
        <PhoneField id={`${id}-phone`} name="phone" value={String(profile['phone-number'] ?? '')} error={phoneError} />
        {field('birthday', 'Date of birth', 'date_of_birth', { type: 'date', autoComplete: 'bday', half: true })}
        {field('address', 'Address', 'address', { autoComplete: 'address-line1', longest: 1000 })}
      </div>
      <input type="hidden" name={formFields.return} value={returnTo} />
      <div className={styles.end}>
        <button className="button" type="submit" aria-disabled={status === 'saving' || undefined}>
          Save
        </button>
        <p className={styles.status} role="status" data-state={status ?? undefined}>
          {status && said[status]}
        </p>
      </div>
    </form>
  );
}

interface Field {
  id: string;
  name: string;
  label: string;
  value: string;
  type?: 'text' | 'date';
  autoComplete?: string;
  half?: boolean;
  longest?: number;
}

function TextField({ id, name, label, value, type = 'text', autoComplete, half = false, longest }: Field) {
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
        type={type}
        autoComplete={autoComplete}
        maxLength={longest}
        defaultValue={value}
        {...(type === 'date' && { min: '1900-01-01', max: new Date().toISOString().slice(0, 10) })}
      />
    </div>
  );
}
