/**
 * Purging by surrogate key at Fastly: `POST /service/{id}/purge` with `{"surrogate_keys": […]}`, up to 256 keys in a call, the
 * token in `Fastly-Key`, `Fastly-Soft-Purge: 1` to mark as stale instead of removing. Source: Fastly, "Purging" in the API
 * reference.
 */
import { postJson } from '../outbound/post.server.ts';
import { type AnswerRules, type CdnVendor, fields, outcomeOf } from './vendor.server.ts';

export interface FastlySettings {
  readonly provider: 'fastly';
  /** Service id, setting FASTLY_SERVICE. */
  readonly service: string;
  /** API token with the scope `purge_select`, setting FASTLY_TOKEN. */
  readonly token: string;
  /** Setting FASTLY_API_URL; {@link fastlyApiUrl} unless given. */
  readonly apiUrl?: string | undefined;
  /** Mark pages as stale instead of removing them; withdrawn content is removed all the same. Off unless given. */
  readonly soft?: boolean | undefined;
}

export const fastlyApiUrl = 'https://api.fastly.com';

const rules: AnswerRules = {
  vendor: 'Fastly',
  // The answer maps each key to the id of its purge.
  taken: (json) => typeof json === 'object' && json !== null && !Array.isArray(json),
  words: (json) => {
    const { msg, detail } = fields(json);
    return [msg, detail].filter((part) => typeof part === 'string' && part !== '').join(': ');
  },
  credentialAdvice: 'set FASTLY_TOKEN to an API token with the scope purge_select for the service of FASTLY_SERVICE',
  targetAdvice: 'set FASTLY_SERVICE to the id of the service, and look at FASTLY_API_URL',
  addressAdvice: `FASTLY_API_URL has to be the address of the API, as a rule ${fastlyApiUrl}`,
  // Fastly's own header holds the moment when the limit is lifted, in seconds since 1970.
  waitOf: (headers) => {
    const reset = Number(headers.get('fastly-ratelimit-reset') ?? Number.NaN);
    return Number.isFinite(reset) ? Math.max(0, reset * 1000 - Date.now()) : null;
  },
};

/** Body of "Purge multiple surrogate keys" in Fastly's API reference. */
interface BatchPurge {
  surrogate_keys: readonly string[];
}

/** @param timeoutMs for one call, answer included */
export function createFastly(settings: FastlySettings, timeoutMs: number): CdnVendor {
  const base = (settings.apiUrl ?? fastlyApiUrl).replace(/\/+$/, '');
  const url = `${base}/service/${encodeURIComponent(settings.service)}/purge`;
  return {
    batchSize: 256,
    purge: async (keys, soft, signal) => {
      const headers: Record<string, string> = { 'Fastly-Key': settings.token };
      if (soft) headers['Fastly-Soft-Purge'] = '1';
      const body = { surrogate_keys: keys } satisfies BatchPurge;
      return outcomeOf(await postJson({ url, headers, body, timeoutMs, signal }), rules);
    },
  };
}
