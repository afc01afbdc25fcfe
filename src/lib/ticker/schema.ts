/** What `GET /api/v1/stocks/quote` answers with: an array, in the order of the publication. Empty where there is no ticker. */
import { z } from 'zod';

export const tickerItem = z.object({
  /** Spec section 3, "Market ticker item". */
  name: z.string(),
  price: z.number(),
  /** Since the last closing price, in the unit of `price`. */
  change: z.number(),
  /** With its sign and in parentheses, such as `(+0.52%)`. */
  changePercent: z.string(),
  /** Beyond the specification: the provider's name of it. */
  symbol: z.string(),
  /** When the provider said so, UTC. */
  asOf: z.string(),
  /** Whether that is longer ago than it should be, because the provider does not answer. */
  stale: z.boolean(),
});
export type TickerItem = z.infer<typeof tickerItem>;
