/** The payment step: of a new subscription, and of a change of plan. */
import { Elements, useElements, useStripe } from '@stripe/react-stripe-js';
import type { StripeExpressCheckoutElementConfirmEvent } from '@stripe/stripe-js';
import { type SyntheticEvent, useMemo, useRef, useState } from 'react';
import type { TaxAddress } from '../../lib/billing/schema.ts';
import { longDayInZone } from '../../lib/day-in-zone.ts';
import { formatSum } from '../../lib/money.ts';
import { paywall as messages } from '../../lib/plans/messages.ts';
import { Notice } from '../shared/notice.tsx';
import { Coupon, NoSum, PayButton, TaxPlace, Totals } from './Order.tsx';
import { type Order, type OrderState, purchaseOf, quotedPurchase } from './order.ts';
import styles from './PaywallModal.module.css';
import type { CardForm, Payment, PaymentState, Purchase } from './payment.ts';
import {
  CardFields,
  Express,
  FormPlaceholder,
  ScriptPlaceholder,
  type StripeScript,
  useFormSettled,
} from './StripeForm.tsx';
import {
  authenticate,
  cardFieldOptions,
  cardFieldsFor,
  cardFieldsWithoutPlace,
  cardForm,
  elementsOptions,
  loadStripe,
} from './stripe.ts';
import { payByWallet, walletDetails } from './wallets.ts';

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
  /** `null` if no tax is added. */
  tax: { readonly country: string | null } | null;
  /** The shipping address; `null` without the print edition. */
  sentTo: TaxAddress | null;
  /** A wallet's sheet has opened or closed over the page. */
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
        <ScriptPlaceholder script={script} />
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
  const pressed = useRef(false);
  const { isSettled, hasButtons, onButtons, onFields } = useFormSettled();
  const { price, quote, coupon, error } = state;
  const purchase = purchaseOf(state);
  const able = Boolean(stripe && elements && complete && purchase && ready);
  const locked = paying.busy !== null;
  const asksPlace = tax !== null && sentTo === null;
  const fields = useFieldOptions(asksPlace, sentTo);

  function submit(event: SyntheticEvent) {
    event.preventDefault();
    // Stripe's fields ask for the billing address unless the form has its own fields for it.
    const address = asksPlace ? state.place : null;
    if (stripe && elements && purchase && able)
      void payment.buy(purchase, cardForm(stripe, elements, { email, address }));
  }

  // A reader who uses the form has no wallet sheet open, whether or not the wallet said so.
  const onUse = () => onWalletSheet(false);
  return (
    <form
      className={styles.stack}
      noValidate
      aria-busy={locked}
      onSubmit={submit}
      onPointerDownCapture={onUse}
      onKeyDownCapture={onUse}
    >
      <FormPlaceholder isSettled={isSettled}>
        {hasButtons && <Wallets {...props} onSettled={onButtons} />}
        {asksPlace && (
          <TaxPlace
            known={state.place}
            country={tax.country}
            locked={locked}
            onPlace={(place) => void order.setPlace(place)}
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
          pressed={pressed}
          currency={price.currency}
          locked={locked}
          onApply={order.apply}
          onRemove={order.remove}
        />
        <Totals price={price} quote={quote} asking={state.asking} />
        <NoSum error={error} onRetry={order.refresh} />
        <PayButton
          state={paying}
          label={messages.join}
          sum={purchase ? formatSum(purchase.expected, price.currency) : null}
          disabled={!able}
          notice={sumNotice}
        />
      </FormPlaceholder>
    </form>
  );
}

/** Options for the fields' creation. Correcting the address later doesn't overwrite what was typed. */
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

/** The wallet buttons, with the current order on their sheets. */
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
    const isSheetOpen = await payByWallet(event, {
      order,
      payment,
      agreed: agreed.current,
      form: cardForm(stripe, elements, { email, address: null }),
      taxed: tax !== null,
      onSum: onSumChanged,
    });
    if (!isSheetOpen) onWalletSheet(false);
  }

  return (
    <Express
      details={able && quote ? walletDetails(state, quote, location.origin) : null}
      hint={quote?.needs ? messages.walletTax : undefined}
      or={messages.orCard}
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

interface SwitchBodyProps
  extends Pick<PaymentBodyProps, 'order' | 'state' | 'payment' | 'paying' | 'ready' | 'sumNotice'> {
  plans: { readonly scriptUrl: string; readonly publishableKey: string };
}

/** The payment step of a subscriber: what changes, what is credited, what is due. The card on file is charged. */
export function SwitchBody({ plans, order, state, payment, paying, ready, sumNotice }: SwitchBodyProps) {
  const { price, quote, error } = state;
  const purchase = purchaseOf(state);
  const name = price.product.name;

  // Stripe.js is loaded only when a bank asks for confirmation.
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
        <p className={styles.explain}>{messages.currentPlan}</p>
        <a className={`button button-plain ${styles.wide}`} href="/dashboard/account">
          {messages.account}
        </a>
      </div>
    );
  const later = quote?.kind === 'downgrade';
  return (
    <form className={styles.stack} noValidate aria-busy={paying.busy !== null} onSubmit={submit}>
      <p className={styles.explain}>
        {later && quote ? messages.changesLater(longDayInZone(quote.renewalDate), name) : messages.changesNow(name)}
      </p>
      <Totals price={price} quote={quote} asking={state.asking} />
      <NoSum error={error} onRetry={order.refresh} />
      {paying.error && (
        <p className={styles.hint}>
          {paying.error.detail && `${paying.error.detail} `}
          <a href="/account/card">{messages.updateCard}</a>
        </p>
      )}
      <PayButton
        state={paying}
        label={later ? messages.changeAtRenewal : messages.upgrade}
        sum={purchase && !later ? formatSum(purchase.expected, price.currency) : null}
        disabled={!(purchase && ready)}
        notice={sumNotice}
      />
    </form>
  );
}
