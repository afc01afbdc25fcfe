/** Another card for a running subscription (the mail about a failed renewal leads here), without a screen. */
import { atom, type ReadableAtom } from 'nanostores';
import type * as client from '../../lib/billing/client.ts';
import { refusalOf } from '../../lib/billing/client.ts';
import type { Refused } from '../../lib/http/ask.ts';
import { paywall as messages } from '../../lib/plans/messages.ts';
import type { Made } from '../PaywallModal/payment.ts';

export interface CardState {
  /** `confirming`: the bank asks about what is open. */
  readonly step: 'form' | 'saving' | 'confirming' | 'saved';
  readonly error: { readonly text: string; readonly detail: string | null } | null;
}

/** The card form's side. */
export interface Keeper {
  /** Checks what was typed. */
  check(): Promise<Made<null>>;
  /** Has the card kept with a setup intent; a bank may ask meanwhile. @returns `pm_…` */
  keep(clientSecret: string): Promise<Made<string>>;
  /** Lets the reader answer the bank about a payment that is open. */
  authenticate(clientSecret: string): Promise<Made<null>>;
}

export interface CardFlow {
  readonly $state: ReadableAtom<CardState>;
  save(keeper: Keeper): Promise<void>;
  clear(): void;
}

export type CardCalls = Pick<typeof client, 'setupIntent' | 'chargePaymentMethod'>;

/** Bills that may be open at once, and then some. */
const mostQuestions = 12;

/** @param onSaved the session may open more now */
export function createCardFlow(calls: CardCalls, onSaved: () => void): CardFlow {
  const $state = atom<CardState>({ step: 'form', error: null });
  const fail = (text: string, detail: string | null = null) => $state.set({ step: 'form', error: { text, detail } });
  /** A card that was kept, and not told to our server yet: it is not asked for again. */
  let kept: string | null = null;

  async function keep(keeper: Keeper): Promise<string | null> {
    const checked = await keeper.check();
    if (!checked.ok) {
      if (checked.shown) $state.set({ step: 'form', error: null });
      else fail(checked.message);
      return null;
    }
    const secret = await calls.setupIntent();
    if (!secret.ok || !secret.value?.clientSecret) {
      fail(!secret.ok && secret.status === 0 ? messages.offline : messages.wrong);
      return null;
    }
    const made = await keeper.keep(secret.value.clientSecret);
    if (made.ok) return made.value;
    fail(messages.paymentFailed, made.message);
    return null;
  }

  function refused(answer: Refused) {
    // What came to nothing on the way is tried with the same card again.
    if (answer.status === 0) return fail(messages.offline);
    if (answer.status >= 500 || answer.status === 429) return fail(answer.message ?? messages.wrong);
    kept = null;
    const { message = null } = refusalOf(answer);
    fail(messages.paymentFailed, message === messages.paymentFailed ? null : message);
  }

  /** Charges what is open, one bill after the other: a bank may ask about each. */
  async function charge(card: string, keeper: Keeper): Promise<void> {
    for (let asked = 0; asked < mostQuestions; asked++) {
      $state.set({ step: 'saving', error: null });
      const used = await calls.chargePaymentMethod(card);
      if (!used.ok) return refused(used);
      const secret = used.value?.clientSecret ?? null;
      if (secret === null) {
        $state.set({ step: 'saved', error: null });
        return onSaved();
      }
      $state.set({ step: 'confirming', error: null });
      const proof = await keeper.authenticate(secret);
      if (proof.ok) continue;
      kept = null;
      return fail(messages.paymentFailed, proof.message);
    }
    fail(messages.wrong);
  }

  return {
    $state,
    async save(keeper) {
      if ($state.get().step === 'saving' || $state.get().step === 'confirming') return;
      $state.set({ step: 'saving', error: null });
      kept ??= await keep(keeper);
      if (kept !== null) await charge(kept, keeper);
    },
    clear() {
      kept = null;
      if ($state.get().step === 'form') $state.set({ step: 'form', error: null });
    },
  };
}
