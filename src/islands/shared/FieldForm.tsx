/**
 * A form whose fields are declared with lib/http/form-fields.ts. Without JavaScript it posts to its page; hydrated, it submits in place:
 * a message takes the place of a form that was sent, and a failure keeps every word.
 */
import { type FormEvent, type SyntheticEvent, useEffect, useId, useRef, useState } from 'react';
import { ask } from '../../lib/http/ask.ts';
import {
  checkFields,
  type Field,
  type FieldErrors,
  type Fields,
  fieldNames,
  hiddenFields,
  readFields,
  type Values,
} from '../../lib/http/form-fields.ts';
import styles from './FieldForm.module.css';
import { Notice, useScripted } from './notice.tsx';

/** What a page hands to a form's island; `view` is the answer of `fieldFormPage`. */
export interface FieldFormState<Name extends string> {
  /** What the fields hold: what is known of the reader, or what was typed. */
  values?: Partial<Values<Name>>;
  errors?: FieldErrors<Name> | undefined;
  /** What is wrong with the whole, as a sentence. */
  problem?: string | null | undefined;
  sent?: boolean;
  /** The time at which the form was rendered, sealed by the server; left out where the form has none. */
  stamp?: string;
}

interface Props<Name extends string> extends FieldFormState<Name> {
  fields: Fields<Name>;
  /** Path of the page. */
  page: string;
  /** Path that takes JSON; the page unless given. */
  route?: string;
  messages: { readonly sent: string; readonly failed: string };
  /** What the form is, for assistive technology. */
  label: string;
  /** Called with what the fields hold as it is typed, and with nothing once the form was sent. */
  onTyped?: (values: Partial<Values<Name>>) => void;
}

export function FieldForm<Name extends string>(props: Props<Name>) {
  const { fields, page, route = page, messages, label, sent = false, stamp, onTyped } = props;
  const values: Partial<Values<Name>> = props.values ?? {};
  const id = useId();
  const form = useRef<HTMLFormElement>(null);
  const thanks = useRef<HTMLDivElement>(null);
  const [state, setState] = useState<'idle' | 'submitting' | 'sent'>(sent ? 'sent' : 'idle');
  const [errors, setErrors] = useState<FieldErrors<Name>>(props.errors ?? ({} as FieldErrors<Name>));
  const [problem, setProblem] = useState<string | null>(props.problem ?? null);
  const scripted = useScripted();
  useEffect(() => {
    // The element that had the focus went with the form.
    if (state === 'sent' && !sent) thanks.current?.focus();
  }, [state, sent]);

  async function submit(event: SyntheticEvent<HTMLFormElement>) {
    event.preventDefault();
    if (state === 'submitting') return;
    const data = new FormData(event.currentTarget);
    const typed = readFields(fields, (name) => data.get(name));
    const found = checkFields(fields, typed);
    setProblem(null);
    setErrors(found);
    const wrong = fieldNames(fields).find((name) => found[name]);
    if (wrong) return (form.current?.elements.namedItem(wrong) as HTMLElement | null)?.focus();
    setState('submitting');
    const hidden = Object.values(hiddenFields).map((name) => [name, String(data.get(name) ?? '')]);
    const answer = await ask(route, { body: { ...typed, ...Object.fromEntries(hidden) } });
    setState(answer.ok ? 'sent' : 'idle');
    if (answer.ok) return onTyped?.({});
    setProblem((answer.status === 400 || answer.status === 429 ? answer.message : null) ?? messages.failed);
  }

  /** A field that is being corrected is no longer marked. */
  function correct({ target, currentTarget }: FormEvent<HTMLFormElement>) {
    const data = new FormData(currentTarget);
    onTyped?.(
      Object.fromEntries(fieldNames(fields).map((each) => [each, String(data.get(each) ?? '')])) as Values<Name>,
    );
    const name = (target as HTMLInputElement).name as Name;
    if (name in errors) setErrors({ ...errors, [name]: undefined });
  }

  if (state === 'sent') {
    return (
      <div ref={thanks} className={styles.sent} role="status" tabIndex={-1}>
        <p>{messages.sent}</p>
      </div>
    );
  }
  const busy = state === 'submitting';
  return (
    <form
      ref={form}
      className={styles.form}
      method="post"
      action={page}
      aria-label={label}
      aria-busy={busy}
      noValidate={scripted}
      onSubmit={submit}
      onInput={correct}
    >
      <div className={styles.wide}>
        <Notice id={`${id}-problem`} text={problem} />
      </div>
      {fieldNames(fields).map((name) => (
        <Labelled
          key={name}
          id={`${id}-${name}`}
          name={name}
          field={fields[name]}
          value={values[name] ?? ''}
          error={errors[name] ?? null}
          readOnly={busy}
        />
      ))}
      <div className={styles.trap} aria-hidden="true">
        <label>
          Leave this empty
          <input type="text" name={hiddenFields.trap} tabIndex={-1} autoComplete="off" />
        </label>
      </div>
      {stamp !== undefined && <input type="hidden" name={hiddenFields.stamp} value={stamp} />}
      <button className="button" type="submit" aria-disabled={busy || undefined}>
        {busy ? 'Sending…' : 'Send'}
      </button>
    </form>
  );
}

interface LabelledProps {
  id: string;
  name: string;
  field: Field;
  value: string;
  error: string | null;
  readOnly: boolean;
}

function Labelled({ id, name, field, value, error, readOnly }: LabelledProps) {
  const { label, kind = 'text', half = false, longest, missing, autoComplete } = field;
  const shared = {
    className: 'field',
    id,
    name,
    readOnly,
    required: missing !== undefined,
    maxLength: longest,
    defaultValue: value,
    autoComplete,
    'aria-describedby': `${id}-error`,
    'aria-invalid': error !== null || undefined,
  };
  return (
    <div className={half ? styles.half : styles.wide}>
      <label className={styles.label} htmlFor={id}>
        {label}
      </label>
      {kind === 'lines' ? <textarea {...shared} rows={6} /> : <input {...shared} type={kind} />}
      <Notice id={`${id}-error`} text={error} />
    </div>
  );
}
