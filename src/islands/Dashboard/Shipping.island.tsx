/**
 * Where the printed paper goes (spec section 2, "Account dashboard", and section 4): the saved address with a button that switches
 * to the form, and back after it has been saved. The server draws either, and both work without a script.
 */
import { useState } from 'react';
import type { Shipping as Address } from '../../lib/billing/wire.ts';
import { shipping as texts } from '../../lib/plans/messages.ts';
import {
  envelope,
  fieldsOf,
  type ShippingErrors,
  type ShippingFields,
  type ShippingPage,
} from '../../lib/plans/shipping.ts';
import styles from './Shipping.module.css';
import { ShippingForm } from './ShippingForm.tsx';

interface Props {
  saved: Address | null;
  /** Shows the form though there is an address. */
  editing: boolean;
  /** What was typed, where the form was sent and something was wrong. */
  typed?: ShippingFields | undefined;
  errors?: ShippingErrors | undefined;
  /** What else was wrong, as a sentence. */
  problem?: string | undefined;
  justSaved?: boolean;
  /** Path of the page that it stands on. */
  at?: ShippingPage;
}

export default function Shipping(props: Props) {
  const { saved, editing, typed, errors, problem, justSaved = false, at = '/shipping' } = props;
  const [address, setAddress] = useState(saved);
  const [open, setOpen] = useState(editing || saved === null);
  const [told, setTold] = useState(justSaved);
  /** Whether the form was opened here: then the focus goes with it. */
  const [moved, setMoved] = useState(false);

  const edit = () => {
    setMoved(true);
    setTold(false);
    setOpen(true);
  };

  return (
    <div className={styles.shipping}>
      <p role="status" className={told ? styles.told : undefined}>
        {told && texts.saved}
      </p>
      {open || address === null ? (
        <ShippingForm
          fields={typed ?? fieldsOf(address)}
          errors={errors}
          problem={problem}
          focused={moved}
          at={at}
          onSaved={(next) => {
            setAddress(next);
            setMoved(true);
            setTold(true);
            setOpen(false);
          }}
          onCancel={
            address === null
              ? null
              : () => {
                  setMoved(true);
                  setOpen(false);
                }
          }
        />
      ) : (
        <Saved address={address} focused={moved} at={at} onEdit={edit} />
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
        {address.phone && <span className={styles.phone}>{address.phone}</span>}
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
          Update Shipping Address
        </button>
      </form>
    </div>
  );
}
