/** Settings of the retention widget (vendors.md 4), through which readers who pay may leave. */
import { z } from 'zod';
import { apiAddress } from './fields.ts';

export interface RetentionSettings {
  readonly appId: string;
  /** Signs the number of a customer; never leaves the server. */
  readonly apiKey: string;
  readonly scriptUrl: string;
  /** The same as the payment provider's. */
  readonly mode: 'live' | 'test';
}

export interface RetentionConfig {
  /** `null`: our own pages alone. */
  readonly retention: RetentionSettings | null;
}

export const retentionScript = 'https://assets.churnkey.co/js/app.js';

export const retentionFields = {
  CHURNKEY_APP_ID: z
    .string()
    .regex(/^[\w-]+$/, 'is no app id; copy it from the settings of the account')
    .optional(),
  CHURNKEY_API_KEY: z.string().optional(),
  CHURNKEY_SCRIPT_URL: apiAddress(retentionScript),
};

type Values = z.infer<z.ZodObject<typeof retentionFields>> & { readonly STRIPE_SECRET_KEY?: string | undefined };

/** That nothing is missing is {@link retentionTogether}'s business. */
export function retentionOf(values: Values): RetentionConfig {
  const { CHURNKEY_APP_ID: appId, CHURNKEY_API_KEY: apiKey, CHURNKEY_SCRIPT_URL: scriptUrl = retentionScript } = values;
  if (!appId || !apiKey) return { retention: null };
  const mode = /^[a-z]+_live_/.test(values.STRIPE_SECRET_KEY ?? '') ? 'live' : 'test';
  return { retention: { appId, apiKey, scriptUrl, mode } };
}

/** Problems of settings that make sense only together. */
export function retentionTogether(given: Readonly<Record<string, string>>): string[] {
  const [id, key] = ['CHURNKEY_APP_ID', 'CHURNKEY_API_KEY'];
  return [
    [id, key],
    [key, id],
  ].flatMap(([one = '', other = '']) =>
    given[one] && !given[other] ? [`${other} is missing; set it beside ${one}, or remove ${one}`] : [],
  );
}
