/** The payment step of a new subscription: wallets' buttons, card fields, coupon, sums, and the pay button. */
import { Elements, useElements, useStripe } from '@stripe/react-stripe-js';
import type { StripeExpressCheckoutElementConfirmEvent } from '@stripe/stripe-js';
import { type SyntheticEvent, useMemo, useRef, useState } from 'react';
import type { TaxAddress } from '../../lib/billing/wire.ts';
import { Notice } from '../shared/form.tsx';
import { CardFields } from './CardFields.tsx';
import { Coupon } from './Coupon.tsx';
import { cardForm } from './card-form.ts';
import { Express } from './Express.tsx';
import { cardFieldOptions, cardFieldsFor, cardFieldsWithoutPlace, elementsOptions } from './elements-options.ts';
import { FormVeil } from './FormVeil.tsx';
import { messages } from './messages.ts';
import { sum } from './money.ts';
import { type Order, type OrderState, purchaseOf, quotedPurchase } from './order.ts';
import { PayButton } from './PayButton.tsx';
import styles from './PaywallModal.module.css';
import type { Payment, PaymentState, Purchase } from './payment.ts';
import { ScriptWait } from './ScriptWait.tsx';
import { TaxPlace } from './TaxPlace.tsx';
import { Totals } from './Totals.tsx';
import { useFormSettled } from './use-form-settled.ts';
import type { StripeScript } from './use-stripe-script.ts';
import { payByWallet } from './wallet-payment.ts';
import { walletDetails } from './wallet-sheet.ts';

export interface PaymentBodyProps {
  script: StripeScript;
  order: Order;
  state: OrderState;
  payment: Payment;
  paying: PaymentState;
  email: string | null;
  /** Whether the steps before are done. */
  ready: boolean;
  sumNotice: string | null;
  /** Where tax is added; `null`: nowhere. */
  tax: { readonly country: string | null } | null;
  /** Where the printed paper goes; `null`: nothing is printed. */
  sentTo: TaxAddress | null;
  /** A wallet's sheet stands over the page, or no longer does. */
  onWalletSheet(isOpen: boolean): void;
  onSumChanged(due: number): void;
}

export function PaymentBody(props: PaymentBodyProps) {
  const { script, state } = props;
  const due = state.quote?.dueToday ?? state.price.unit_amount;
  const { currency } = state.price;
  const options = useMemo(() => elementsOptions(due, currency), [due, currency]);
  if (!script.stripe)
    return (
      <div className={script.failed ? undefined : styles.awaited}>
        <ScriptWait script={script} />
      </div>
    );
  return (
    <Elements stripe={script.stripe} options={options}>
      <Form {...props} />
    </Elements>
  );
}

function Form(props: PaymentBodyProps) {
  const { order, state, payment, paying, email, ready, sumNotice, tax, sentTo, onWalletSheet } = props;
  const stripe = useStripe();
  const elements = useElements();
  const [complete, setComplete] = useState(false);
  const { isSettled, hasButtons, onButtons, onFields } = useFormSettled();
  const { price, quote, coupon, error } = state;
  const purchase = purchaseOf(state);
  const able = Boolean(stripe && elements && complete && purchase && ready);
  const locked = paying.busy !== null;
  const asksPlace = tax !== null && sentTo === null;
  const fields = useFieldOptions(asksPlace, sentTo);

  function submit(event: SyntheticEvent) {
    event.preventDefault();
    // The card's own fields ask for its address, but not where the place is asked for.
    const address = asksPlace ? state.place : null;
    if (stripe && elements && purchase && able)
      void payment.buy(purchase, cardForm(stripe, elements, { email, address }));
  }

  // Who is at work in the form has no sheet before it any more, whether a wallet said so or not.
  const atWork = () => onWalletSheet(false);
  return (
    <form
      className={styles.stack}
      noValidate
      aria-busy={locked}
      onSubmit={submit}
      onPointerDownCapture={atWork}
      onKeyDownCapture={atWork}
    >
      <FormVeil isSettled={isSettled}>
        {hasButtons && <Wallets {...props} onSettled={onButtons} />}
        {asksPlace && (
          <TaxPlace
            known={state.place}
            country={tax.country}
            locked={locked}
            onPlace={(place) => void order.live(place)}
          />
        )}
        <div className={styles.card}>
          <CardFields
            options={fields}
            onSettled={onFields}
            onChange={(isComplete) => {
              setComplete(isComplete);
              if (paying.error && !locked) payment.clear();
            }}
          />
          <Notice id="paywall-card-error" text={paying.error?.detail ?? null} />
        </div>
        <Coupon
          key={coupon.kind === 'applied' ? 'applied' : 'open'}
          state={coupon}
          currency={price.currency}
          locked={locked}
          onApply={order.apply}
          onRemove={order.remove}
        />
        <Totals price={price} quote={quote} asking={state.asking} />
        <NoSum error={error} onRetry={order.refresh} />
        <PayButton
          state={paying}
          label="Join the Sun"
          sum={purchase ? sum(purchase.expected, price.currency) : null}
          disabled={!able}
          notice={sumNotice}
        />
      </FormVeil>
    </form>
  );
}

/** Options that the fields are made with. An address that is corrected later fills in nothing over what was typed. */
function useFieldOptions(asksPlace: boolean, sentTo: TaxAddress | null) {
  const first = useRef(sentTo);
  return useMemo(() => {
    if (asksPlace) return cardFieldsWithoutPlace;
    return first.current ? cardFieldsFor(first.current) : cardFieldOptions;
  }, [asksPlace]);
}

interface WalletsProps extends PaymentBodyProps {
  onSettled(hasButtons: boolean): void;
}

/** The wallets' buttons, with the order of the moment on their sheets. */
function Wallets(props: WalletsProps) {
  const { order, state, payment, paying, email, ready, tax, onSettled, onWalletSheet, onSumChanged } = props;
  const stripe = useStripe();
  const elements = useElements();
  const agreed = useRef<Purchase | null>(null);
  const { quote } = state;
  const purchase = quotedPurchase(state);
  const able = Boolean(stripe && elements && purchase && ready && paying.busy === null);

  async function confirm(event: StripeExpressCheckoutElementConfirmEvent) {
    if (!stripe || !elements || !agreed.current) return;
    const isStanding = await payByWallet(event, {
      order,
      payment,
      agreed: agreed.current,
      form: cardForm(stripe, elements, { email, address: null }),
      taxed: tax !== null,
      onSum: onSumChanged,
    });
    if (!isStanding) onWalletSheet(false);
  }

  return (
    <Express
      details={able && quote ? walletDetails(state, quote, location.origin) : null}
      hint={quote?.needs ? messages.walletTax : undefined}
      or="or pay by card"
      onSettled={onSettled}
      onOpen={() => {
        agreed.current = purchase;
        payment.clear();
        onWalletSheet(true);
      }}
      onCancel={() => onWalletSheet(false)}
      onConfirm={(event) => void confirm(event)}
    />
  );
}

/** The sum could not be found out; without it nothing is paid. */
export function NoSum({ error, onRetry }: { error: string | null; onRetry(): void }) {
  return (
    <div className={styles.noSum}>
      <Notice id="paywall-sum-error" text={error} />
      {error !== null && (
        <button type="button" className="button button-plain" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}
