/**
 * Apple Pay, Google Pay and Link above a card form. Stripe.js draws those that the reader's browser has, on a registered domain
 * (docs/operations.md, "Wallets"); without any there is nothing here at all.
 */
import { ExpressCheckoutElement } from '@stripe/react-stripe-js';
import type {
  AvailablePaymentMethods,
  ClickResolveDetails,
  StripeExpressCheckoutElementConfirmEvent,
} from '@stripe/stripe-js';
import { useId } from 'react';
import parts from '../shared/shared.module.css';
import styles from './Express.module.css';
import { expressOptions } from './elements-options.ts';

interface Props {
  /** What a wallet's sheet shows; `null`: nothing can be paid at the moment. */
  details: ClickResolveDetails | null;
  /** A line below the buttons. */
  hint?: string | undefined;
  /** What the form below asks for. */
  or: string;
  /** Said once: whether there are buttons. */
  onSettled(hasButtons: boolean): void;
  onOpen(): void;
  onCancel(): void;
  onConfirm(event: StripeExpressCheckoutElementConfirmEvent): void;
}

const hasAny = (methods: AvailablePaymentMethods | undefined): boolean =>
  methods !== undefined && Object.values(methods).includes(true);

export function Express({ details, hint, or, onSettled, onOpen, onCancel, onConfirm }: Props) {
  const id = useId();
  return (
    <section className={styles.express} aria-labelledby={id} inert={details === null} data-express="">
      <h4 className={styles.heading} id={id}>
        Express checkout
      </h4>
      <ExpressCheckoutElement
        options={expressOptions}
        onReady={({ availablePaymentMethods }) => onSettled(hasAny(availablePaymentMethods))}
        onLoadError={() => onSettled(false)}
        onClick={({ resolve, reject }) => {
          if (details === null) return reject();
          resolve(details);
          onOpen();
        }}
        onCancel={onCancel}
        onConfirm={onConfirm}
      />
      {hint && <p className={styles.hint}>{hint}</p>}
      <p className={parts.or}>{or}</p>
    </section>
  );
}
