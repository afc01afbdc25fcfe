/**
 * Puts the later phases of a released schedule back. Stripe keeps the phases of a schedule that was released, so those that the publisher
 * has planned in the dashboard can be planned again as they were, however many there are.
 */
import type Stripe from 'stripe';
import type { StripeState } from '../subscription-model.ts';
import { idOf } from './fetch-subscription.server.ts';
import { ifMissing } from './stripe.server.ts';

type Phase = Stripe.SubscriptionSchedule.Phase;
type PhaseParams = Stripe.SubscriptionScheduleUpdateParams.Phase;

/** What is left of a schedule. Times are Unix seconds. */
export interface LeftPhases {
  readonly endBehavior: Stripe.SubscriptionScheduleUpdateParams.EndBehavior;
  /** Whether it named a card for phases without one of their own. */
  readonly hasCard: boolean;
  /** Discounts that the subscription was given since then are kept. */
  readonly since: number;
  /** The phase before: its discounts end with it. Only for a schedule that still runs. */
  readonly present?: Phase | undefined;
  /** When the first of its later phases begins. */
  readonly begins: number;
  /** Of the schedule. */
  readonly metadata?: Stripe.Metadata | null;
  /** The phases that haven't begun, with at least one. */
  readonly phases: readonly Phase[];
}

/**
 * The phases of the schedule that was released from a subscription; `null` if none is left. A phase that should have begun in the
 * meantime begins with the next bill: what was charged for this period stays.
 *
 * @param now epoch milliseconds @throws StripeError
 */
export async function findReleased(stripe: Stripe, state: StripeState, now: number): Promise<LeftPhases | null> {
  const found = state.released
    ? await stripe.subscriptionSchedules.retrieve(state.released).catch(ifMissing(null))
    : null;
  if (found?.released_subscription !== state.id || found.released_at === null) return null;
  const { default_settings: settings, end_behavior: endBehavior, released_at: releasedAt, metadata, phases } = found;
  const hasCard = settings.default_payment_method !== null;
  const present = phases.find(({ start_date: start, end_date: end }) => start <= releasedAt && releasedAt < end);
  if (!present) return null;
  const begins = present.end_date * 1000 > now ? present.end_date : Math.floor(state.periodEnd / 1000);
  const left = phases.filter(({ end_date: end }) => end > begins);
  return left.length === 0 ? null : { endBehavior, hasCard, since: releasedAt, begins, metadata, phases: left };
}

/**
 * Later phases as parameters, with all that the dashboard offers for a phase. Each begins where the one before ends.
 *
 * @param running the subscription with its discounts: phases are charged to its card, which may have been replaced, and keep the discounts
 *   that it was given since the release, or since the schedule was made
 * @param end the day on which the publisher ends the subscription, Unix seconds; `null`: there is none
 */
export function phasesAgain(left: LeftPhases, running: Stripe.Subscription, end: number | null): PhaseParams[] {
  const { phases, since, present, begins } = left;
  const had = running.discounts.filter((one) => typeof one !== 'string');
  const ofPresent = new Set((present ? discountsOf(present.discounts) : []).flatMap((one) => Object.values(one)));
  const given = had.filter(
    ({ id, start, end: until, source, promotion_code: code }) =>
      start >= since &&
      (until === null || until > begins) &&
      ![id, idOf(source.coupon), idOf(code)].some((one) => one !== null && ofPresent.has(one)),
  );
  const current = new Set(had.map(({ id }) => id));
  const card = idOf(running.default_payment_method);
  return phases.map((phase, index) => {
    const params = paramsOf(phase);
    // A discount that has ended can't be named again.
    const own = discountsOf(phase.discounts).filter(({ discount }) => discount === undefined || current.has(discount));
    const discounts = [...own, ...given.map(({ id }) => ({ discount: id }))];
    if (discounts.length > 0) params.discounts = discounts;
    if (phase.default_payment_method !== null && card !== null) params.default_payment_method = card;
    if (end !== null && index === phases.length - 1) params.end_date = end;
    return params;
  });
}

/** The fields that a publisher can set. Those of Connect don't occur: a newspaper charges for itself. */
function paramsOf(phase: Phase): PhaseParams {
  const { automatic_tax: tax, billing_cycle_anchor: anchor, collection_method: collection, trial_end: trial } = phase;
  const { days_until_due: days = null } = phase.invoice_settings ?? {};
  const params: PhaseParams = {
    items: phase.items.map((item) => ({
      price: idOf(item.price) ?? '',
      quantity: item.quantity ?? 1,
      ...lineOf(item),
    })),
    end_date: phase.end_date,
    proration_behavior: phase.proration_behavior,
    metadata: phase.metadata ?? {},
  };
  const extra = phase.add_invoice_items.map((item) => ({
    price: idOf(item.price) ?? '',
    quantity: item.quantity ?? 1,
    period: item.period,
    ...lineOf(item),
  }));
  if (extra.length > 0) params.add_invoice_items = extra;
  if (tax?.enabled) params.automatic_tax = { enabled: true };
  if (anchor !== null) params.billing_cycle_anchor = anchor;
  if (collection !== null) params.collection_method = collection;
  if (days !== null) params.invoice_settings = { days_until_due: days };
  if (phase.description !== null) params.description = phase.description;
  if (trial !== null) params.trial_end = trial;
  const rates = ratesOf(phase.default_tax_rates);
  if (rates.length > 0) params.default_tax_rates = rates;
  return params;
}

/** What items and added items have in common; empty fields are left out. */
function lineOf({
  discounts,
  metadata,
  tax_rates: taxRates,
}: Pick<Phase['items'][number], 'discounts' | 'metadata' | 'tax_rates'>) {
  const [own, rates] = [discountsOf(discounts), ratesOf(taxRates)];
  return {
    ...(own.length > 0 && { discounts: own }),
    ...(metadata !== null && Object.keys(metadata).length > 0 && { metadata }),
    ...(rates.length > 0 && { tax_rates: rates }),
  };
}

const ratesOf = (rates: Phase['default_tax_rates']): string[] => (rates ?? []).map(({ id }) => id);

/** Each discount names one of the three. Stripe's examples have phases whose `discounts` is `null`. */
const discountsOf = (
  discounts: Phase['discounts'] | null,
): { coupon?: string; discount?: string; promotion_code?: string }[] =>
  (discounts ?? []).map((one) => {
    const [discount, code] = [idOf(one.discount), idOf(one.promotion_code)];
    if (discount !== null) return { discount };
    return code === null ? { coupon: idOf(one.coupon) ?? '' } : { promotion_code: code };
  });
