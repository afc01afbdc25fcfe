/** The form that replaces the card of a running subscription; the mail about a failed renewal links here. Only Stripe gets the number. */
import { useStore } from '@nanostores/react';
import { Elements, useElements, useStripe } from '@stripe/react-stripe-js';
import type { Stripe, StripeElements, StripeExpressCheckoutElementConfirmEvent } from '@stripe/stripe-js';
import { atom } from 'nanostores';
import { type SyntheticEvent, useEffect, useMemo, useRef, useState } from 'react';
import { chargePaymentMethod, plans as fetchPlans, refusalOf, setupIntent } from '../../lib/billing/client.ts';
import type { PlansAnswer } from '../../lib/billing/schema.ts';
import type { Refused } from '../../lib/http/ask.ts';
import { paywall as messages, card as texts } from '../../lib/plans/messages.ts';
import { refreshSession } from '../../stores/session.ts';
import type { CardResult } from '../PaywallModal/payment.ts';
import {
  CardFields,
  Express,
  FormPlaceholder,
  ScriptPlaceholder,
  useFormSettled,
  useStripeScript,
} from '../PaywallModal/StripeForm.tsx';
import { authenticate, cardFieldOptions, cardOptions, guarded } from '../PaywallModal/stripe.ts';
import { Notice } from '../shared/notice.tsx';
import styles from './forms.module.css';

/** Saving a card has no amount and no lines for a wallet's sheet. */
const walletDetails = {};

export default function Card() {
  const [plans, setPlans] = useState<PlansAnswer | null>(null);
  const [failed, setFailed] = useState(false);
  const [attempt, setAttempt] = useState(0);
  const [flow] = useState(createCardFlow);
  const { step } = useStore(flow.$state);
  const script = useStripeScript(plans, true);
  const thanks = useRef<HTMLParagraphElement>(null);
  const options = useMemo(() => cardOptions(plans?.prices[0]?.currency ?? 'usd'), [plans]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt loads it again
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
  }, [attempt]);
  useEffect(() => {
    if (step === 'saved') thanks.current?.focus();
  }, [step]);

  if (step === 'saved')
    return (
      <div className={styles.card}>
        <p className={styles.thanks} role="status" ref={thanks} tabIndex={-1}>
          {texts.saved}
        </p>
        <a className="button" href="/dashboard/account">
          {texts.account}
        </a>
      </div>
    );
  if (!plans || !script.stripe)
    return (
      <ScriptPlaceholder
        script={{
          ...script,
          failed: failed || script.failed,
          retry: () => (failed ? setAttempt(attempt + 1) : script.retry()),
        }}
      />
    );
  return (
    <Elements stripe={script.stripe} options={options}>
      <Form flow={flow} />
    </Elements>
  );
}

const cardSaverOf = (stripe: Stripe, elements: StripeElements): CardSaver => ({
  authenticate: authenticate(stripe),
  check: () =>
    guarded<null>(async () => {
      const { error } = await elements.submit();
      if (!error) return { ok: true, value: null };
      return { ok: false, message: error.message ?? messages.wrong, shown: error.type === 'validation_error' };
    }),
  keep: (clientSecret) =>
    guarded<string>(async () => {
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
    }),
});

function Form({ flow }: { flow: CardFlow }) {
  const stripe = useStripe();
  const elements = useElements();
  const { step, error } = useStore(flow.$state);
  const [complete, setComplete] = useState(false);
  const saving = step === 'saving' || step === 'confirming';
  const { isSettled, hasButtons, onButtons, onFields } = useFormSettled();
  const wait = step === 'confirming' ? texts.confirming : texts.wait;

  function submit(event: SyntheticEvent) {
    event.preventDefault();
    if (stripe && elements && complete) void flow.save(cardSaverOf(stripe, elements));
  }
  async function saveWallet(event: StripeExpressCheckoutElementConfirmEvent) {
    if (!stripe || !elements) return;
    flow.clear();
    await flow.save(cardSaverOf(stripe, elements));
    const { step, error } = flow.$state.get();
    // Without an answer the sheet would wait forever, even if the form shows the problem itself.
    if (step !== 'saved')
      event.paymentFailed({ reason: 'fail', message: error?.detail ?? error?.text ?? messages.wrong });
  }
  return (
    <form className={styles.card} noValidate aria-busy={saving} onSubmit={submit}>
      <FormPlaceholder isSettled={isSettled}>
        {hasButtons && (
          <Express
            details={saving ? null : walletDetails}
            or={texts.or}
            onSettled={onButtons}
            onOpen={flow.clear}
            onCancel={flow.clear}
            onConfirm={(event) => void saveWallet(event)}
          />
        )}
        <div className={styles.cardFields}>
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
          {saving ? wait : texts.use}
        </button>
      </FormPlaceholder>
      <span className="visually-hidden" role="status">
        {saving && wait}
      </span>
    </form>
  );
}

