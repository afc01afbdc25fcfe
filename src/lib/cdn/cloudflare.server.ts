/**
 * Purging by tag at Cloudflare: `POST /zones/{zone}/purge_cache` with `{"tags": […]}` and a Bearer token. Up to 100 tags in a
 * call, on every plan since 2025; calls are rationed by a token bucket (the free plan: 5 a minute, 25 at once), so that what
 * waits for its turn is collected. Source: Cloudflare, "Purge cache", table of limits, and the API reference.
 */
import { postJson } from '../outbound/post.server.ts';
import { type AnswerRules, type CdnVendor, fields, outcomeOf } from './vendor.server.ts';

export interface CloudflareSettings {
  readonly provider: 'cloudflare';
  /** Zone id, setting CLOUDFLARE_ZONE. */
  readonly zone: string;
  /** API token with the permission Zone / Cache Purge, setting CLOUDFLARE_TOKEN. */
  readonly token: string;
  /** Setting CLOUDFLARE_API_URL; {@link cloudflareApiUrl} unless given. */
  readonly apiUrl?: string | undefined;
}

export const cloudflareApiUrl = 'https://api.cloudflare.com/client/v4';

const errorsOf = (json: unknown): { code: number; message: string }[] => {
  const { errors } = fields(json);
  if (!Array.isArray(errors)) return [];
  return errors.map(fields).map(({ code, message }) => ({
    code: typeof code === 'number' ? code : 0,
    message: typeof message === 'string' ? message : '',
  }));
};

const credentialAdvice =
  'set CLOUDFLARE_TOKEN to an API token that has the permission Zone / Cache Purge for the zone of CLOUDFLARE_ZONE';
const targetAdvice =
  'set CLOUDFLARE_ZONE to the zone id from the overview page of the domain, and look at CLOUDFLARE_API_URL';

const rules: AnswerRules = {
  vendor: 'Cloudflare',
  taken: (json) => fields(json).success === true,
  words: (json) =>
    errorsOf(json)
      .map(({ code, message }) => `${code} ${message}`)
      .join('; '),
  credentialAdvice,
  targetAdvice,
  addressAdvice: `CLOUDFLARE_API_URL has to be the address of the API, as a rule ${cloudflareApiUrl}`,
  // Two mistakes come as 400: a token that is malformed (6003, 6111), a zone id that is none (7000, 7003).
  specialAdvice: (json) => {
    const codes = errorsOf(json).map(({ code }) => code);
    if (codes.some((code) => code === 6003 || code === 6111)) return credentialAdvice;
    return codes.some((code) => code === 7000 || code === 7003) ? targetAdvice : null;
  },
};

/** Body of "Purge cached content" in Cloudflare's API reference, where it purges by tags. */
interface PurgeByTags {
  tags: readonly string[];
}

/** @param timeoutMs for one call, answer included */
export function createCloudflare(settings: CloudflareSettings, timeoutMs: number): CdnVendor {
  const base = (settings.apiUrl ?? cloudflareApiUrl).replace(/\/+$/, '');
  const url = `${base}/zones/${encodeURIComponent(settings.zone)}/purge_cache`;
  return {
    batchSize: 100,
    purge: async (keys, _soft, signal) => {
      const headers = { Authorization: `Bearer ${settings.token}` };
      const body = { tags: keys } satisfies PurgeByTags;
      return outcomeOf(await postJson({ url, headers, body, timeoutMs, signal }), rules);
    },
  };
}
