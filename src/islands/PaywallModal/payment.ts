/**
 * Paying (spec section 4, "Payment"), without the UI. Never twice: each purchase has an attempt number, a missing answer is looked up
 * before the next request, and only the server ends an attempt.
 */
import { atom, type ReadableAtom, type WritableAtom } from 'nanostores';
import type * as client from '../../lib/billing/client.ts';
import { refusalOf } from '../../lib/billing/client.ts';
import type {
  SubscribeAnswer,
  SubscribeBody,
  Subscription,
  SwitchAnswer,
  TaxAddress,
} from '../../lib/billing/schema.ts';
import { mayRenew } from '../../lib/billing/subscription-model.ts';
import type { Refused, Reply } from '../../lib/http/ask.ts';
import { paywall as messages } from '../../lib/plans/messages.ts';

/** The card form, as far as a payment uses it. */
export interface CardForm {
  /** `pm_…` of what was typed, or what is wrong with it. */
  paymentMethod(): Promise<CardResult<string>>;
  /** Lets the reader confirm the payment with their bank. */
  authenticate(clientSecret: string): Promise<CardResult<null>>;
}

/** What the card form answers. */
export type CardResult<T> =
  | { readonly ok: true; readonly value: T }
  /** `shown`: the form already shows the message, next to the field. */
  | { readonly ok: false; readonly message: string; readonly shown: boolean };

export interface PaymentState {
  /** `paying`: sent; `confirming`: the bank asks; `checking`: its outcome is looked up. */
  readonly busy: 'paying' | 'confirming' | 'checking' | null;
  /** A sentence, and Stripe's message. */
  readonly error: { readonly text: string; readonly detail: string | null } | null;
  /** Information that is not an error. */
  readonly notice: string | null;
}

/** What is bought, and at what price. */
export interface Purchase {
  readonly productId: string;
  readonly planId: string;
  readonly coupon: string | null;
  /** The sum on the button, in minor units. */
  readonly expected: number;
  readonly prorationDate: number | null;
  /** The subscription whose plan changes. */
  readonly subscriptionId?: string | undefined;
  /** Whether it is a change of plan that begins with the next bill. */
  readonly atRenewal?: boolean;
  readonly currency: string;
  /** Where the buyer lives, where tax depends on it. */
  readonly address: TaxAddress | null;
}

/** What shows that an attempt has succeeded. */
export type Wanted = Pick<Purchase, 'planId' | 'atRenewal'>;

const termsOfChange = ({ planId, expected, atRenewal }: Purchase): string =>
  JSON.stringify([atRenewal ? 'change at renewal' : 'switch', planId, expected]);

/** Whether an attempt that was begun on an earlier page is a change that begins with the next bill. */
export const isAtRenewal = (terms: string): boolean => terms.startsWith('["change at renewal"');

export type PaymentCalls = Pick<typeof client, 'subscribe' | 'switchPlan' | 'confirmation' | 'subscription'>;

export interface Options {
  readonly calls: PaymentCalls;
  readonly attempts: { begin(terms: string): string; end(): void };
  /** Pauses before each lookup of the subscription, milliseconds. */
  readonly lookupPauses?: readonly number[];
  /** Paid, or changed. `null`: it succeeded, but the subscription could not be read. */
  onDone(subscription: Subscription | null): void;
  onSignedOut(): void;
  /** Stripe would charge another sum. */
  onSum(due: number): void;
  /** The order may be out of date: there is a subscription already, or the offer was used. */
  onStale(): void;
}

export type Payment = ReturnType<typeof createPayment>;

/** What the steps of a payment share. */
interface Context extends Options {
  readonly lookupPauses: readonly number[];
  readonly $state: WritableAtom<PaymentState>;
}

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const set = ({ $state }: Context, change: Partial<PaymentState>) => $state.set({ ...$state.get(), ...change });
const fail = (context: Context, text: string, detail: string | null = null) =>
  set(context, { busy: null, error: { text, detail }, notice: null });
/** Logs the kind of a failure and nothing about the reader (spec section 8, "Console-only"). */
const log = (what: string) => console.error(`Paywall: ${what}`);

export function createPayment(options: Options) {
  const { lookupPauses = [0, 400, 800, 1500, 3000, 5000] } = options;
  const $state = atom<PaymentState>({ busy: null, error: null, notice: null });
  const context: Context = { ...options, lookupPauses, $state };
  return {
    $state: $state as ReadableAtom<PaymentState>,
    async buy(purchase: Purchase, card: CardForm): Promise<void> {
      if (start(context)) await buy(context, purchase, card);
    },
    async change(purchase: Purchase, card: Pick<CardForm, 'authenticate'>): Promise<void> {
      if (!start(context)) return;
      const { planId, expected, prorationDate, subscriptionId } = purchase;
      const attempt = options.attempts.begin(termsOfChange(purchase));
      const ask = { planId, expected, prorationDate: prorationDate ?? undefined, subscriptionId, attempt };
      await handle(context, await options.calls.switchPlan(ask), purchase, card);
    },
    /**
     * Looks up how an attempt ended that was under way when the page was left.
     *
     * @returns whether it is paid; then `onFound` was called
     */
    async recover(wanted: Wanted, onFound = options.onDone): Promise<boolean> {
      if (!start(context)) return false;
      set(context, { busy: 'checking' });
      const found = await findSubscription(context, wanted);
      if (found) done(context, found, onFound);
      else set(context, { busy: null });
      return Boolean(found);
    },
    clear: () => set(context, { error: null, notice: null }),
  };
}

/** @returns whether no other payment was under way */
function start(context: Context): boolean {
  if (context.$state.get().busy !== null) return false;
  set(context, { busy: 'paying', error: null, notice: null });
  return true;
}

