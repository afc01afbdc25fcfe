/**
 * When a card form is shown. Stripe.js says late whether there are wallets' buttons above the card: form and buttons appear at once,
 * so that nothing moves under the reader's finger.
 */
import { useEffect, useState } from 'react';

/** Milliseconds that a form which is ready waits for the buttons; later ones are left out. */
const patienceMs = 2000;

export interface FormSettled {
  readonly isSettled: boolean;
  /** Whether the buttons stay in the page: they are there, or may still come. */
  readonly hasButtons: boolean;
  onButtons(hasAny: boolean): void;
  onFields(): void;
}

export function useFormSettled(): FormSettled {
  const [fields, setFields] = useState(false);
  const [buttons, setButtons] = useState<'unknown' | 'some' | 'none'>('unknown');
  const isWaiting = fields && buttons === 'unknown';
  useEffect(() => {
    if (!isWaiting) return;
    const timer = setTimeout(() => setButtons('none'), patienceMs);
    return () => clearTimeout(timer);
  }, [isWaiting]);
  return {
    isSettled: fields && buttons !== 'unknown',
    hasButtons: buttons !== 'none',
    onButtons: (hasAny) => setButtons((before) => (before === 'unknown' ? (hasAny ? 'some' : 'none') : before)),
    onFields: () => setFields(true),
  };
}
