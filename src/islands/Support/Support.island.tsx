/**
 * Premium Support (spec section 2, "Contact tab"): a button that opens the form in a sheet, "How can we help?". Without a script the
 * button is a link to the page of the form, which draws the same form `inline`.
 */
import { useEffect, useRef, useState } from 'react';
import { contactPage, type SupportFields } from '../../lib/support/form.ts';
import { supportHours } from '../../lib/support/hours.ts';
import { Dialog } from '../shared/Dialog.tsx';
import styles from './Support.module.css';
import { SupportForm, type SupportFormProps } from './SupportForm.tsx';

interface Props extends SupportFormProps {
  /** In the page instead of behind the button. */
  inline?: boolean;
}

export default function Support({ inline = false, ...form }: Props) {
  const [open, setOpen] = useState(false);
  // A sheet is closed by a slip of the hand; what was written waits for it.
  const typed = useRef<Partial<SupportFields>>({});
  if (inline) return <SupportForm {...form} />;
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
        Premium Support
      </a>
      {open && (
        <Dialog
          heading="How can we help?"
          standfirst="Online weekdays 9 a.m. to 5 p.m. ET"
          onClose={() => setOpen(false)}
        >
          <Presence />
          <SupportForm
            {...form}
            fields={{ ...form.fields, ...typed.current }}
            onTyped={(now) => {
              typed.current = now;
            }}
          />
        </Dialog>
      )}
    </>
  );
}

/** Whether somebody is there, said anew each minute. */
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
