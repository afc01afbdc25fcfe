/**
 * A form whose fields are declared with lib/http/form-fields.ts. Without JavaScript it posts to its page; hydrated, it submits in place:
 * a message replaces a form that was sent, and after a failure the form keeps its values.
 */
import { type SyntheticEvent, useEffect, useId, useRef, useState } from 'react';
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

const labels = {
  send: 'Send',
  sending: 'Sending…',
  /** Label of the field that people don't see. */
  honeypot: 'Leave this empty',
};

/** What a page passes to a form's island. */
export interface FieldFormState<Name extends string> {
  /** Values of the fields: those of the user's profile, or what was typed. */
  values?: Partial<Values<Name>>;
  errors?: FieldErrors<Name> | undefined;
  /** An error about the whole form, as a sentence. */
  problem?: string | null | undefined;
  sent?: boolean;
  /** The time at which the form was rendered, encrypted by the server. */
  stamp?: string;
}

interface Props<Name extends string> extends FieldFormState<Name> {
  fields: Fields<Name>;
  /** Path of the page. */
  page: string;
  /** Path that takes JSON; the page unless given. */
  route?: string;
  messages: { readonly sent: string; readonly failed: string };
  /** Name of the form for assistive technology. */
  label: string;
  /** Called with the values as the user types, and with none once the form was sent. */
  onTyped?: (values: Partial<Values<Name>>) => void;
}

export function FieldForm<Name extends string>(props: Props<Name>) {
  return <FieldFormView {...props} submission={useSubmission(props)} />;
}

/** The form with its state outside, for a form that may be closed while it is sent. */
export function FieldFormView<Name extends string>(
  props: Omit<Props<Name>, 'onTyped'> & { submission: Submission<Name> },
) {
  const { fields, page, messages, label, sent = false, stamp } = props;
  const id = useId();
  const { state, errors, problem, submit, correct } = props.submission;
  const thanks = useRef<HTMLDivElement>(null);
  const scripted = useScripted();
  useEffect(() => {
    // The focused element disappeared with the form.
    if (state === 'sent' && !sent) thanks.current?.focus();
  }, [state, sent]);

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
        <Labeled
          key={name}
          id={`${id}-${name}`}
          name={name}
          field={fields[name]}
          value={props.values?.[name] ?? ''}
          error={errors[name] ?? null}
          readOnly={busy}
        />
      ))}
      <div className={styles.honeypot} aria-hidden="true">
        <label>
          {labels.honeypot}
          <input type="text" name={hiddenFields.honeypot} tabIndex={-1} autoComplete="off" />
        </label>
      </div>
      {stamp !== undefined && <input type="hidden" name={hiddenFields.stamp} value={stamp} />}
      <button className="button" type="submit" aria-disabled={busy || undefined}>
        {busy ? labels.sending : labels.send}
      </button>
    </form>
  );
}

type Submission<Name extends string> = ReturnType<typeof useSubmission<Name>>;

/** State of a form, and what its events do. */
export function useSubmission<Name extends string>(props: Props<Name>) {
  const { fields, page, route = page, messages, sent = false, onTyped } = props;
  const [state, setState] = useState<'idle' | 'submitting' | 'sent'>(sent ? 'sent' : 'idle');
  const [errors, setErrors] = useState<FieldErrors<Name>>(props.errors ?? ({} as FieldErrors<Name>));
  const [problem, setProblem] = useState<string | null>(props.problem ?? null);

  async function submit(event: SyntheticEvent<HTMLFormElement>) {
    event.preventDefault();
    if (state === 'submitting') return;
    const { elements } = event.currentTarget;
    const data = new FormData(event.currentTarget);
    const typed = readFields(fields, (name) => data.get(name));
    const found = checkFields(fields, typed);
    setProblem(null);
    setErrors(found);
    const wrong = fieldNames(fields).find((name) => found[name]);
    if (wrong) return (elements.namedItem(wrong) as HTMLElement | null)?.focus();
    setState('submitting');
    const hidden = Object.values(hiddenFields).map((name) => [name, String(data.get(name) ?? '')]);
    const answer = await ask(route, { body: { ...typed, ...Object.fromEntries(hidden) } });
    setState(answer.ok ? 'sent' : 'idle');
    if (answer.ok) return onTyped?.({});
    setProblem((answer.status === 400 || answer.status === 429 ? answer.message : null) ?? messages.failed);
  }

  /** A field that is being corrected loses its error. */
  function correct({ target, currentTarget }: SyntheticEvent<HTMLFormElement>) {
    const data = new FormData(currentTarget);
    onTyped?.(
      Object.fromEntries(fieldNames(fields).map((each) => [each, String(data.get(each) ?? '')])) as Values<Name>,
    );
    const name = (target as HTMLInputElement).name as Name;
    if (name in errors) setErrors({ ...errors, [name]: undefined });
  }

  return {
    state,
    errors,
    problem,
    submit,
    correct,
    /** After a form was sent: makes it ready for the next message. */
    restart: () => setState('idle'),
  };
}

interface LabeledProps {
  id: string;
  name: string;
  field: Field;
  value: string;
  error: string | null;
  readOnly: boolean;
}

function Labeled({ id, name, field, value, error, readOnly }: LabeledProps) {
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
