/** The card's fields, which the card company draws in a frame of its own; they can be asked for again where they did not come. */
import { PaymentElement } from '@stripe/react-stripe-js';
import type { StripePaymentElementOptions } from '@stripe/stripe-js';
import { useState } from 'react';
import { messages } from './messages.ts';
import styles from './PaywallModal.module.css';

interface Props {
  options: StripePaymentElementOptions;
  /** The fields, or why there are none, can be seen. */
  onSettled(): void;
  onChange(complete: boolean): void;
}

export function CardFields({ options, onSettled, onChange }: Props) {
  const [broken, setBroken] = useState(false);
  const [isShown, setShown] = useState(false);
  const [turn, setTurn] = useState(0);
  if (broken)
    return (
      <div className={styles.broken} role="alert">
        <p>{messages.scriptFailed}</p>
        <button
          type="button"
          className="button button-plain"
          onClick={() => {
            setBroken(false);
            setShown(false);
            setTurn(turn + 1);
          }}
        >
          Try again
        </button>
      </div>
    );
  return (
    <>
      {!isShown && <div className={`${styles.skeleton} ${styles.cover}`} aria-hidden="true" />}
      <PaymentElement
        key={turn}
        options={options}
        onReady={() => {
          setShown(true);
          onSettled();
        }}
        onLoadError={() => {
          console.error('Paywall: the card fields could not be loaded');
          onChange(false);
          setBroken(true);
          onSettled();
        }}
        onChange={({ complete }) => onChange(complete)}
      />
    </>
  );
}
