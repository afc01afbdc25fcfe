/** The address form. The page posts it without JavaScript; the island checks and saves it in place. */
import { type FormEvent, type ReactNode, type SyntheticEvent, useEffect, useId, useRef, useState } from 'react';
import { unconfirmed } from '../../lib/accounts/forms.ts';
import { saveShipping } from '../../lib/billing/client.ts';
import type { Shipping } from '../../lib/billing/wire.ts';
import { hasCode } from '../../lib/http/ask.ts';
import { shipping as texts } from '../../lib/plans/messages.ts';
import {
  checkShipping,
  fieldsFrom,
  longest,
  type ShippingErrors,
  type ShippingField,
  type ShippingFields,
  type ShippingPage,
  shippingFields,
  shippingPages,
  states,
} from '../../lib/plans/shipping.ts';
import { messages, wordsFor } from '../shared/messages.ts';
import { ConfirmLink, Notice, useScripted } from '../shared/notice.tsx';
import styles from './Shipping.module.css';

interface Props {
  fields: ShippingFields;
  errors?: ShippingErrors | undefined;
  problem?: string | undefined;
  /** Takes the focus when it appears. */
  focused: boolean;
  /** Path of the page that it stands on. */
  at: ShippingPage;
  onSaved(shipping: Shipping): void;
  /** `null` where there is nothing to go back to. */
  onCancel: (() => void) | null;
}

export function ShippingForm({ fields, errors: given = {}, problem: first, focused, at, onSaved, onCancel }: Props) {
  const id = useId();
  const form = useRef<HTMLFormElement>(null);
  const [errors, setErrors] = useState<ShippingErrors>(given);
  const [problem, setProblem] = useState<string | null>(first ?? null);
  const [confirms, setConfirms] = useState(false);
  const [busy, setBusy] = useState(false);
  const scripted = useScripted();

  const control = (name: ShippingField) => form.current?.elements.namedItem(name) as HTMLElement | null;
  useEffect(() => {
    if (focused) form.current?.querySelector('input')?.focus();
  }, [focused]);

  async function submit(event: SyntheticEvent<HTMLFormElement>) {
    event.preventDefault();
    if (busy) return;
    const data = new FormData(event.currentTarget);
    const checked = checkShipping(fieldsFrom((name) => data.get(name)));
    setProblem(null);
    setErrors(checked.ok ? {} : checked.errors);
    if (!checked.ok) {
      const wrong = shippingFields.find((name) => checked.errors[name]);
      if (wrong) control(wrong)?.focus();
      return;
    }
    setConfirms(false);
    setBusy(true);
    const answer = await saveShipping(checked.shipping);
    setBusy(false);
    if (answer.ok) return onSaved(answer.value?.shipping ?? checked.shipping);
    // Everything that was typed stays where it is.
    setConfirms(hasCode(answer, unconfirmed));
    if (answer.status === 401) setProblem(texts.signedOut);
    else setProblem(wordsFor(answer, answer.status < 500 ? (answer.message ?? messages.wrong) : messages.wrong));
  }

  /** What is being mended is not called wrong any more. */
  function mend({ target }: FormEvent<HTMLFormElement>) {
    const { name } = target as HTMLInputElement;
    if (!(name in errors)) return;
    const { [name as ShippingField]: _mended, ...others } = errors;
    setErrors(others);
  }

  const of = (name: ShippingField): Omit<FieldProps, 'label'> => ({
    id: `${id}-${name}`,
    name,
    value: fields[name],
    error: errors[name] ?? null,
    readOnly: busy,
  });
  return (
    <form
      ref={form}
      className={styles.form}
      method="post"
      action="/shipping"
      aria-label="Shipping Information"
      aria-busy={busy}
      noValidate={scripted}
      onSubmit={submit}
      onInput={mend}
    >
      <div className={styles.wide}>
        <Notice id={`${id}-problem`} text={problem} />
        {confirms && <ConfirmLink />}
      </div>
      <TextField {...of('name')} label="Name" autoComplete="name" required />
      <TextField {...of('line1')} label="Address" autoComplete="address-line1" required />
      <TextField {...of('line2')} label="Apartment, floor" autoComplete="address-line2" />
      <TextField {...of('city')} label="City" autoComplete="address-level2" required />
      <StateField {...of('state')} label="State" />
      <TextField {...of('postal_code')} label="ZIP code" autoComplete="postal-code" inputMode="numeric" required half />
      <p className={styles.country}>
        <span className={styles.label}>Country</span> United States
      </p>
      <TextField {...of('phone')} label="Phone" type="tel" autoComplete="tel" hint="For the carrier only." />
      <div className={styles.ways}>
        {at !== shippingPages[0] && <input type="hidden" name="return" value={at} />}
        <button className="button" type="submit" aria-disabled={busy}>
          {busy ? 'Saving…' : 'Save address'}
        </button>
        {onCancel && (
          <a
            className="button button-plain"
            href={at}
            onClick={(event) => {
              event.preventDefault();
              onCancel();
            }}
          >
            Cancel
          </a>
        )}
      </div>
    </form>
  );
}

interface FieldProps {
  id: string;
  name: ShippingField;
  label: string;
  /** What stands in it at first; typing is left to the browser, so that nothing typed before the script came is lost. */
  value: string;
  error: string | null;
  readOnly: boolean;
}

interface TextProps extends FieldProps {
  autoComplete: string;
  required?: boolean;
  half?: boolean;
  type?: 'text' | 'tel';
  inputMode?: 'numeric';
  hint?: string;
}

function TextField(props: TextProps) {
  const { id, name, label, value, error, readOnly, required = false, half = false, hint, type = 'text' } = props;
  return (
    <Labelled id={id} label={label} required={required} half={half} error={error}>
      <input
        className="field"
        id={id}
        name={name}
        type={type}
        inputMode={props.inputMode}
        autoComplete={`shipping ${props.autoComplete}`}
        required={required}
        readOnly={readOnly}
        maxLength={longest[name]}
        defaultValue={value}
        aria-describedby={hint ? `${id}-hint ${id}-error` : `${id}-error`}
        aria-invalid={error !== null || undefined}
      />
      {hint && (
        <p className={styles.hint} id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </Labelled>
  );
}

function StateField({ id, name, label, value, error, readOnly }: FieldProps) {
  return (
    <Labelled id={id} label={label} required half error={error}>
      <select
        className="field"
        id={id}
        name={name}
        autoComplete="shipping address-level1"
        required
        aria-disabled={readOnly || undefined}
        defaultValue={value}
        aria-describedby={`${id}-error`}
        aria-invalid={error !== null || undefined}
      >
        <option value="">Choose…</option>
        {states.map((state) => (
          <option key={state.code} value={state.code}>
            {state.name}
          </option>
        ))}
      </select>
    </Labelled>
  );
}

interface LabelledProps {
  id: string;
  label: string;
  required: boolean;
  half: boolean;
  error: string | null;
  children: ReactNode;
}

function Labelled({ id, label, required, half, error, children }: LabelledProps) {
  return (
    <div className={half ? styles.half : styles.wide}>
      <label className={styles.label} htmlFor={id}>
        {label}
        {!required && <span className={styles.optional}> (optional)</span>}
      </label>
      {children}
      <Notice id={`${id}-error`} text={error} />
    </div>
  );
}
