/**
 * The shipping address (spec section 2, "Account dashboard", and section 4): the saved address with a button that shows the form, and
 * back after saving. The server renders either; without JavaScript the form is posted to its page.
 */
import { type SyntheticEvent, useEffect, useId, useRef, useState } from 'react';
import { unconfirmed } from '../../lib/accounts/model.ts';
import { saveShipping } from '../../lib/billing/client.ts';
import type { Shipping as Address } from '../../lib/billing/schema.ts';
import { hasCode } from '../../lib/http/ask.ts';
import { fieldNames, readFields } from '../../lib/http/form-fields.ts';
import { shipping as texts } from '../../lib/plans/messages.ts';
import {
  checkShipping,
  envelope,
  type ShippingErrors,
  type ShippingField,
  type ShippingPage,
  type ShippingValues,
  shippingFields,
  shippingPages,
  states,
  valuesOf,
} from '../../lib/plans/schema.ts';
import { messages, refusalMessage } from '../shared/messages.ts';
import { ConfirmLink, Notice, useScripted } from '../shared/notice.tsx';
import { useRequest } from '../shared/request.ts';
import styles from './forms.module.css';

interface Props {
  saved: Address | null;
  /** Shows the form even if there is an address. */
  editing: boolean;
  /** What was posted, if the form was refused. */
  typed?: ShippingValues | undefined;
  errors?: ShippingErrors | undefined;
  /** A sentence about the whole form. */
  problem?: string | undefined;
  justSaved?: boolean;
  /** Path of the page. */
  at?: ShippingPage;
}

export default function Shipping(props: Props) {
  const { saved, editing, typed, errors, problem, justSaved = false, at = '/shipping' } = props;
  const [address, setAddress] = useState(saved);
  const [open, setOpen] = useState(editing || saved === null);
  const [isSaved, setSaved] = useState(justSaved);
  /** Whether the reader has opened or closed the form here: then the focus follows. */
  const [moved, setMoved] = useState(false);
  const show = (form: boolean, done: boolean) => {
    setMoved(true);
    setSaved(done);
    setOpen(form);
  };

  return (
    <div className={styles.shipping}>
      <p role="status" className={isSaved ? styles.done : undefined}>
        {isSaved && texts.saved}
      </p>
      {open || address === null ? (
        <ShippingForm
          // A form that is opened here begins with the saved address, not with what the server has refused.
          values={(moved ? undefined : typed) ?? valuesOf(address)}
          errors={moved ? undefined : errors}
          problem={moved ? undefined : problem}
          focused={moved}
          at={at}
          onSaved={(next) => {
            setAddress(next);
            show(false, true);
          }}
          onCancel={address === null ? null : () => show(false, isSaved)}
        />
      ) : (
        <Saved address={address} focused={moved} at={at} onEdit={() => show(true, false)} />
      )}
    </div>
  );
}

interface SavedProps {
  address: Address;
  focused: boolean;
  at: ShippingPage;
  onEdit(): void;
}

function Saved({ address, focused, at, onEdit }: SavedProps) {
  return (
    <div className={styles.saved}>
      <address
        className={styles.envelope}
        tabIndex={-1}
        ref={(element) => {
          if (focused) element?.focus();
        }}
      >
        {envelope(address).map((line) => (
          <span key={line}>{line}</span>
        ))}
        {address.phone && <span className={styles.savedPhone}>{address.phone}</span>}
      </address>
      <form
        method="get"
        action={at}
        onSubmit={(event) => {
          event.preventDefault();
          onEdit();
        }}
      >
        <input type="hidden" name="edit" value="yes" />
        <button className="button button-plain" type="submit">
          {texts.update}
        </button>
      </form>
    </div>
  );
}

interface FormProps {
  values: ShippingValues;
  errors: ShippingErrors | undefined;
  problem: string | undefined;
  /** Takes the focus when it appears. */
  focused: boolean;
  at: ShippingPage;
  onSaved(shipping: Address): void;
  /** `null` if there is no saved address to go back to. */
  onCancel: (() => void) | null;
}

