/** The shipping step: Stripe's address fields (spec section 5: "only when the address element reports complete"). */
import { AddressElement, Elements } from '@stripe/react-stripe-js';
import type { StripeAddressElementOptions } from '@stripe/stripe-js';
import { type SyntheticEvent, useMemo, useRef, useState } from 'react';
import type { Shipping } from '../../lib/billing/wire.ts';
import { shippingOf } from '../../lib/plans/shipping.ts';
import { Notice } from '../shared/notice.tsx';
import styles from './PaywallModal.module.css';
import { ScriptPlaceholder, type StripeScript } from './StripeForm.tsx';
import { appearance } from './stripe.ts';

interface Props {
  script: StripeScript;
  /** What is known of the address. */
  known: Partial<Shipping> | null;
  busy: boolean;
  error: string | null;
  onTyped(address: Partial<Shipping>): void;
  onSave(address: Shipping): void;
}

export function ShippingBody({ script, known, busy, error, onTyped, onSave }: Props) {
  const [address, setAddress] = useState<Shipping | null>(null);
  const first = useRef(known);
  const options = useMemo<StripeAddressElementOptions>(() => {
    const { name, address, phone } = first.current ?? {};
    return {
      mode: 'shipping',
      allowedCountries: ['US'],
      fields: { phone: 'always' },
      validation: { phone: { required: 'always' } },
      defaultValues: {
        ...(name && { name }),
        ...(phone && { phone }),
        address: { ...address, country: 'US' } as { country: string },
      },
    };
  }, []);
  const look = useMemo(() => ({ appearance: appearance() }), []);
  if (!script.stripe) return <ScriptPlaceholder script={script} />;

  function submit(event: SyntheticEvent) {
    event.preventDefault();
    if (address && !busy) onSave(address);
  }
  return (
    <form className={styles.stack} noValidate aria-busy={busy} onSubmit={submit}>
      <Elements stripe={script.stripe} options={look}>
        <AddressElement
          options={options}
          onChange={({ complete, value }) => {
            const typed = shippingOf(value);
            setAddress(complete ? typed : null);
            onTyped(typed);
          }}
        />
      </Elements>
      <Notice id="paywall-shipping-error" text={error} />
      <button type="submit" className={`button ${styles.wide}`} disabled={address === null} aria-disabled={busy}>
        {busy ? 'Saving…' : 'Continue'}
      </button>
    </form>
  );
}
