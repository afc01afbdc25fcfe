/**
 * Paying (spec section 4, "Payment"), without a screen. One thing at a time, and never twice: each decision has a number, an answer
 * that did not come is looked up before anything is asked again, and only the server's word ends a decision.
 */
import { atom, type ReadableAtom } from 'nanostores';
import type * as client from '../../lib/billing/client.ts';
import { refusalOf } from '../../lib/billing/client.ts';
import { mayRenew } from '../../lib/billing/status.ts';
import type { SubscribeAnswer, Subscription, SwitchAnswer, TaxAddress } from '../../lib/billing/wire.ts';
import type { Answer, Refused } from '../../lib/http/ask.ts';
import { paywall as messages } from '../../lib/plans/messages.ts';

/** What the card form can do; its insides are the card company's. */
export interface CardForm {
  /** `pm_…` of what was typed, or what is wrong with it. */
  paymentMethod(): Promise<Made<string>>;
  /** Lets the reader prove to the bank who they are. */
  authenticate(clientSecret: string): Promise<Made<null>>;
}

export type Made<T> =
  | { readonly ok: true; readonly value: T }
  /** `shown`: the form says it already, beside the field. */
  | { readonly ok: false; readonly message: string; readonly shown: boolean };

export interface PaymentState {
  /** `paying`: it is on its way; `confirming`: the bank asks; `checking`: how it ended is looked up. */
  readonly busy: 'paying' | 'confirming' | 'checking' | null;
  /** A sentence, and what the card company says about it. */
  readonly error: { readonly text: string; readonly detail: string | null } | null;
  /** Nothing is wrong, but something has to be known. */
  readonly notice: string | null;
}

/** What is to be paid. */
export interface Purchase {
  readonly productId: string;
  readonly planId: string;
  readonly coupon: string | null;
  /** What the button says, minor units. */
  readonly expected: number;
  readonly prorationDate: number | null;
  readonly currency: string;
  /** Where the buyer lives, where tax depends on it. */
  readonly address: TaxAddress | null;
}

export type PaymentCalls = Pick<typeof client, 'subscribe' | 'switchPlan' | 'confirmation' | 'subscription'>;

export interface Options {
  readonly calls: PaymentCalls;
  readonly attempts: { begin(terms: string): string; end(): void };
  /** Milliseconds between looks for the subscription. */
  readonly looks?: readonly number[];
  /** Paid for, or changed. `null`: it is certain, but could not be read. */
  onDone(subscription: Subscription | null): void;
  onSignedOut(): void;
  /** Stripe would charge another sum. */
  onSum(due: number): void;
  /** What is shown may not be true any more: there is a subscription already, or an offer was had. */
  onStale(): void;
}

export interface Payment {
  readonly $state: ReadableAtom<PaymentState>;
  buy(purchase: Purchase, card: CardForm): Promise<void>;
  change(purchase: Purchase, card: Pick<CardForm, 'authenticate'>): Promise<void>;
  /** Looks how an attempt ended that was under way when the page was left. @returns whether it is paid */
  recover(planId: string): Promise<boolean>;
  clear(): void;
}

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

