/** Another card for a running subscription. The card's numbers go to the card company alone. */
import { useStore } from '@nanostores/react';
import { Elements, useElements, useStripe } from '@stripe/react-stripe-js';
import type { Stripe, StripeElements, StripeExpressCheckoutElementConfirmEvent } from '@stripe/stripe-js';
import { type SyntheticEvent, useEffect, useMemo, useRef, useState } from 'react';
import { chargePaymentMethod, plans as fetchPlans, setupIntent } from '../../lib/billing/client.ts';
import type { PlansAnswer } from '../../lib/billing/wire.ts';
import { paywall as messages, card as texts } from '../../lib/plans/messages.ts';
import { refreshSession } from '../../stores/session.ts';
import {
  CardFields,
  Express,
  FormPlaceholder,
  ScriptPlaceholder,
  useFormSettled,
  useStripeScript,
} from '../PaywallModal/StripeForm.tsx';
import { authenticate, cardFieldOptions, cardOptions } from '../PaywallModal/stripe.ts';
import { Notice } from '../shared/notice.tsx';
import styles from './Card.module.css';
import { type CardFlow, createCardFlow, type Keeper } from './card-flow.ts';

/** A card that is kept: no sum, nothing to list. */
const walletDetails = {};

export default function Card() {
  const [plans, setPlans] = useState<PlansAnswer | null>(null);
  const [failed, setFailed] = useState(false);
  const [turn, setTurn] = useState(0);
  const [flow] = useState(() => createCardFlow({ setupIntent, chargePaymentMethod }, () => void refreshSession()));
  const { step } = useStore(flow.$state);
  const script = useStripeScript(plans, true);
  const thanks = useRef<HTMLParagraphElement>(null);
  const options = useMemo(() => cardOptions(plans?.prices[0]?.currency ?? 'usd'), [plans]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another turn asks again
  useEffect(() => {
    let here = true;
    setFailed(false);
    void fetchPlans().then((answer) => {
      if (!here) return;
      if (answer.ok && answer.value) setPlans(answer.value);
      else setFailed(true);
    });
    return () => {
      here = false;
    };
  }, [turn]);
  useEffect(() => {
    if (step === 'saved') thanks.current?.focus();
  }, [step]);

  if (step === 'saved')
    return (
      <div className={styles.saved}>
        <p className={styles.thanks} role="status" ref={thanks} tabIndex={-1}>
          {texts.saved}
        </p>
        <a className="button" href="/dashboard/account">
          Your account
        </a>
      </div>
    );
  if (!plans || !script.stripe)
    return (
      <ScriptPlaceholder
        script={{
          ...script,
          failed: failed || script.failed,
          retry: () => (failed ? setTurn(turn + 1) : script.retry()),
        }}
      />
    );
  return (
    <Elements stripe={script.stripe} options={options}>
      <Form flow={flow} />
    </Elements>
  );
}

const keeperOf = (stripe: Stripe, elements: StripeElements): Keeper => ({
  authenticate: authenticate(stripe),
  async check() {
    try {
      const { error } = await elements.submit();
      if (!error) return { ok: true, value: null };
      return { ok: false, message: error.message ?? messages.wrong, shown: error.type === 'validation_error' };
    } catch {
      return { ok: false, message: messages.offline, shown: false };
    }
  },
  async keep(clientSecret) {
    try {
      const { error, setupIntent } = await stripe.confirmSetup({
        elements,
        clientSecret,
        redirect: 'if_required',
        confirmParams: { return_url: location.href },
      });
      if (error) return { ok: false, message: error.message ?? messages.wrong, shown: false };
      const method = setupIntent.payment_method;
      const id = typeof method === 'string' ? method : method?.id;
      return id ? { ok: true, value: id } : { ok: false, message: messages.wrong, shown: false };
    } catch {
      return { ok: false, message: messages.offline, shown: false };
    }
  },
});

function Form({ flow }: { flow: CardFlow }) {
  const stripe = useStripe();
  const elements = useElements();
  const { step, error } = useStore(flow.$state);
  const [complete, setComplete] = useState(false);
  const saving = step === 'saving' || step === 'confirming';
  const { isSettled, hasButtons, onButtons, onFields } = useFormSettled();
  const wait = step === 'confirming' ? 'Waiting for your bank…' : 'One moment…';

  function submit(event: SyntheticEvent) {
    event.preventDefault();
    if (stripe && elements && complete) void flow.save(keeperOf(stripe, elements));
  }
  async function keepWallet(event: StripeExpressCheckoutElementConfirmEvent) {
    if (!stripe || !elements) return;
    flow.clear();
    await flow.save(keeperOf(stripe, elements));
    const { error: failed } = flow.$state.get();
    if (failed) event.paymentFailed({ reason: 'fail', message: failed.detail ?? failed.text });
  }
  return (
    <form className={styles.form} noValidate aria-busy={saving} onSubmit={submit}>
      <FormPlaceholder isSettled={isSettled}>
        {hasButtons && (
          <Express
            details={saving ? null : walletDetails}
            or="or use a card"
            onSettled={onButtons}
            onOpen={flow.clear}
            onCancel={flow.clear}
            onConfirm={(event) => void keepWallet(event)}
          />
        )}
        <div className={styles.card}>
          <CardFields
            options={cardFieldOptions}
            onSettled={onFields}
            onChange={(isComplete) => {
              setComplete(isComplete);
              flow.clear();
            }}
          />
          <Notice id="card-detail" text={error?.detail ?? null} />
        </div>
        <Notice id="card-error" text={error?.text ?? null} />
        <button
          type="submit"
          className={`button ${styles.save}`}
          disabled={!complete && !saving}
          aria-disabled={saving}
        >
          {saving ? wait : 'Use this card'}
        </button>
      </FormPlaceholder>
      <span className="visually-hidden" role="status">
        {saving && wait}
      </span>
    </form>
  );
}
