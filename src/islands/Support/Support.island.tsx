/**
 * Premium Support (spec section 2, "Contact tab"): a button that opens the form in a sheet, "How can we help?". Without JavaScript the
 * button is a link to the page of the form, which renders the same form `inline`.
 */
import { useEffect, useRef, useState } from 'react';
import { supportHours } from '../../lib/support/hours.ts';
import {
  contactPage,
  type SupportField,
  type SupportFields,
  supportFields,
  supportMessages,
  supportPath,
} from '../../lib/support/schema.ts';
import { Dialog } from '../shared/Dialog.tsx';
import styles from '../shared/FieldForm.module.css';
import { FieldForm, type FieldFormState } from '../shared/FieldForm.tsx';

interface Props extends FieldFormState<SupportField> {
  /** In the page instead of behind the button. */
  inline?: boolean;
}

const form = {
  fields: supportFields,
  page: contactPage,
  route: supportPath,
  messages: supportMessages,
  label: supportMessages.label,
};

export default function Support({ inline = false, ...state }: Props) {
  const [open, setOpen] = useState(false);
  // A sheet is easily closed by accident, so its values are kept.
  const typed = useRef<Partial<SupportFields>>({});
  if (inline) return <FieldForm {...form} {...state} />;
  return (
    <>
      <a
        className={`button ${styles.opener}`}
        href={contactPage}
        onClick={(event) => {
          event.preventDefault();
          setOpen(true);
        }}
      >
        {supportMessages.label}
      </a>
      {open && (
        <Dialog heading={supportMessages.heading} standfirst={supportMessages.hours} onClose={() => setOpen(false)}>
          <Presence />
          <FieldForm
            {...form}
            {...state}
            values={{ ...state.values, ...typed.current }}
            onTyped={(now) => {
              typed.current = now;
            }}
          />
        </Dialog>
      )}
    </>
  );
}

/** Whether support is online; updated each minute. */
function Presence() {
  const [hours, setHours] = useState(() => supportHours(Date.now()));
  useEffect(() => {
    const timer = setInterval(() => setHours(supportHours(Date.now())), 60_000);
    return () => clearInterval(timer);
  }, []);
  return (
    <p className={styles.presence} data-open={hours.open}>
      {hours.words}
    </p>
  );
}
