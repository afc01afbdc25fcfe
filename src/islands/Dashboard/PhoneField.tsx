/** A phone number of the United States (spec section 5): the country is fixed, and the number takes its form while it is typed. */
import { type SyntheticEvent, useLayoutEffect, useRef, useState } from 'react';
import type { ProfileField } from '../../lib/accounts/profile-fields.ts';
import { formatUsPhone } from '../../lib/us-phone.ts';
import { Notice } from '../shared/notice.tsx';
import styles from './Profile.module.css';

export interface ProfileFieldProps {
  id: string;
  field: ProfileField;
  /** As the form shows it; empty when there is none. */
  value: string;
  error: string | null;
}

/** Where the caret stands after so many digits. */
function placeAfter(text: string, digits: number): number {
  let at = 0;
  for (let seen = 0; at < text.length && seen < digits; at++) if (/\d/.test(text[at] ?? '')) seen++;
  return at;
}

export function PhoneField({ id, field, value, error }: ProfileFieldProps) {
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(value);
  const caret = useRef<number | null>(null);

  // What was typed while the script was on its way counts.
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
    // A sign of the form that was deleted comes back: the digit before it was meant.
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
