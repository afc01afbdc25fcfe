/** The payment step of a new subscription: card fields, coupon, sums, and the button. */
import { Elements, PaymentElement, useElements, useStripe } from '@stripe/react-stripe-js';
import type { StripePaymentElementOptions } from '@stripe/stripe-js';
import { type SyntheticEvent, useMemo, useState } from 'react';
import { Notice } from '../parts/Notice.tsx';
import { Coupon } from './Coupon.tsx';
import { cardForm } from './card-form.ts';
import { elementsOptions } from './elements-options.ts';
import { messages } from './messages.ts';
import { sum } from './money.ts';
import type { Order, OrderState } from './order.ts';
import { PayButton } from './PayButton.tsx';
import styles from './Paywall.module.css';
import type { Payment, PaymentState, Purchase } from './payment.ts';
import { ScriptWait } from './ScriptWait.tsx';
import { TaxPlace } from './TaxPlace.tsx';
import { Totals } from './Totals.tsx';
import type { StripeScript } from './use-stripe-script.ts';

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
}

const cardOptions: StripePaymentElementOptions = { layout: { type: 'tabs' } };
/** Country and postal code are asked for above the card, where tax depends on them. */
const withoutPlace: StripePaymentElementOptions = {
  ...cardOptions,
  fields: { billingDetails: { address: { country: 'never', postalCode: 'never' } } },
};

/** The order as it is paid; `null` as long as its sum is not known. */
export function purchaseOf({ price, quote, asking, coupon, place }: OrderState): Purchase | null {
  if (!quote || asking || coupon.kind === 'applying' || quote.needs) return null;
  return {
    productId: price.product.metadata.zephr_product_id,
    planId: price.zephrPlanId,
    coupon: coupon.kind === 'applied' ? coupon.code : null,
    expected: quote.dueToday,
    prorationDate: quote.prorationDate,
    currency: price.currency,
    address: place,
  };
}

export function PaymentBody(props: PaymentBodyProps) {
  const { script, state } = props;
  const due = state.quote?.dueToday ?? state.price.unit_amount;
  const { currency } = state.price;
  const options = useMemo(() => elementsOptions(due, currency), [due, currency]);
  if (!script.stripe) return <ScriptWait script={script} />;
  return (
    <Elements stripe={script.stripe} options={options}>
      <Form {...props} />
    </Elements>
  );
}

function Form({ order, state, payment, paying, email, ready, sumNotice, tax }: PaymentBodyProps) {
  const stripe = useStripe();
  const elements = useElements();
  const [complete, setComplete] = useState(false);
  const [shown, setShown] = useState(false);
  const [broken, setBroken] = useState(false);
  const [turn, setTurn] = useState(0);
  const { price, quote, coupon, error } = state;
  const purchase = purchaseOf(state);
  const able = Boolean(stripe && elements && complete && purchase && ready);

  function submit(event: SyntheticEvent) {
    event.preventDefault();
    if (stripe && elements && purchase && able)
      void payment.buy(purchase, cardForm(stripe, elements, { email, address: state.place }));
  }

  return (
    <form className={styles.stack} noValidate aria-busy={paying.busy !== null} onSubmit={submit}>
      {tax && (
        <TaxPlace
          known={state.place}
          country={tax.country}
          locked={paying.busy !== null}
          onPlace={(place) => void order.live(place)}
        />
      )}
      <div className={styles.card}>
        {!shown && !broken && <div className={styles.skeleton} aria-hidden="true" />}
        {broken ? (
          <div className={styles.broken} role="alert">
            <p>{messages.scriptFailed}</p>
            <button
              type="button"
              className="button button-plain"
              onClick={() => {
                setBroken(false);
                setShown(false);
                setTurn(turn + 1);
              }}
            >
              Try again
            </button>
          </div>
        ) : (
          <PaymentElement
            key={turn}
            options={tax ? withoutPlace : cardOptions}
            onReady={() => setShown(true)}
            onLoadError={() => {
              console.error('Paywall: the card fields could not be loaded');
              setComplete(false);
              setBroken(true);
            }}
            onChange={(event) => {
              setComplete(event.complete);
              if (paying.error && paying.busy === null) payment.clear();
            }}
          />
        )}
        <Notice id="paywall-card-error" text={paying.error?.detail ?? null} />
      </div>
      <Coupon
        key={coupon.kind === 'applied' ? 'applied' : 'open'}
        state={coupon}
        currency={price.currency}
        locked={paying.busy !== null}
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
    </form>
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
