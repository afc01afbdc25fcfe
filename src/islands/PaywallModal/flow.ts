/** The paywall from the choice of a plan to the payment, without the UI: its steps, its order and its payment. */
import { atom, type ReadableAtom, type WritableAtom } from 'nanostores';
import { createAndEnter, account as fetchAccount, verifyEmail } from '../../lib/accounts/client.ts';
import type { Session } from '../../lib/accounts/session.ts';
import { forgetReader } from '../../lib/article/forget-reader.ts';
import * as client from '../../lib/billing/client.ts';
import { priceIn } from '../../lib/billing/currency.ts';
import type { PlansAnswer, Price, Shipping, Subscription, TaxAddress } from '../../lib/billing/schema.ts';
import { paywall as messages } from '../../lib/plans/messages.ts';
import { $draft, beginAttempt, dropDraft, endAttempt, keepDraft, openAttempt } from '../../stores/paywall.ts';
import { $session, refreshSession, signOut } from '../../stores/session.ts';
import type { PaywallPayload } from '../../stores/ui.ts';
import { refusalMessage } from '../shared/messages.ts';
import { closeAfterPayment } from './after-payment.ts';
import { chosenPrice, createOrder, type Order, ordinaryPrices } from './order.ts';
import { createPayment, isAtRenewal, type Payment } from './payment.ts';
import {
  type AccountStep,
  completeStep,
  createAccountStep,
  emailAppeared,
  reopenAccount,
  type StepName,
  type Steps,
  signedOut,
  startSteps,
  toggle,
  withPlan,
} from './steps.ts';

/** The part of a postal address that tax depends on. */
export const placeOf = ({ address }: Shipping): TaxAddress => ({
  country: address.country,
  postal_code: address.postal_code,
});

export interface PaywallState {
  readonly phase: 'loading' | 'failed' | 'ready' | 'done';
  /** Why the sign-up failed. */
  readonly trouble: string | null;
  readonly plans: PlansAnswer | null;
  /** Prices to choose between; empty when the opener has chosen. */
  readonly choices: readonly Price[];
  readonly steps: Steps;
  /** Email address of the signed-in reader. */
  readonly email: string | null;
  readonly leaving: boolean;
  /** `saved`: the address on the server. */
  readonly shipping: { readonly saved: Shipping | null; readonly busy: boolean; readonly error: string | null };
  /** The sum that replaced the one on the button, in minor units. */
  readonly changedSum: number | null;
  /** Whether a wallet's sheet is open over the page. */
  readonly walletSheet: boolean;
}

export type PaywallFlow = ReturnType<typeof createPaywallFlow>;

/** What the functions of a flow share. */
interface Context {
  readonly payload: PaywallPayload;
  readonly $state: WritableAtom<PaywallState>;
  readonly account: AccountStep;
  readonly payment: Payment;
  order: Order | null;
  /** Whether the order is paid or the paywall is closed: then nothing changes any more. */
  over: boolean;
  /** The session's last state, see {@link signInState}; `null`: not known. */
  signIn: string | null;
  stopSession(): void;
}

const set = ({ $state }: Pick<Context, '$state'>, change: Partial<PaywallState>) =>
  $state.set({ ...$state.get(), ...change });
const setSteps = (context: Pick<Context, '$state'>, move: (steps: Steps) => Steps) =>
  set(context, { steps: move(context.$state.get().steps) });

export function createPaywallFlow(payload: PaywallPayload) {
  const context = createContext(payload);
  const { $state, account, payment } = context;
  const whileIdle = (move: (steps: Steps) => Steps) => {
    if (payment.$state.get().busy === null) setSteps(context, move);
  };
  return {
    $state: $state as ReadableAtom<PaywallState>,
    account,
    payment,
    /** `null` until the prices are there. */
    order: () => context.order,
    start: () => start(context),
    choose: (price: Price) => choose(context, price),
    change: () => whileIdle(reopenAccount),
    toggle: (step: StepName) => whileIdle((steps) => toggle(steps, step)),
    /** Goes on from a completed step. */
    next: (step: StepName) => setSteps(context, (steps) => completeStep(steps, step)),
    logout: () => logout(context),
    /** Stores an incomplete address. */
    typeShipping: (shipping: Partial<Shipping>) => keepDraft({ shipping }),
    saveShipping: (address: Shipping) => saveShipping(context, address),
    /** Notes whether a wallet's sheet is open over the page. */
    setWalletSheet(walletSheet: boolean) {
      if ($state.get().walletSheet !== walletSheet) set(context, { walletSheet });
    },
    /** Shows that the sum has changed. @param due minor units */
    noteSum: (changedSum: number) => set(context, { changedSum }),
    stop() {
      context.over = true;
      context.stopSession();
    },
  };
}

