/**
 * When a card form is shown. Stripe.js says late whether there are wallets' buttons above the card: form and buttons appear at once,
 * so that nothing moves under the reader's finger. A frame that is scrolled out of sight may never say that it is ready, and keeps
 * nobody waiting.
 */
import { useEffect, useState } from 'react';

/** Milliseconds that the buttons are waited for: from the beginning, and once the fields are there. Later ones are left out. */
const buttonsMs = { atMost: 8000, afterFields: 2000 };
/** Milliseconds that fields are waited for once it is known whether there are buttons; then their outline shows in their place. */
const fieldsMs = 400;

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
  const isKnown = buttons !== 'unknown';
  useEffect(() => {
    if (isKnown && fields) return;
    const giveUp = isKnown ? () => setFields(true) : () => setButtons('none');
    const timer = setTimeout(giveUp, isKnown ? fieldsMs : fields ? buttonsMs.afterFields : buttonsMs.atMost);
    return () => clearTimeout(timer);
  }, [isKnown, fields]);
  return {
    isSettled: fields && isKnown,
    hasButtons: buttons !== 'none',
    onButtons: (hasAny) => setButtons((before) => (before === 'unknown' ? (hasAny ? 'some' : 'none') : before)),
    onFields: () => setFields(true),
  };
}
