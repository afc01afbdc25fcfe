/**
 * The reader's invoices. The server renders the first page; older ones are fetched, or shown on a page of their own without
 * JavaScript.
 */
import { type MouseEvent, useEffect, useRef, useState } from 'react';
import { fetchInvoices } from '../../lib/billing/client.ts';
import type { Invoice, InvoicesAnswer } from '../../lib/billing/schema.ts';
import { longDayInZone } from '../../lib/day-in-zone.ts';
import { formatReceipt } from '../../lib/money.ts';
import { subscription as messages } from '../../lib/plans/messages.ts';
import { PanelBoundary, PanelState, usePanel } from '../shared/Panel.tsx';
import styles from './panels.module.css';

export default function SubscriptionInvoices({ first }: { first: InvoicesAnswer }) {
  return (
    <PanelBoundary>
      <Invoices first={first} />
    </PanelBoundary>
  );
}

function Invoices({ first }: { first: InvoicesAnswer }) {
  const [busy, setBusy] = useState(false);
  const known = useRef(first);
  const panel = usePanel<InvoicesAnswer>({
    first,
    isEmpty: ({ bills, next }) => bills.length === 0 && next === null,
    async load() {
      setBusy(true);
      const answer = await fetchInvoices(known.current.next);
      setBusy(false);
      if (!answer.ok || !answer.value) return answer;
      known.current = { bills: [...known.current.bills, ...answer.value.bills], next: answer.value.next };
      return { ...answer, value: known.current };
    },
  });
  const { bills: invoices, next } = panel.value ?? first;
  const list = useRef<HTMLUListElement>(null);
  const shown = useRef(invoices.length);
  // The pressed link may be gone, so the first of the older invoices gets the focus.
  useEffect(() => {
    if (invoices.length > shown.current) (list.current?.children[shown.current] as HTMLElement | undefined)?.focus();
    shown.current = invoices.length;
  }, [invoices]);
  function older(event: MouseEvent) {
    event.preventDefault();
    panel.retry();
  }
  return (
    <PanelState phase={panel.phase} empty={messages.noInvoices} error={messages.invoicesFailed} onRetry={panel.retry}>
      <ul className={styles.invoices} ref={list}>
        {invoices.map((invoice) => (
          <Row key={invoice.id} invoice={invoice} />
        ))}
      </ul>
      {next !== null && (
        <a className="button button-plain" href={`?invoices=${next}#invoices`} aria-disabled={busy} onClick={older}>
          {busy ? messages.wait : messages.olderInvoices}
        </a>
      )}
    </PanelState>
  );
}

function Row({ invoice: { id, number, date, amount, tax, currency, status, plan, file } }: { invoice: Invoice }) {
  const day = longDayInZone(date);
  const what = number ? `invoice ${number}` : `invoice of ${day}`;
  const at = (as: string) => `/account/invoice?id=${encodeURIComponent(id)}&as=${as}`;
  return (
    <li tabIndex={-1}>
      <span className={styles.day}>{day}</span>
      <span className={styles.number}>
        {number}
        {plan !== undefined && <span className={styles.plan}>{plan}</span>}
      </span>
      <span className={styles.sum}>{formatReceipt(amount, tax, currency)}</span>
      <span className={status === 'open' || status === 'uncollectible' ? styles.due : styles.paid}>
        {messages.statuses[status]}
      </span>
      <span className={styles.links}>
        {status === 'open' && (
          <a href={at('page')} rel="nofollow">
            {messages.pay}
            <span className="visually-hidden"> {what}</span>
          </a>
        )}
        {file && (
          <a href={at('pdf')} rel="nofollow">
            PDF<span className="visually-hidden"> of {what}</span>
          </a>
        )}
      </span>
    </li>
  );
}
