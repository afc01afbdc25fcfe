/** Which price the paywall is opened with, and which it offers where the opener has not chosen. Pure. */
import type { Price } from '../../lib/billing/wire.ts';
import type { PaywallPayload } from '../../stores/ui.ts';

/** The tier that a wall sells. */
const tier = 'sun-reader';

const ordinary = (price: Price) => price.promotion === null && price.pennyHeading === null && !price.print;

/** Whether the opener says which price it is to be. */
const isNamed = ({ planId, priceId, frequency }: PaywallPayload) => Boolean(planId ?? priceId ?? frequency);

/** Ordinary prices of the reader's tier, the yearly one first: it is the cheaper way. */
export const choices = (prices: readonly Price[], payload: PaywallPayload): readonly Price[] =>
  isNamed(payload) ? [] : offered(prices);

const offered = (prices: readonly Price[]): readonly Price[] => {
  const mine = prices.filter((price) => price.product.metadata.zephr_product_id === tier && ordinary(price));
  return mine.toSorted((one, other) => other.unit_amount - one.unit_amount);
};

/**
 * The price that is meant; a name that is not sold (any more) is none, so that nobody pays for what they did not choose.
 *
 * @param remembered the plan that was chosen before in this tab
 */
export function chosenPrice(
  prices: readonly Price[],
  payload: PaywallPayload,
  remembered: string | undefined,
): Price | null {
  const { planId, priceId, frequency } = payload;
  if (planId) return prices.find((price) => price.zephrPlanId === planId) ?? null;
  if (priceId) return prices.find((price) => price.id === priceId) ?? null;
  const mine = offered(prices);
  if (frequency) return mine.find((price) => price.recurring.interval === frequency) ?? null;
  return mine.find((price) => price.zephrPlanId === remembered) ?? mine[0] ?? null;
}