export function createPayment(options: Options): Payment {
  const { calls, attempts, looks = [0, 400, 800, 1500, 3000, 5000], onDone, onSignedOut, onSum, onStale } = options;
  const $state = atom<PaymentState>({ busy: null, error: null, notice: null });
  const set = (change: Partial<PaymentState>) => $state.set({ ...$state.get(), ...change });
  const fail = (text: string, detail: string | null = null) =>
    set({ busy: null, error: { text, detail }, notice: null });
  /** Kinds of failure go to the console, and nothing about the reader does (spec section 8, "Console-only"). */
  const log = (what: string) => console.error(`Paywall: ${what}`);

  /** @returns the subscription; `null`: there is none; `undefined`: nobody could be asked */
  async function look(planId: string): Promise<Subscription | null | undefined> {
    const answer = await calls.subscription();
    if (!answer.ok) return answer.status === 401 || answer.status === 404 ? null : undefined;
    const found = answer.value?.subscription;
    return found && mayRenew(found) && found.planId === planId ? found : null;
  }

  /** Waits until the subscription appears. */
  async function appeared(planId: string): Promise<Subscription | null> {
    set({ busy: 'checking' });
    for (const pause of looks) {
      await wait(pause);
      const found = await look(planId);
      if (found) return found;
    }
    return null;
  }

  function done(subscription: Subscription | null): void {
    attempts.end();
    set({ busy: null, error: null, notice: null });
    onDone(subscription);
  }

  /** Something was asked, and no answer came or none that says how it ended. */
  async function unclear(planId: string, status: number): Promise<void> {
    set({ busy: 'checking' });
    const found = await look(planId);
    if (found) return done(found);
    // The attempt stays open: the same number again goes on with it.
    if (found === undefined) return fail(messages.offline, messages.safe);
    fail(status === 0 ? messages.unfinished : messages.paymentFailed, messages.safe);
  }

  async function refused(answer: Refused, planId: string): Promise<void> {
    const { status } = answer;
    const { due, message = null, code } = refusalOf(answer);
    if (status === 0 || status >= 500 || status === 408) return unclear(planId, status);
    if (status === 401) {
      set({ busy: null, error: null, notice: null });
      return onSignedOut();
    }
    if (status === 409) {
      if (due !== undefined) {
        attempts.end();
        set({ busy: null, error: null, notice: null });
        return onSum(due);
      }
      // Bought in another tab, or just being bought there.
      set({ busy: 'checking' });
      const found = await look(planId);
      if (found) return done(found);
      fail(message ?? messages.wrong);
      return onStale();
    }
    if (status === 429) return fail(message ?? messages.limited);
    attempts.end();
    log(`payment refused (${status}${code ? `, ${code}` : ''})`);
    fail(messages.paymentFailed, message === messages.paymentFailed ? null : message);
    // The plan, the coupon or the address is not what it was.
    if (status === 400) onStale();
  }

  async function confirmed(answer: SubscribeAnswer, planId: string): Promise<void> {
    set({ busy: 'checking' });
    const end = await calls.confirmation(answer.subscriptionId);
    if (!end.ok) return refused(end, planId);
    if (!end.value?.grant_id) log('generic failure: confirmed, and no grant_id');
    done(await appeared(planId));
  }

  /** The three ways of spec section 4. */
  async function handle(
    answer: SubscribeAnswer | SwitchAnswer | null,
    purchase: Purchase,
    card: Pick<CardForm, 'authenticate'>,
  ): Promise<void> {
    const { planId } = purchase;
    if (answer?.paymentType !== 'recurring') {
      log(`unknown payment type ${String(answer?.paymentType).slice(0, 40)}`);
      return fail(messages.wrong);
    }
    // A plan that changes at the renewal costs nothing now, and the old one still stands.
    if ('effective' in answer && answer.effective === 'renewal') return done(null);
    const { paymentIntentStatus: status, clientSecret } = answer;
    if (status === 'requires_payment_method') {
      attempts.end();
      log('payment method required');
      return fail(messages.paymentFailed);
    }
    if (status === 'requires_action' || status === 'requires_confirmation') {
      if (clientSecret === null) {
        log('unknown confirmation url');
        return fail(messages.wrong);
      }
      set({ busy: 'confirming' });
      const proof = await card.authenticate(clientSecret);
      if (proof.ok) return confirmed(answer, planId);
      attempts.end();
      log('payment failed at the bank');
      return fail(messages.paymentFailed, proof.message);
    }
    if (!answer.grant_id) log(`generic failure: ${status}, and no grant_id`);
    const found = await appeared(planId);
    if (found || answer.grant_id) return done(found);
    set({ busy: null, error: null, notice: messages.pending });
  }

  async function run(
    purchase: Purchase,
    card: Pick<CardForm, 'authenticate'>,
    begin: () => Promise<Answer<SubscribeAnswer>>,
  ): Promise<void> {
    const answer = await begin();
    if (!answer.ok) return refused(answer, purchase.planId);
    await handle(answer.value, purchase, card);
  }

  /** @returns whether nothing was under way */
  function start(): boolean {
    if ($state.get().busy !== null) return false;
    set({ busy: 'paying', error: null, notice: null });
    return true;
  }

  return {
    $state,
    async buy(purchase, card) {
      if (!start()) return;
      const made = await card.paymentMethod();
      if (!made.ok) return made.shown ? set({ busy: null }) : fail(made.message);
      const { productId, planId, coupon, expected, currency, address } = purchase;
      const attempt = attempts.begin(JSON.stringify(['buy', planId, coupon, expected, currency]));
      await run(purchase, card, () =>
        calls.subscribe({
          payment_method: made.value,
          product_id: productId,
          plan_id: planId,
          ...(coupon !== null && { discount_code: coupon }),
          attempt,
          expected,
          currency,
          ...(address && { address }),
        }),
      );
    },
    async change(purchase, card) {
      if (!start()) return;
      const { planId, expected, prorationDate } = purchase;
      const attempt = attempts.begin(JSON.stringify(['switch', planId, expected]));
      await run(purchase, card, () => calls.switchPlan({ planId, expected, prorationDate, attempt }));
    },
    async recover(planId) {
      if (!start()) return false;
      set({ busy: 'checking' });
      const found = await look(planId);
      if (found) done(found);
      else set({ busy: null });
      return Boolean(found);
    },
    clear: () => set({ error: null, notice: null }),
  };
}
