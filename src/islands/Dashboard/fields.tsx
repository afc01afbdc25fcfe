/** Labelled fields of the address, each with what is wrong beside it. */
import type { ReactNode } from 'react';
import { longest, type ShippingField } from '../../lib/plans/shipping.ts';
import { states } from '../../lib/plans/states.ts';
import { Notice } from '../shared/form.tsx';
import styles from './Shipping.module.css';

export interface FieldProps {
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

export function TextField(props: TextProps) {
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

export function StateField({ id, name, label, value, error, readOnly }: FieldProps) {
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