function createContext(payload: PaywallPayload): Context {
  const $state = atom<PaywallState>({
    phase: 'loading',
    trouble: null,
    plans: null,
    choices: [],
    steps: startSteps(false, $session.get().isAuthenticated),
    email: null,
    leaving: false,
    shipping: { saved: null, busy: false, error: null },
    changedSum: null,
    walletSheet: false,
  });
  const account = createAccountStep({
    calls: { verifyEmail, createAndEnter },
    email: $draft.get().email ?? '',
    onTyped: (email) => keepDraft({ email }),
    onEntered: refreshSession,
  });
  const payment = createPayment({
    calls: {
      subscribe: client.subscribe,
      switchPlan: client.switchPlan,
      confirmation: client.confirmation,
      subscription: client.subscription,
    },
    attempts: { begin: beginAttempt, end: endAttempt },
    onDone: (subscription) => finish(context, subscription),
    onSignedOut() {
      account.reset(messages.signedOut);
      set(context, { email: null });
      setSteps(context, signedOut);
      void refreshSession();
    },
    onSum(changedSum) {
      set(context, { changedSum });
      void context.order?.refresh();
    },
    onStale: () => void context.order?.refresh(),
  });
  const context: Context = {
    payload,
    $state,
    account,
    payment,
    order: null,
    over: false,
    signIn: null,
    stopSession: () => {},
  };
  return context;
}

/** Loads the prices, and asks for the first sum. */
async function start(context: Context): Promise<void> {
  const { payload } = context;
  set(context, { phase: 'loading', trouble: null });
  // The session decides which step opens: a signed-in reader never sees the first one.
  const [answer] = await Promise.all([client.plans(), sessionLoaded()]);
  if (context.over) return;
  const { prices: sold = [], currency } = (answer.ok && answer.value) || {};
  const prices = sold.map((price) => priceIn(price, currency));
  const { planId, coupon } = $draft.get();
  const price = chosenPrice(prices, payload, planId);
  if (!answer.ok || !price) {
    const trouble = answer.ok ? messages.noPlans : refusalMessage(answer, messages.plansFailed);
    return set(context, { phase: 'failed', trouble });
  }
  const order = createOrder({ quote: client.quote, coupon: client.coupon }, price, (code) =>
    keepDraft({ coupon: code }),
  );
  context.order = order;
  keepDraft({ planId: price.zephrPlanId });
  const signedIn = $session.get().isAuthenticated;
  set(context, {
    // A signed-in reader's steps wait for their account, which `followSession` loads.
    phase: signedIn ? 'loading' : 'ready',
    plans: answer.value,
    choices: ordinaryPrices(prices, payload),
    steps: startSteps(price.print, signedIn),
  });
  context.signIn = null;
  context.stopSession();
  context.stopSession = $session.subscribe((now) => void followSession(context, now));
  // The order of a signed-in reader also waits for the account.
  if (coupon || !signedIn) await order.begin(coupon ?? '');
}

/** Resolves once the session has loaded. */
const sessionLoaded = () =>
  new Promise<void>((resolve) => {
    let stop = () => {};
    stop = $session.subscribe(({ status }) => {
      if (status === 'loading') return;
      resolve();
      queueMicrotask(() => stop());
    });
  });

/** Whether the reader is signed in, and with which product: what the paywall reacts to. */
const signInState = ({ isAuthenticated, activeProduct }: Session): string =>
  isAuthenticated ? `in ${activeProduct ?? ''}` : 'out';

