/** Purge calls of Cloudflare and Fastly, and what their answers mean. */

import type { PostResult } from '../http/post.server.ts';
import { postJson } from '../http/post.server.ts';
import type { Outcome } from '../jobs/delivery.server.ts';

/** One CDN's purge call. */
export interface CdnVendor {
  /** Most keys in one request. */
  readonly batchSize: number;
  /**
   * Purges keys. Never throws.
   *
   * @param soft mark as stale instead of removing, where the vendor can
   */
  purge(keys: readonly string[], soft: boolean, signal: AbortSignal): Promise<Outcome>;
}

/** How one vendor's answers are told apart. */
export interface AnswerRules {
  readonly vendor: string;
  /** Whether a JSON body says that the purge has been taken. */
  readonly taken: (json: unknown) => boolean;
  /** The vendor's own words on what went wrong, '' when it gave none. */
  readonly words: (json: unknown) => string;
  /** What to do about a refused credential, an unknown zone or service, and a wrong address. */
  readonly credentialAdvice: string;
  readonly targetAdvice: string;
  readonly addressAdvice: string;
  /** Advice on an answer that the status alone does not explain. */
  readonly specialAdvice?: (json: unknown) => string | null;
  /** A vendor's own way to say how long to wait, milliseconds. */
  readonly waitOf?: (headers: Headers) => number | null;
}

/** Purging is idempotent: whenever it is not certain that a purge was taken, it is repeated. */
export function outcomeOf(result: PostResult, rules: AnswerRules): Outcome {
  const { vendor } = rules;
  if (!result.answered) return { kind: 'failed', message: `${vendor}: ${result.message}` };
  const { status, json } = result;
  const words = rules.words(json).slice(0, 300);
  const said = `${vendor} answered ${status}${words ? ` (${words})` : ''}`;
  const misconfigured = (advice: string): Outcome => ({ kind: 'misconfigured', message: `${said}: ${advice}` });

  if (status === 408 || status === 429 || status >= 500) {
    return { kind: 'failed', message: said, retryAfterMs: result.retryAfterMs ?? rules.waitOf?.(result.headers) };
  }
  if (status >= 300 && status < 400) return misconfigured(rules.addressAdvice);
  const special = rules.specialAdvice?.(json);
  if (special) return misconfigured(special);
  if (status === 401 || status === 403) return misconfigured(rules.credentialAdvice);
  if (status === 404 || status === 405) return misconfigured(rules.targetAdvice);
  if (status >= 400) return { kind: 'refused', message: said };
  if (json === undefined) {
    return { kind: 'failed', message: `${said} with ${result.form} instead of JSON; ${rules.addressAdvice}` };
  }
  return rules.taken(json) ? { kind: 'accepted' } : { kind: 'refused', message: `${said} without taking the purge` };
}

/** One member of a vendor's JSON answer, whatever that is. */
const field = (json: unknown, name: string): unknown =>
  typeof json === 'object' && json !== null ? Reflect.get(json, name) : undefined;

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
  const errors = field(json, 'errors');
  if (!Array.isArray(errors)) return [];
  return errors.map((error: unknown) => {
    const code = field(error, 'code');
    const message = field(error, 'message');
    return { code: typeof code === 'number' ? code : 0, message: typeof message === 'string' ? message : '' };
  });
};

const credentialAdvice =
  'set CLOUDFLARE_TOKEN to an API token that has the permission Zone / Cache Purge for the zone of CLOUDFLARE_ZONE';
const targetAdvice =
  'set CLOUDFLARE_ZONE to the zone id from the overview page of the domain, and look at CLOUDFLARE_API_URL';

const cloudflareRules: AnswerRules = {
  vendor: 'Cloudflare',
  taken: (json) => field(json, 'success') === true,
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

/**
 * `POST /zones/{zone}/purge_cache` with `{"tags": […]}` and a Bearer token: up to 100 tags in a call, on every plan since 2025. Calls are
 * rationed by a token bucket (the free plan: 5 a minute, 25 at once), so purges that wait go out together. Source: Cloudflare, "Purge
 * cache", table of limits, and the API reference.
 *
 * @param timeoutMs for one call, answer included
 */
export function createCloudflare(settings: CloudflareSettings, timeoutMs: number): CdnVendor {
  const base = (settings.apiUrl ?? cloudflareApiUrl).replace(/\/+$/, '');
  const url = `${base}/zones/${encodeURIComponent(settings.zone)}/purge_cache`;
  return {
    batchSize: 100,
    purge: async (keys, _soft, signal) => {
      const headers = { Authorization: `Bearer ${settings.token}` };
      const body = { tags: keys } satisfies PurgeByTags;
      return outcomeOf(await postJson({ url, headers, body, timeoutMs, signal }), cloudflareRules);
    },
  };
}

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

const fastlyRules: AnswerRules = {
  vendor: 'Fastly',
  // The answer maps each key to the id of its purge.
  taken: (json) => typeof json === 'object' && json !== null && !Array.isArray(json),
  words: (json) =>
    [field(json, 'msg'), field(json, 'detail')].filter((part) => typeof part === 'string' && part !== '').join(': '),
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

/**
 * `POST /service/{id}/purge` with `{"surrogate_keys": […]}`: up to 256 keys in a call, the token in `Fastly-Key`, `Fastly-Soft-Purge: 1` to
 * mark as stale instead of removing. Source: Fastly, "Purging" in the API reference.
 *
 * @param timeoutMs for one call, answer included
 */
export function createFastly(settings: FastlySettings, timeoutMs: number): CdnVendor {
  const base = (settings.apiUrl ?? fastlyApiUrl).replace(/\/+$/, '');
  const url = `${base}/service/${encodeURIComponent(settings.service)}/purge`;
  return {
    batchSize: 256,
    purge: async (keys, soft, signal) => {
      const headers: Record<string, string> = { 'Fastly-Key': settings.token };
      if (soft) headers['Fastly-Soft-Purge'] = '1';
      const body = { surrogate_keys: keys } satisfies BatchPurge;
      return outcomeOf(await postJson({ url, headers, body, timeoutMs, signal }), fastlyRules);
    },
  };
}