/** The state of the form, and what its events do. */
function useShippingForm({ focused, onSaved, ...first }: Omit<FormProps, 'values' | 'at' | 'onCancel'>) {
  const form = useRef<HTMLFormElement>(null);
  const [errors, setErrors] = useState<ShippingErrors>(first.errors ?? {});
  const { busy, problem, setProblem, start, end } = useRequest(first.problem);
  const [needsConfirmation, setNeedsConfirmation] = useState(false);
  useEffect(() => {
    if (focused) form.current?.querySelector('input')?.focus();
  }, [focused]);

  async function submit(event: SyntheticEvent<HTMLFormElement>) {
    event.preventDefault();
    if (busy) return;
    const data = new FormData(event.currentTarget);
    const checked = checkShipping(readFields(shippingFields, (name) => data.get(name)));
    setProblem(null);
    setErrors(checked.ok ? {} : checked.errors);
    if (!checked.ok) {
      const wrong = fieldNames(shippingFields).find((name) => checked.errors[name]);
      if (wrong) (form.current?.elements.namedItem(wrong) as HTMLElement | null)?.focus();
      return;
    }
    setNeedsConfirmation(false);
    const answer = await start(() => saveShipping(checked.shipping));
    if (!answer) return;
    setNeedsConfirmation(!answer.ok && hasCode(answer, unconfirmed));
    if (answer.ok) {
      end();
      return onSaved(answer.value?.shipping ?? checked.shipping);
    }
    if (answer.status === 401) return end(texts.signedOut);
    end(refusalMessage(answer, answer.status < 500 ? (answer.message ?? messages.wrong) : messages.wrong));
  }

  /** Removes the error of a field that is being corrected. */
  function clearError({ target }: SyntheticEvent<HTMLFormElement>) {
    const { name } = target as HTMLInputElement;
    if (name in errors) setErrors({ ...errors, [name]: undefined });
  }

  return { form, errors, problem, needsConfirmation, busy, submit, clearError };
}

function ShippingForm({ values, at, onCancel, ...rest }: FormProps) {
  const id = useId();
  const { form, errors, problem, needsConfirmation, busy, submit, clearError } = useShippingForm(rest);
  const scripted = useScripted();
  return (
    <form
      ref={form}
      className={styles.fields}
      method="post"
      action={shippingPages[0]}
      aria-label="Shipping Information"
      aria-busy={busy}
      noValidate={scripted}
      onSubmit={submit}
      onInput={clearError}
    >
      <div className={styles.wide}>
        <Notice id={`${id}-problem`} text={problem} />
        {needsConfirmation && <ConfirmLink />}
      </div>
      {fieldNames(shippingFields).map((name) => (
        <Field
          key={name}
          id={`${id}-${name}`}
          name={name}
          value={values[name]}
          error={errors[name] ?? null}
          busy={busy}
        />
      ))}
      <div className={styles.actions}>
        {at !== shippingPages[0] && <input type="hidden" name="return" value={at} />}
        <button className="button" type="submit" aria-disabled={busy}>
          {busy ? texts.saving : texts.save}
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
            {texts.cancel}
          </a>
        )}
      </div>
    </form>
  );
}

interface FieldProps {
  id: string;
  name: ShippingField;
  /** The value at first; the browser keeps what is typed before hydration. */
  value: string;
  error: string | null;
  busy: boolean;
}

function Field({ id, name, value, error, busy }: FieldProps) {
  const { label, kind, autoComplete, half, longest, missing } = shippingFields[name];
  const hint = name === 'phone' ? texts.carrier : null;
  const common = {
    className: 'field',
    id,
    name,
    autoComplete: `shipping ${autoComplete}`,
    required: missing !== undefined,
    defaultValue: value,
    'aria-describedby': hint ? `${id}-hint ${id}-error` : `${id}-error`,
    'aria-invalid': error !== null || undefined,
  };
  return (
    <>
      {/* The country is fixed, and is between the ZIP code and the phone number. */}
      {name === 'phone' && (
        <p className={styles.fixed}>
          <span className={styles.label}>Country</span> United States
        </p>
      )}
      <div className={half ? styles.half : styles.wide}>
        <label className={styles.label} htmlFor={id}>
          {label}
          {missing === undefined && <span className={styles.optional}> (optional)</span>}
        </label>
        {name === 'state' ? (
          <select {...common} aria-disabled={busy || undefined}>
            <option value="">{texts.choose}</option>
            {states.map((state) => (
              <option key={state.code} value={state.code}>
                {state.name}
              </option>
            ))}
          </select>
        ) : (
          <input
            {...common}
            type={kind === 'tel' ? 'tel' : 'text'}
            inputMode={name === 'postal_code' ? 'numeric' : undefined}
            readOnly={busy}
            maxLength={longest}
          />
        )}
        {hint && (
          <p className={styles.hint} id={`${id}-hint`}>
            {hint}
          </p>
        )}
        <Notice id={`${id}-error`} text={error} />
      </div>
    </>
  );
}
