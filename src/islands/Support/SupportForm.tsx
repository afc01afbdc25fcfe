/**
 * The support form (spec sections 2, 4, 5 and 8): submitting, then a message in its place; a failure says so and keeps every word. Sent
 * by the browser it comes back on a page of its own.
 */
import { type FormEvent, type SyntheticEvent, useEffect, useId, useRef, useState } from 'react';
import { ask } from '../../lib/http/ask.ts';
import {
  checkSupport,
  contactPage,
  hiddenFields,
  longest,
  type SupportErrors,
  type SupportField,
  type SupportFields,
  supportFields,
  supportFrom,
  supportPath,
} from '../../lib/support/form.ts';
import { supportMessages } from '../../lib/support/messages.ts';
import type { SupportAnswer } from '../../lib/support/wire.ts';
import { Notice, useScripted } from '../shared/form.tsx';
import styles from './Support.module.css';

export interface SupportFormProps {
  /** The time at which the form was drawn, sealed by the server. */
  stamp: string;
  /** What stands in the fields: what is known of the reader, or what was typed. */
  fields: Partial<SupportFields>;
  errors?: SupportErrors | undefined;
  /** What was wrong, as a sentence. */
  problem?: string | undefined;
  sent?: boolean;
}

interface Props extends SupportFormProps {
  /** Told what stands in the fields, as it is typed; nothing, when it was sent. */
  onTyped?: (fields: Partial<SupportFields>) => void;
}

export function SupportForm(props: Props) {
  const { stamp, fields, errors: first = {}, problem: wrong, sent = false, onTyped } = props;
  const id = useId();
  const form = useRef<HTMLFormElement>(null);
  const thanks = useRef<HTMLDivElement>(null);
  const [state, setState] = useState<'idle' | 'submitting' | 'sent'>(sent ? 'sent' : 'idle');
  const [errors, setErrors] = useState<SupportErrors>(first);
  const [problem, setProblem] = useState<string | null>(wrong ?? null);
  const scripted = useScripted();
  useEffect(() => {
    // What had the focus is gone with the form.
    if (state === 'sent' && !sent) thanks.current?.focus();
  }, [state, sent]);

  async function submit(event: SyntheticEvent<HTMLFormElement>) {
    event.preventDefault();
    if (state === 'submitting') return;
    const data = new FormData(event.currentTarget);
    const typed = supportFrom((name) => data.get(name));
    const found = checkSupport(typed);
    setProblem(null);
    setErrors(found);
    const missing = supportFields.find((name) => found[name]);
    if (missing) return (form.current?.elements.namedItem(missing) as HTMLElement | null)?.focus();
    setState('submitting');
    const hidden = Object.values(hiddenFields).map((name) => [name, String(data.get(name) ?? '')]);
    const answer = await ask<SupportAnswer>(supportPath, { body: { ...typed, ...Object.fromEntries(hidden) } });
    setState(answer.ok ? 'sent' : 'idle');
    if (answer.ok) return onTyped?.({});
    setProblem(
      answer.status === 400 || answer.status === 429
        ? (answer.message ?? supportMessages.failed)
        : supportMessages.failed,
    );
  }

  /** What is being mended is not called wrong any more. */
  function mend({ target, currentTarget }: FormEvent<HTMLFormElement>) {
    const data = new FormData(currentTarget);
    onTyped?.(Object.fromEntries(supportFields.map((each) => [each, String(data.get(each) ?? '')])));
    const { name } = target as HTMLInputElement;
    if (!(name in errors)) return;
    const { [name as SupportField]: _mended, ...others } = errors;
    setErrors(others);
  }

  if (state === 'sent') {
    return (
      <div ref={thanks} className={styles.sent} role="status" tabIndex={-1}>
        <p>{supportMessages.sent}</p>
      </div>
    );
  }
  const busy = state === 'submitting';
  const of = (name: SupportField, label: string) => ({
    id: `${id}-${name}`,
    name,
    label,
    value: fields[name] ?? '',
    error: errors[name] ?? null,
    readOnly: busy,
  });
  return (
    <form
      ref={form}
      className={styles.form}
      method="post"
      action={contactPage}
      aria-label="Premium Support"
      aria-busy={busy}
      noValidate={scripted}
      onSubmit={submit}
      onInput={mend}
    >
      <div className={styles.wide}>
        <Notice id={`${id}-problem`} text={problem} />
      </div>
      <Labelled {...of('name', 'Name')} autoComplete="name" />
      <Labelled {...of('email', 'Email')} type="email" autoComplete="email" half />
      <Labelled {...of('phone', 'Phone')} type="tel" autoComplete="tel" half />
      <Labelled {...of('message', 'Message')} long />
      <div className={styles.trap} aria-hidden="true">
        <label>
          Leave this empty
          <input type="text" name={hiddenFields.trap} tabIndex={-1} autoComplete="off" />
        </label>
      </div>
      <input type="hidden" name={hiddenFields.stamp} value={stamp} />
      <button className="button" type="submit" aria-disabled={busy || undefined}>
        {busy ? 'Sending…' : 'Send'}
      </button>
    </form>
  );
}

interface LabelledProps {
  id: string;
  name: SupportField;
  label: string;
  value: string;
  error: string | null;
  readOnly: boolean;
  type?: 'text' | 'email' | 'tel';
  autoComplete?: string;
  half?: boolean;
  /** Several lines. */
  long?: boolean;
}

function Labelled(props: LabelledProps) {
  const { id, name, label, value, error, readOnly, type = 'text', half = false, long = false } = props;
  const shared = {
    className: 'field',
    id,
    name,
    readOnly,
    required: true,
    maxLength: longest[name],
    defaultValue: value,
    'aria-describedby': `${id}-error`,
    'aria-invalid': error !== null || undefined,
  };
  return (
    <div className={half ? styles.half : styles.wide}>
      <label className={styles.label} htmlFor={id}>
        {label}
      </label>
      {long ? <textarea {...shared} rows={6} /> : <input {...shared} type={type} autoComplete={props.autoComplete} />}
      <Notice id={`${id}-error`} text={error} />
    </div>
  );
}
