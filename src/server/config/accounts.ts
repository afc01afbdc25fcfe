/** Settings of the accounts: the secret, and the social providers. */
import { z } from 'zod';
import type { FacebookSettings, GoogleSettings } from '../../lib/accounts/social-providers.server.ts';
import { type Limits, readLimits } from '../../lib/http/limits.ts';
import { apiAddress, whole } from './fields.ts';

export interface AccountsConfig {
  /** What codes, links and sessions are kept under; `null`: one is made once and kept in the data folder. */
  readonly secret: string | null;
  /** Days that the audit trail is kept. */
  readonly auditDays: number;
  readonly limits: Limits;
  /** `null`: nobody signs in with Google. */
  readonly google: GoogleSettings | null;
  readonly facebook: FacebookSettings | null;
}

export const accountsFields = {
  ACCOUNTS_SECRET: z
    .string()
    .min(32, 'is shorter than 32 characters; make one up, for instance with "openssl rand -hex 32"')
    .optional(),
  AUDIT_DAYS: whole(90, 1, 3650, 'the days that the audit trail is kept'),
  ACCOUNT_LIMITS: z
    .string()
    .optional()
    .transform((text, context): Limits => {
      const read = readLimits(text ?? '');
      if ('limits' in read) return read.limits;
      for (const problem of read.problems) context.addIssue(problem);
      return z.NEVER;
    }),
  GOOGLE_CLIENT_ID: z.string().optional(),
  GOOGLE_CLIENT_SECRET: z.string().optional(),
  GOOGLE_ISSUER_URL: apiAddress('https://accounts.google.com'),
  FACEBOOK_CLIENT_ID: z.string().optional(),
  FACEBOOK_CLIENT_SECRET: z.string().optional(),
  FACEBOOK_URL: apiAddress('https://www.facebook.com'),
  FACEBOOK_GRAPH_URL: apiAddress('https://graph.facebook.com'),
};

type Values = z.infer<z.ZodObject<typeof accountsFields>>;

/** That nothing is missing is {@link accountsTogether}'s business. */
export function accountsOf(values: Values): AccountsConfig {
  const pair = (clientId: string | undefined, clientSecret: string | undefined) =>
    clientId && clientSecret ? { clientId, clientSecret } : null;
  const google = pair(values.GOOGLE_CLIENT_ID, values.GOOGLE_CLIENT_SECRET);
  const facebook = pair(values.FACEBOOK_CLIENT_ID, values.FACEBOOK_CLIENT_SECRET);
  return {
    secret: values.ACCOUNTS_SECRET ?? null,
    auditDays: values.AUDIT_DAYS,
    limits: values.ACCOUNT_LIMITS,
    google: google && { ...google, url: values.GOOGLE_ISSUER_URL ?? 'https://accounts.google.com' },
    facebook: facebook && {
      ...facebook,
      url: values.FACEBOOK_URL ?? 'https://www.facebook.com',
      graphUrl: values.FACEBOOK_GRAPH_URL ?? 'https://graph.facebook.com',
    },
  };
}

/** Problems of settings that make sense only together. */
export function accountsTogether(given: Readonly<Record<string, string>>): string[] {
  return ['GOOGLE', 'FACEBOOK'].flatMap((provider) => {
    const [id, secret] = [`${provider}_CLIENT_ID`, `${provider}_CLIENT_SECRET`];
    if (given[id] && !given[secret]) return [`${secret} is missing; set it beside ${id}, or remove ${id}`];
    if (given[secret] && !given[id]) return [`${id} is missing; set it beside ${secret}, or remove ${secret}`];
    return [];
  });
}