async function buy(context: Context, purchase: Purchase, card: CardForm): Promise<void> {
  const method = await card.paymentMethod();
  if (!method.ok) return method.shown ? set(context, { busy: null }) : fail(context, method.message);
  const { productId, planId, coupon, expected, currency, address } = purchase;
  const attempt = context.attempts.begin(JSON.stringify(['buy', planId, coupon, expected, currency]));
  const body: SubscribeBody = {
    payment_method: method.value,
    product_id: productId,
    plan_id: planId,
    attempt,
    expected,
    currency,
  };
  if (coupon !== null) body.discount_code = coupon;
  if (address) body.address = address;
  await handle(context, await context.calls.subscribe(body), purchase, card);
}

/** The three outcomes of spec section 4, and refusals. */
async function handle(
  context: Context,
  reply: Reply<SubscribeAnswer | SwitchAnswer>,
  wanted: Wanted,
  card: Pick<CardForm, 'authenticate'>,
): Promise<void> {
  if (!reply.ok) return refused(context, reply, wanted);
  const answer = reply.value;
  if (answer?.paymentType !== 'recurring') {
    log(`unknown payment type ${String(answer?.paymentType).slice(0, 40)}`);
    return fail(context, messages.wrong);
  }
  // A change at renewal costs nothing now, and the old plan still runs.
  if ('effective' in answer && answer.effective === 'renewal') return done(context, null);
  const { paymentIntentStatus: status } = answer;
  if (status === 'requires_payment_method') {
    context.attempts.end();
    log('payment method required');
    return fail(context, messages.paymentFailed);
  }
  if (status === 'requires_action' || status === 'requires_confirmation') {
    return authenticate(context, answer, wanted, card);
  }
  if (!answer.grant_id) log(`generic failure: ${status}, and no grant_id`);
  const found = await waitForSubscription(context, wanted);
  if (found || answer.grant_id) return done(context, found);
  set(context, { busy: null, error: null, notice: messages.pending });
}

/** Lets the reader confirm with the bank, then reports it to the server. */
async function authenticate(
  context: Context,
  { clientSecret, subscriptionId }: SubscribeAnswer,
  wanted: Wanted,
  card: Pick<CardForm, 'authenticate'>,
): Promise<void> {
  if (clientSecret === null) {
    log('unknown confirmation url');
    return fail(context, messages.wrong);
  }
  set(context, { busy: 'confirming' });
  const proof = await card.authenticate(clientSecret);
  if (!proof.ok) {
    context.attempts.end();
    log('payment failed at the bank');
    return fail(context, messages.paymentFailed, proof.message);
  }
  set(context, { busy: 'checking' });
  const end = await context.calls.confirmation(subscriptionId);
  if (!end.ok) return refused(context, end, wanted);
  if (!end.value?.grant_id) log('generic failure: confirmed, and no grant_id');
  done(context, await waitForSubscription(context, wanted));
}

async function refused(context: Context, answer: Refused, wanted: Wanted): Promise<void> {
  const { attempts, onSignedOut, onStale } = context;
  const { status } = answer;
  const { due, message = null, code } = refusalOf(answer);
  if (status === 0 || status >= 500 || status === 408) return unclear(context, wanted, status);
  if (status === 401) {
    set(context, { busy: null, error: null, notice: null });
    return onSignedOut();
  }
  if (status === 409) return conflict(context, wanted, due, message);
  if (status === 429) return fail(context, message ?? messages.limited);
  attempts.end();
  log(`payment refused (${status}${code ? `, ${code}` : ''})`);
  fail(context, messages.paymentFailed, message === messages.paymentFailed ? null : message);
  // The plan, the coupon or the address is no longer valid.
  if (status === 400) onStale();
}

/** The sum has changed, or the plan was bought in another tab. */
async function conflict(context: Context, wanted: Wanted, due: number | undefined, message: string | null) {
  if (due !== undefined) {
    context.attempts.end();
    set(context, { busy: null, error: null, notice: null });
    return context.onSum(due);
  }
  set(context, { busy: 'checking' });
  const found = await findSubscription(context, wanted);
  if (found) return done(context, found);
  fail(context, message ?? messages.wrong);
  context.onStale();
}

/** No answer came, or none that says how the payment ended. */
async function unclear(context: Context, wanted: Wanted, status: number): Promise<void> {
  set(context, { busy: 'checking' });
  const found = await findSubscription(context, wanted);
  if (found) return done(context, found);
  // The attempt stays open: the same number resumes it.
  if (found === undefined) return fail(context, messages.offline, messages.safe);
  fail(context, status === 0 ? messages.unfinished : messages.paymentFailed, messages.safe);
}

function done(context: Context, subscription: Subscription | null, onDone = context.onDone): void {
  context.attempts.end();
  set(context, { busy: null, error: null, notice: null });
  onDone(subscription);
}

/** @returns the subscription; `null`: there is none; `undefined`: the server didn't answer */
async function findSubscription({ calls }: Context, wanted: Wanted): Promise<Subscription | null | undefined> {
  const answer = await calls.subscription();
  if (!answer.ok) return answer.status === 401 || answer.status === 404 ? null : undefined;
  const found = answer.value?.subscription;
  // The plan that begins with the next bill may be the present one, at another price.
  const plan = wanted.atRenewal ? found?.next?.planId : found?.planId;
  return found && mayRenew(found) && plan === wanted.planId ? found : null;
}

async function waitForSubscription(context: Context, wanted: Wanted): Promise<Subscription | null> {
  set(context, { busy: 'checking' });
  for (const pause of context.lookupPauses) {
    await wait(pause);
    const found = await findSubscription(context, wanted);
    if (found) return found;
  }
  return null;
}
