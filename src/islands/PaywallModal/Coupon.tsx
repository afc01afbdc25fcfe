/** The coupon: none, then applied (Remove) or an error (Apply to try again) (spec section 4). */
import { type KeyboardEvent, useId, useState } from 'react';
import { Notice } from '../shared/form.tsx';
import parts from '../shared/shared.module.css';
import { sum } from './money.ts';
import type { CouponState } from './order.ts';
import styles from './PaywallModal.module.css';

interface Props {
  state: CouponState;
  currency: string;
  /** Nothing may change while it is paid. */
  locked: boolean;
  onApply(code: string): void;
  onRemove(): void;
}

export function Coupon({ state, currency, locked, onApply, onRemove }: Props) {
  const id = useId();
  const [code, setCode] = useState(state.code);
  const applying = state.kind === 'applying';
  // What was wrong with a code says nothing about the one that is typed next.
  const wrong = state.kind === 'error' && state.code.trim() === code.trim();
  const disabled = code.trim() === '' || applying || locked;

  if (state.kind === 'applied') {
    const { amountOff, percentOff } = state;
    const off = percentOff !== null ? `${percentOff}%` : amountOff !== null ? sum(amountOff, currency) : '';
    return (
      <div className={styles.applied}>
        <p role="status">
          <b>{state.code}</b> {off && <span>takes {off} off</span>}
        </p>
        <button
          type="button"
          className={parts.textButton}
          aria-disabled={locked}
          onClick={() => {
            if (locked) return;
            setCode('');
            onRemove();
          }}
        >
          Remove<span className="visually-hidden"> the coupon</span>
        </button>
      </div>
    );
  }

  const apply = () => {
    if (!disabled) onApply(code);
  };
  return (
    <div className={styles.fieldset}>
      <label className={styles.label} htmlFor={`${id}-code`}>
        Coupon <span className={styles.optional}>if you have one</span>
      </label>
      <div className={styles.couponRow}>
        <input
          className="field"
          id={`${id}-code`}
          name="coupon"
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
          maxLength={100}
          value={code}
          readOnly={applying || locked}
          aria-describedby={`${id}-error`}
          aria-invalid={wrong || undefined}
          onChange={(event) => setCode(event.target.value)}
          onKeyDown={(event: KeyboardEvent) => {
            if (event.key !== 'Enter') return;
            // Else the form would be paid.
            event.preventDefault();
            apply();
          }}
        />
        <button type="button" className="button button-plain" disabled={disabled} onClick={apply}>
          {applying ? 'Applying…' : 'Apply'}
        </button>
      </div>
      <Notice id={`${id}-error`} text={wrong ? state.text : null} />
    </div>
  );
}
