/** Where the printed paper goes: the card company's address fields (spec section 5: "only when the address element reports complete"). */
import { AddressElement, Elements } from '@stripe/react-stripe-js';
import type { StripeAddressElementOptions } from '@stripe/stripe-js';
import { type SyntheticEvent, useMemo, useRef, useState } from 'react';
import type { Shipping } from '../../lib/billing/wire.ts';
import { Notice } from '../shared/form.tsx';
import { appearance } from './appearance.ts';
import styles from './PaywallModal.module.css';
import { ScriptWait } from './ScriptWait.tsx';
import type { StripeScript } from './use-stripe-script.ts';

interface Props {
  script: StripeScript;
  /** What is known of the address. */
  known: Partial<Shipping> | null;
  busy: boolean;
  error: string | null;
  onTyped(address: Partial<Shipping>): void;
  onSave(address: Shipping): void;
}

/** What the fields hold, in our form; `line2` is left out when it is empty (spec section 5). */
export function shippingOf(value: {
  name: string;
  address: { line1: string; line2?: string | null; city: string; state: string; postal_code: string; country: string };
  phone?: string | undefined;
}): Shipping {
  const { line2, ...address } = value.address;
  return {
    name: value.name,
    address: { ...address, ...(line2 && { line2 }) },
    ...(value.phone && { phone: value.phone }),
  };
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
  if (!script.stripe) return <ScriptWait script={script} />;

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
