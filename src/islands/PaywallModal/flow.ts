/** The paywall from the choice of a plan to the thanks, without a screen: its steps, its order and its payment held together. */
import { atom, type ReadableAtom } from 'nanostores';
import type * as accountClient from '../../lib/accounts/client.ts';
import type { Session } from '../../lib/accounts/session.ts';
import type * as client from '../../lib/billing/client.ts';
import { priceIn } from '../../lib/billing/currency.ts';
import type { PlansAnswer, Price, Shipping, Subscription, TaxAddress } from '../../lib/billing/wire.ts';
import { formatSum } from '../../lib/money.ts';
import { paywall as messages } from '../../lib/plans/messages.ts';
import type { Attempt, Draft } from '../../stores/paywall.ts';
import type { PaywallPayload } from '../../stores/ui.ts';
import { wordsFor } from '../shared/messages.ts';
import { type AccountStep, createAccountStep } from './account-step.ts';
import { choices, chosenPrice, createOrder, type Order, type OrderCalls } from './order.ts';
import { createPayment, type Payment, type PaymentCalls } from './payment.ts';
import {
  change,
  emailAppeared,
  onward,
  replan,
  type StepName,
  type Steps,
  signedOut,
  startSteps,
  toggle,
} from './steps.ts';

/** As much of a postal address as tax depends on. */
export const placeOf = ({ address }: Shipping): TaxAddress => ({
  country: address.country,
  postal_code: address.postal_code,
});

export interface ShippingState {
  /** The address that is saved with the server. */
  readonly saved: Shipping | null;
  readonly busy: boolean;
  readonly error: string | null;
}

export interface PaywallState {
  readonly phase: 'loading' | 'failed' | 'ready' | 'done';
  /** Why it failed. */
  readonly trouble: string | null;
  readonly plans: PlansAnswer | null;
  /** Prices to choose between; empty when the opener has chosen. */
  readonly choices: readonly Price[];
  readonly steps: Steps;
  /** Of whoever is signed in. */
  readonly email: string | null;
  readonly leaving: boolean;
  readonly shipping: ShippingState;
  /** Said above the sum when it has changed. */
  readonly sumNotice: string | null;
  /** Whether a wallet's sheet stands over the page. */
  readonly walletSheet: boolean;
}

export interface Draftbook {
  get(): Draft;
  keep(change: Draft): void;
  drop(): void;
  openAttempt(): Attempt | null;
  beginAttempt(terms: string): string;
  endAttempt(): void;
}

export interface FlowOptions {
  readonly calls: OrderCalls & PaymentCalls & Pick<typeof client, 'plans' | 'shipping' | 'saveShipping'>;
  readonly accounts: Pick<typeof accountClient, 'verifyEmail' | 'createAndEnter' | 'account'>;
  readonly session: ReadableAtom<Session>;
  readonly drafts: Draftbook;
  readonly payload: PaywallPayload;
  /** Milliseconds between looks for the subscription. */
  readonly looks?: readonly number[];
  refreshSession(): Promise<unknown>;
  signOut(): Promise<{ readonly ok: boolean }>;
  /** It is over: paid, or changed. */
  onDone(subscription: Subscription | null, email: string | null, kind: string): void;
}

export interface PaywallFlow {
  readonly $state: ReadableAtom<PaywallState>;
  readonly account: AccountStep;
  readonly payment: Payment;
  /** `null` until the prices are there. */
  order(): Order | null;
  start(): Promise<void>;
  choose(price: Price): void;
  change(): void;
  toggle(step: StepName): void;
  /** On from a step that is done. */
  next(step: StepName): void;
  logout(): Promise<void>;
  /** Remembers an address that is half typed. */
  typeShipping(address: Partial<Shipping>): void;
  saveShipping(address: Shipping): Promise<void>;
  /** A wallet's sheet stands over the page, or no longer does. */
  setWalletSheet(isOpen: boolean): void;
  /** Says that the sum is another one now. @param due minor units */
  noteSum(due: number): void;
  stop(): void;
}

