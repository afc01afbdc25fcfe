/** The payment step of somebody who has a subscription: what changes, what is credited, what is due (the card is known). */
import type { SyntheticEvent } from 'react';
import { authenticate } from './card-form.ts';
import { messages } from './messages.ts';
import { dayOf, sum } from './money.ts';
import { type Order, type OrderState, purchaseOf } from './order.ts';
import { PayButton } from './PayButton.tsx';
import { NoSum } from './PaymentBody.tsx';
import styles from './PaywallModal.module.css';
import type { CardForm, Payment, PaymentState } from './payment.ts';
import { loadStripe } from './stripe-script.ts';
import { Totals } from './Totals.tsx';

interface Props {
  plans: { readonly scriptUrl: string; readonly publishableKey: string };
  order: Order;
  state: OrderState;
  payment: Payment;
  paying: PaymentState;
  ready: boolean;
  sumNotice: string | null;
}

export function SwitchBody({ plans, order, state, payment, paying, ready, sumNotice }: Props) {
  const { price, quote, error } = state;
  const purchase = purchaseOf(state);
  const name = price.product.name;

  // The card company's script is fetched only when a bank asks.
  const bank: Pick<CardForm, 'authenticate'> = {
    async authenticate(clientSecret) {
      try {
        return await authenticate(await loadStripe(plans.scriptUrl, plans.publishableKey))(clientSecret);
      } catch {
        return { ok: false, message: messages.scriptFailed, shown: false };
      }
    },
  };
  function submit(event: SyntheticEvent) {
    event.preventDefault();
    if (purchase && ready) void payment.change(purchase, bank);
  }

  if (quote?.kind === 'same')
    return (
      <div className={styles.stack}>
        <p className={styles.explain}>This is the subscription that you have.</p>
        <a className={`button button-plain ${styles.wide}`} href="/dashboard/account">
          Your account
        </a>
      </div>
    );
  const later = quote?.kind === 'downgrade';
  return (
    <form className={styles.stack} noValidate aria-busy={paying.busy !== null} onSubmit={submit}>
      <p className={styles.explain}>
        {later && quote
          ? `What you have paid for stays yours until ${dayOf(quote.renewalDate)}. From then on it is ${name}.`
          : `${name} begins at once. What you have paid for the days to come is credited, and the card you have with us is charged the rest.`}
      </p>
      <Totals price={price} quote={quote} asking={state.asking} />
      <NoSum error={error} onRetry={order.refresh} />
      {paying.error && (
        <p className={styles.hint}>
          {paying.error.detail && `${paying.error.detail} `}
          <a href="/account/card">Update your card</a>
        </p>
      )}
      <PayButton
        state={paying}
        label={later ? 'Change at the renewal' : 'Upgrade'}
        sum={purchase && !later ? sum(purchase.expected, price.currency) : null}
        disabled={!(purchase && ready)}
        notice={sumNotice}
      />
    </form>
  );
}