/** Handles a change of the session: a sign-in or sign-out here, by a link in another tab, or a payment in another tab. */
async function followSession(context: Context, now: Session): Promise<void> {
  if (now.status === 'loading' || context.over) return;
  const signIn = signInState(now);
  const before = context.signIn;
  if (signIn === before) return;
  context.signIn = signIn;
  if (!now.isAuthenticated) {
    set(context, { email: null, phase: 'ready' });
    if (before === null || before === 'out') return;
    setSteps(context, signedOut);
    // The sum may have been that of a subscriber's change of plan.
    return context.order?.refresh();
  }
  context.account.reset();
  const [account, address] = await Promise.all([
    fetchAccount(),
    context.order?.$state.get().price.print ? client.shipping() : null,
  ]);
  if (context.over || context.signIn !== signIn) return;
  if (address?.ok) keepAddress(context, address.value?.shipping ?? null);
  // The email has appeared in the session (spec section 4).
  const email = account.ok ? (account.value?.identifiers?.email_address ?? '') : '';
  set(context, { email, phase: 'ready' });
  setSteps(context, emailAppeared);
  const plan = context.order?.$state.get().price.zephrPlanId;
  const attempt = openAttempt();
  const isOurs = attempt !== null;
  if (plan !== undefined && (isOurs || (before !== null && now.isPayingSubscriber))) {
    // A subscription that was bought elsewhere, perhaps long ago, is not a new one.
    const kind = isOurs ? undefined : 'same';
    const wanted = { planId: plan, atRenewal: attempt !== null && isAtRenewal(attempt.terms) };
    if (await context.payment.recover(wanted, (subscription) => finish(context, subscription, kind))) return;
  }
  // The reader may have a subscription; then the order is a change of plan.
  if (!context.over && !taxAtAddress(context)) await context.order?.refresh();
}

function finish(
  context: Context,
  subscription: Subscription | null,
  kind = context.order?.$state.get().quote?.kind ?? 'new',
): void {
  if (context.over) return;
  context.over = true;
  context.stopSession();
  dropDraft();
  set(context, { phase: 'done' });
  void closeAfterPayment(subscription, context.$state.get().email, kind);
}

function choose(context: Context, price: Price): void {
  const { order, payment } = context;
  if (!order || payment.$state.get().busy) return;
  keepDraft({ planId: price.zephrPlanId });
  payment.clear();
  set(context, { changedSum: null });
  setSteps(context, (steps) => withPlan(steps, price.print));
  void order.choose(price);
  if (price.print && !taxAtAddress(context)) void loadShipping(context);
}

async function logout(context: Context): Promise<void> {
  const { $state, account } = context;
  if ($state.get().leaving) return;
  set(context, { leaving: true });
  const answer = await signOut();
  // 401: the session has already ended.
  const isOut = answer.ok || answer.status === 401;
  if (isOut) await forgetReader();
  set(context, { leaving: false });
  if (!isOut) return account.reset(messages.wrong);
  dropDraft();
  endAttempt();
  set(context, { shipping: { saved: null, busy: false, error: null } });
}

const keepAddress = (context: Context, saved: Shipping | null) =>
  set(context, { shipping: { ...context.$state.get().shipping, saved } });

/** Print subscriptions are taxed at their delivery address. @returns whether that requested the sum */
function taxAtAddress({ $state, order }: Context): boolean {
  const { plans, shipping } = $state.get();
  if (!order || !plans?.tax || !shipping.saved || !order.$state.get().price.print) return false;
  void order.setPlace(placeOf(shipping.saved));
  return true;
}

async function loadShipping(context: Context): Promise<void> {
  if (!$session.get().isAuthenticated || context.$state.get().shipping.saved) return;
  const answer = await client.shipping();
  if (answer.ok) keepAddress(context, answer.value?.shipping ?? null);
  taxAtAddress(context);
}

async function saveShipping(context: Context, address: Shipping): Promise<void> {
  const { shipping } = context.$state.get();
  if (shipping.busy) return;
  keepDraft({ shipping: address });
  set(context, { shipping: { ...shipping, busy: true, error: null } });
  const answer = await client.saveShipping(address);
  if (!answer.ok) {
    const error = refusalMessage(answer, answer.message ?? messages.wrong);
    return set(context, { shipping: { ...shipping, busy: false, error } });
  }
  set(context, { shipping: { saved: address, busy: false, error: null } });
  taxAtAddress(context);
  setSteps(context, (steps) => completeStep(steps, 'shipping'));
}