export function createPaywallFlow(options: FlowOptions): PaywallFlow {
  const { calls, accounts, session, drafts, payload, looks, refreshSession, signOut, onDone } = options;
  const draft = drafts.get();
  const $state = atom<PaywallState>({
    phase: 'loading',
    trouble: null,
    plans: null,
    choices: [],
    steps: startSteps(false, session.get().isAuthenticated),
    email: null,
    leaving: false,
    shipping: { saved: null, busy: false, error: null },
    sumNotice: null,
    walletSheet: false,
  });
  const set = (change: Partial<PaywallState>) => $state.set({ ...$state.get(), ...change });
  const setSteps = (move: (steps: Steps) => Steps) => set({ steps: move($state.get().steps) });
  let order: Order | null = null;
  let over = false;
  let stopSession = () => {};

  const account = createAccountStep({
    calls: accounts,
    email: draft.email ?? '',
    onTyped: (email) => drafts.keep({ email }),
    onEntered: async () => {
      await refreshSession();
    },
  });
  const payment = createPayment({
    calls,
    attempts: { begin: drafts.beginAttempt, end: drafts.endAttempt },
    ...(looks && { looks }),
    onDone: finish,
    onSignedOut() {
      account.reset(messages.signedOut);
      set({ email: null });
      setSteps(signedOut);
      void refreshSession();
    },
    onSum(due) {
      noteSum(due);
      void order?.refresh();
    },
    onStale: () => void order?.refresh(),
  });

  function noteSum(due: number): void {
    const currency = order?.$state.get().price.currency ?? 'usd';
    set({ sumNotice: messages.sumChanged(formatSum(due, currency)) });
  }

  /** What is sent by mail is taxed where it goes. @returns whether the sum is asked for by this */
  function taxWhereSent(): boolean {
    const { plans, shipping } = $state.get();
    if (!order || !plans?.tax || !shipping.saved || !order.$state.get().price.print) return false;
    void order.live(placeOf(shipping.saved));
    return true;
  }

  function finish(subscription: Subscription | null): void {
    if (over) return;
    over = true;
    stopSession();
    const kind = order?.$state.get().quote?.kind ?? 'new';
    drafts.drop();
    set({ phase: 'done' });
    onDone(subscription, $state.get().email, kind);
  }

  /** Who is signed in has changed: here, by a link in another tab, or by a payment there. */
  let known: string | null = null;
  async function heard(now: Session): Promise<void> {
    if (now.status === 'loading' || over) return;
    const who = now.isAuthenticated ? `in ${now.activeProduct ?? ''}` : 'out';
    const before = known;
    if (who === before) return;
    known = who;
    if (!now.isAuthenticated) {
      set({ email: null });
      if (before !== null && before !== 'out') setSteps(signedOut);
      return;
    }
    account.reset();
    const [reader, address] = await Promise.all([
      accounts.account(),
      order?.$state.get().price.print ? calls.shipping() : null,
    ]);
    if (over || known !== who) return;
    if (address?.ok) set({ shipping: { ...$state.get().shipping, saved: address.value?.shipping ?? null } });
    // The e-mail has appeared in the session (spec section 4).
    set({ email: reader.ok ? (reader.value?.identifiers?.email_address ?? '') : '' });
    setSteps(emailAppeared);
    const plan = order?.$state.get().price.zephrPlanId;
    if (plan !== undefined && (drafts.openAttempt()?.sent || (before !== null && now.isPayingSubscriber))) {
      if (await payment.recover(plan)) return;
    }
    // Who is signed in may have a subscription, and then it is a switch.
    if (!over && !taxWhereSent()) await order?.refresh();
  }

  async function loadShipping(): Promise<void> {
    if (!session.get().isAuthenticated || $state.get().shipping.saved) return;
    const answer = await calls.shipping();
    if (answer.ok) set({ shipping: { ...$state.get().shipping, saved: answer.value?.shipping ?? null } });
    taxWhereSent();
  }

  return {
    $state,
    account,
    payment,
    order: () => order,

    async start() {
      set({ phase: 'loading', trouble: null });
      const answer = await calls.plans();
      if (over) return;
      const { prices: sold = [], currency } = (answer.ok && answer.value) || {};
      const prices = sold.map((price) => priceIn(price, currency));
      const price = chosenPrice(prices, payload, draft.planId);
      if (!answer.ok || !price) {
        const trouble = answer.ok ? messages.noPlans : wordsFor(answer, messages.plansFailed);
        return set({ phase: 'failed', trouble });
      }
      order = createOrder(calls, price, (coupon) => drafts.keep({ coupon }));
      drafts.keep({ planId: price.zephrPlanId });
      set({
        phase: 'ready',
        plans: answer.value,
        choices: choices(prices, payload),
        steps: startSteps(price.print, session.get().isAuthenticated),
      });
      known = null;
      stopSession();
      stopSession = session.subscribe((now) => void heard(now));
      // Signed in, the sum is asked for when it is known who asks.
      if (draft.coupon || !session.get().isAuthenticated) await order.begin(draft.coupon ?? '');
    },
    choose(price) {
      if (!order || payment.$state.get().busy) return;
      drafts.keep({ planId: price.zephrPlanId });
      payment.clear();
      set({ sumNotice: null });
      setSteps((steps) => replan(steps, price.print));
      void order.choose(price);
      if (price.print && !taxWhereSent()) void loadShipping();
    },
    change() {
      if (payment.$state.get().busy === null) setSteps(change);
    },
    toggle(step) {
      if (payment.$state.get().busy === null) setSteps((steps) => toggle(steps, step));
    },
    next: (step) => setSteps((steps) => onward(steps, step)),
    async logout() {
      if ($state.get().leaving) return;
      set({ leaving: true });
      const answer = await signOut();
      set({ leaving: false });
      if (!answer.ok) return account.reset(messages.wrong);
      drafts.drop();
      drafts.endAttempt();
      set({ shipping: { saved: null, busy: false, error: null } });
    },
    typeShipping: (shipping) => drafts.keep({ shipping }),
    async saveShipping(address) {
      const { shipping } = $state.get();
      if (shipping.busy) return;
      drafts.keep({ shipping: address });
      set({ shipping: { ...shipping, busy: true, error: null } });
      const answer = await calls.saveShipping(address);
      if (!answer.ok) {
        const error = wordsFor(answer, answer.message ?? messages.wrong);
        return set({ shipping: { ...shipping, busy: false, error } });
      }
      set({ shipping: { saved: address, busy: false, error: null } });
      taxWhereSent();
      setSteps((steps) => onward(steps, 'shipping'));
    },
    setWalletSheet(walletSheet) {
      if ($state.get().walletSheet !== walletSheet) set({ walletSheet });
    },
    noteSum,
    stop() {
      over = true;
      stopSession();
    },
  };
}
