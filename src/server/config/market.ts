/** Settings of the market ticker's provider. */
import { z } from 'zod';
import type { QuotesAccess } from '../../lib/ticker/twelve-data.server.ts';
import { apiAddress } from './fields.ts';

export interface MarketConfig {
  /** `null`: there is no ticker. */
  readonly market: QuotesAccess | null;
}

const twelveData = 'https://api.twelvedata.com';

export const marketFields = {
  QUOTES_KEY: z
    .string()
    .regex(/^[\x21-\x7e]{1,200}$/, 'is no key; copy it from the account of the provider')
    .optional(),
  QUOTES_URL: apiAddress(twelveData),
};

export const marketOf = ({
  QUOTES_KEY: key,
  QUOTES_URL: url,
}: z.infer<z.ZodObject<typeof marketFields>>): MarketConfig => ({
  market: key === undefined ? null : { key, url: url ?? twelveData },
});