interface CardState {
  /** `confirming`: the bank has to confirm an open invoice. */
  readonly step: 'form' | 'saving' | 'confirming' | 'saved';
  readonly error: { readonly text: string; readonly detail: string | null } | null;
}

/** The card form, as far as saving a card uses it. */
interface CardSaver {
  /** Checks what was typed. */
  check(): Promise<CardResult<null>>;
  /** Saves the card with a setup intent; the bank may have to confirm. @returns `pm_…` */
  keep(clientSecret: string): Promise<CardResult<string>>;
  /** Lets the reader confirm an open payment with the bank. */
  authenticate(clientSecret: string): Promise<CardResult<null>>;
}

type CardFlow = ReturnType<typeof createCardFlow>;

/** More invoices than can be open at once. */
const mostInvoices = 12;

function createCardFlow() {
  const $state = atom<CardState>({ step: 'form', error: null });
  const fail = (text: string, detail: string | null = null) => $state.set({ step: 'form', error: { text, detail } });
  /** A card that Stripe has saved and our server doesn't know yet; a retry uses it again. */
  let savedCard: string | null = null;

  async function saveAtStripe(saver: CardSaver): Promise<string | null> {
    const checked = await saver.check();
    if (!checked.ok) {
      if (checked.shown) $state.set({ step: 'form', error: null });
      else fail(checked.message);
      return null;
    }
    const secret = await setupIntent();
    if (!secret.ok || !secret.value?.clientSecret) {
      fail(!secret.ok && secret.status === 0 ? messages.offline : messages.wrong);
      return null;
    }
    const saved = await saver.keep(secret.value.clientSecret);
    if (saved.ok) return saved.value;
    fail(messages.paymentFailed, saved.message);
    return null;
  }

  function refused(answer: Refused) {
    // After a lost connection the same card is tried again.
    if (answer.status === 0) return fail(messages.offline);
    if (answer.status >= 500 || answer.status === 429) return fail(answer.message ?? messages.wrong);
    savedCard = null;
    const { message = null } = refusalOf(answer);
    fail(messages.paymentFailed, message === messages.paymentFailed ? null : message);
  }

  /** Charges open invoices one by one: the bank may have to confirm each. */
  async function charge(card: string, saver: CardSaver): Promise<void> {
    for (let charges = 0; charges < mostInvoices; charges++) {
      $state.set({ step: 'saving', error: null });
      const used = await chargePaymentMethod(card);
      if (!used.ok) return refused(used);
      const secret = used.value?.clientSecret ?? null;
      if (secret === null) {
        $state.set({ step: 'saved', error: null });
        // The reader may have more access now.
        return void refreshSession();
      }
      $state.set({ step: 'confirming', error: null });
      const proof = await saver.authenticate(secret);
      if (proof.ok) continue;
      savedCard = null;
      return fail(messages.paymentFailed, proof.message);
    }
    fail(messages.wrong);
  }

  return {
    $state,
    async save(saver: CardSaver): Promise<void> {
      if ($state.get().step === 'saving' || $state.get().step === 'confirming') return;
      $state.set({ step: 'saving', error: null });
      savedCard ??= await saveAtStripe(saver);
      if (savedCard !== null) await charge(savedCard, saver);
    },
    clear() {
      savedCard = null;
      if ($state.get().step === 'form') $state.set({ step: 'form', error: null });
    },
  };
}
