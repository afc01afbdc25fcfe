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
import { FieldForm, type FieldFormState, FieldFormView, useSubmission } from '../shared/FieldForm.tsx';

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
  return inline ? <FieldForm {...form} {...state} /> : <SupportSheet {...state} />;
}

/** The button, and the sheet it opens. A message that is closed while it is sent reports its result beneath the button. */
function SupportSheet(state: FieldFormState<SupportField>) {
  const [open, setOpen] = useState(false);
  // A sheet is easily closed by accident, so its values are kept.
  const typed = useRef<Partial<SupportFields>>({});
  const onTyped = (now: Partial<SupportFields>) => {
    typed.current = now;
  };
  const submission = useSubmission({ ...form, ...state, onTyped });
  const show = (now: boolean) => {
    setOpen(now);
    if (submission.state === 'sent') submission.restart();
  };
  return (
    <>
      <a
        className={`button ${styles.opener}`}
        href={contactPage}
        onClick={(event) => {
          event.preventDefault();
          show(true);
        }}
      >
        {supportMessages.label}
      </a>
      <p role="status" className={styles.result}>
        {!open && (submission.state === 'sent' ? supportMessages.sent : submission.problem)}
      </p>
      {open && (
        <Dialog heading={supportMessages.heading} standfirst={supportMessages.hours} onClose={() => show(false)}>
          <Presence />
          <FieldFormView {...form} {...state} values={{ ...state.values, ...typed.current }} submission={submission} />
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
