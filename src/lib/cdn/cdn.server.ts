/** Purges the CDN in front of the site by tag: it removes the pages that carry the tags. */
import { z } from 'zod';
import { tag } from '../content/tags.ts';
import { type PostResult, postJson } from '../http/post.server.ts';
import { createDeliveryQueue, type DeliveryQueue, type DeliveryTuning, type Outcome } from '../jobs/delivery.server.ts';
import type { Logger } from '../logging.ts';
import { purgeKeys } from './model.ts';

export type CdnSettings = CloudflareSettings | FastlySettings;

export interface CdnStats {
  readonly provider: CdnSettings['provider'] | null;
  /** Keys that the vendor has purged, including coarser ones. */
  readonly purged: number;
  /** Keys given up: refused by the vendor, or not sent before the server stopped. */
  readonly failed: number;
  /** Keys that are waiting or being sent. */
  readonly pending: number;
  readonly requests: number;
  readonly failedRequests: number;
  /** The problem, in words for the operator; `null` while there is none. */
  readonly problem: string | null;
}

export interface PurgeOptions {
  /** The content may not be seen any more: removed even where purges are soft. */
  readonly withdrawn?: boolean;
}

export interface Cdn {
  /**
   * Has the CDN remove every page that carries one of the tags. Returns at once; equal tags within 250 ms are one.
   *
   * Call it only AFTER the new pages are stored (or the withdrawal has taken effect): the CDN requests a page again within
   * milliseconds, and stores the response.
   */
  purge(tags: Iterable<string>, options?: PurgeOptions): void;
  /** Resolves when nothing is waiting; it doesn't resolve while the vendor is down or refuses requests. */
  idle(): Promise<void>;
  stats(): CdnStats;
  /**
   * Sends what is waiting, for five seconds at most.
   *
   * @returns number of keys that could not be sent. They are lost: at the next start, or after a crash, the caller should purge
   *   `site`
   */
  close(): Promise<number>;
}

const off: Cdn = {
  purge: () => {},
  idle: async () => {},
  stats: () => ({
    provider: null,
    purged: 0,
    failed: 0,
    pending: 0,
    requests: 0,
    failedRequests: 0,
    problem: null,
  }),
  close: async () => 0,
};

/** Creates the purger of the CDN. Nothing is sent before the first purge. @param settings `null`: there is no CDN to purge */
export function openCdn(settings: CdnSettings | null, log: Logger, tuning: DeliveryTuning = {}): Cdn {
  if (settings === null) return off;
  const { timeoutMs = 10_000, ...times } = tuning;
  const vendor = settings.provider === 'cloudflare' ? cloudflare(settings) : fastly(settings);
  const queue = (soft: boolean): DeliveryQueue =>
    createDeliveryQueue({
      name: soft ? 'Soft CDN purge' : 'CDN purge',
      batchSize: vendor.batchSize,
      collectMs: 250,
      limit: 10_000,
      // Every page has this tag, so purging it covers everything that was waiting.
      overflow: () => [tag.site],
      // A page that isn't purged stays outdated for its whole lifetime, so failed purges are retried forever.
      tries: Number.POSITIVE_INFINITY,
      backOffMs: [500, 60_000],
      // Retried later, because operators often grant missing permissions later.
      misconfiguredMs: 300_000,
      closeMs: 5000,
      ...times,
      send: async (keys, signal) => {
        const { url } = vendor;
        const request = { url, headers: vendor.headers(soft), body: vendor.body(keys), timeoutMs, signal };
        return outcomeOf(await postJson(request), vendor);
      },
      log,
    });
  const hard = queue(false);
  const soft = settings.provider === 'fastly' && settings.soft ? queue(true) : null;
  const queues = soft ? [hard, soft] : [hard];

  return {
    purge(tags, { withdrawn = false } = {}) {
      const keys = purgeKeys(tags);
      if (keys.length > 0) (withdrawn ? hard : (soft ?? hard)).add(keys);
    },
    idle: async () => {
      await Promise.all(queues.map((each) => each.idle()));
    },
    stats: () => {
      const all = queues.map((each) => each.stats());
      const sum = (pick: (stats: (typeof all)[number]) => number): number =>
        all.reduce((total, each) => total + pick(each), 0);
      return {
        provider: settings.provider,
        purged: sum((each) => each.accepted),
        failed: sum((each) => each.failed),
        pending: sum((each) => each.pending),
        requests: sum((each) => each.requests),
        failedRequests: sum((each) => each.failedRequests),
        problem: all.find((each) => each.problem !== null)?.problem ?? null,
      };
    },
    close: async () => {
      const unsent = await Promise.all(queues.map((each) => each.close()));
      return unsent.reduce((total, each) => total + each, 0);
    },
  };
}

// Purge calls of Cloudflare and Fastly, and their responses.

interface CdnVendor {
  readonly name: string;
  /** Most keys in one request. */
  readonly batchSize: number;
  readonly url: string;
  /** @param soft mark as stale instead of removing, where the vendor can */
  readonly headers: (soft: boolean) => Readonly<Record<string, string>>;
  readonly body: (keys: readonly string[]) => unknown;
  /** Whether a JSON body says that the purge was accepted. */
  readonly isAccepted: (json: unknown) => boolean;
  /** The vendor's error message, '' if there is none. */
  readonly errorIn: (json: unknown) => string;
  /** Advice for a refused credential, an unknown zone or service, and a wrong address. */
  readonly credentialAdvice: string;
  readonly targetAdvice: string;
  readonly addressAdvice: string;
  /** Advice for a response that the status alone doesn't explain. */
  readonly specialAdvice?: (json: unknown) => string | null;
  /** A vendor's own way to say how long to wait, milliseconds. */
  readonly waitOf?: (headers: Headers) => number | null;
}

/** Purging is idempotent, so it is repeated whenever it is uncertain that a purge was accepted. */
function outcomeOf(result: PostResult, vendor: CdnVendor): Outcome {
  if (!result.answered) return { kind: 'failed', message: `${vendor.name}: ${result.message}` };
  const { status, json } = result;
  const error = vendor.errorIn(json).slice(0, 300);
  const reply = `${vendor.name} answered ${status}${error ? ` (${error})` : ''}`;
  const misconfigured = (advice: string): Outcome => ({ kind: 'misconfigured', message: `${reply}: ${advice}` });

  if (status === 408 || status === 429 || status >= 500) {
    return { kind: 'failed', message: reply, retryAfterMs: result.retryAfterMs ?? vendor.waitOf?.(result.headers) };
  }
  if (status >= 300 && status < 400) return misconfigured(vendor.addressAdvice);
  const special = vendor.specialAdvice?.(json);
  if (special) return misconfigured(special);
  if (status === 401 || status === 403) return misconfigured(vendor.credentialAdvice);
  if (status === 404 || status === 405) return misconfigured(vendor.targetAdvice);
  if (status >= 400) return { kind: 'refused', message: reply };
  if (json === undefined) {
    return { kind: 'failed', message: `${reply} with ${result.form} instead of JSON; ${vendor.addressAdvice}` };
  }
  return vendor.isAccepted(json)
    ? { kind: 'accepted' }
    : { kind: 'refused', message: `${reply} without accepting the purge` };
}

interface CloudflareSettings {
  readonly provider: 'cloudflare';
  /** Zone id, setting CLOUDFLARE_ZONE. */
  readonly zone: string;
  /** API token with the permission Zone / Cache Purge, setting CLOUDFLARE_TOKEN. */
  readonly token: string;
  /** Setting CLOUDFLARE_API_URL, without a trailing slash; {@link cloudflareApiUrl} unless given. */
  readonly apiUrl?: string | undefined;
}

const cloudflareApiUrl = 'https://api.cloudflare.com/client/v4';

/** An error of another shape has no code and no message. */
const cloudflareError = z
  .object({ code: z.number().catch(0), message: z.string().catch('') })
  .catch({ code: 0, message: '' });
const cloudflareAnswer = z
  .object({ success: z.unknown(), errors: z.array(cloudflareError).catch([]) })
  .catch({ success: false, errors: [] });

/**
 * `POST /zones/{zone}/purge_cache` with `{"tags": […]}` and a Bearer token: up to 100 tags in a call, on every plan since 2025. Calls are
 * rate-limited by a token bucket (free plan: 5 a minute, bursts of 25), so waiting purges are combined. Source: Cloudflare, "Purge
 * cache", table of limits, and the API reference.
 */
function cloudflare({ apiUrl = cloudflareApiUrl, zone, token }: CloudflareSettings): CdnVendor {
  const credentialAdvice =
    'set CLOUDFLARE_TOKEN to an API token that has the permission Zone / Cache Purge for the zone of CLOUDFLARE_ZONE';
  const targetAdvice =
    'set CLOUDFLARE_ZONE to the zone id from the overview page of the domain, and look at CLOUDFLARE_API_URL';
  return {
    name: 'Cloudflare',
    batchSize: 100,
    url: `${apiUrl}/zones/${encodeURIComponent(zone)}/purge_cache`,
    headers: () => ({ Authorization: `Bearer ${token}` }),
    body: (keys) => ({ tags: keys }),
    isAccepted: (json) => cloudflareAnswer.parse(json).success === true,
    errorIn: (json) =>
      cloudflareAnswer
        .parse(json)
        .errors.map(({ code, message }) => `${code} ${message}`)
        .join('; '),
    credentialAdvice,
    targetAdvice,
    addressAdvice: `CLOUDFLARE_API_URL has to be the address of the API, normally ${cloudflareApiUrl}`,
    // Two mistakes are reported as 400: a malformed token (6003, 6111), and an invalid zone id (7000, 7003).
    specialAdvice: (json) => {
      const codes = cloudflareAnswer.parse(json).errors.map(({ code }) => code);
      if (codes.some((code) => code === 6003 || code === 6111)) return credentialAdvice;
      return codes.some((code) => code === 7000 || code === 7003) ? targetAdvice : null;
    },
  };
}

interface FastlySettings {
  readonly provider: 'fastly';
  /** Service id, setting FASTLY_SERVICE. */
  readonly service: string;
  /** API token with the scope `purge_select`, setting FASTLY_TOKEN. */
  readonly token: string;
  /** Setting FASTLY_API_URL, without a trailing slash; {@link fastlyApiUrl} unless given. */
  readonly apiUrl?: string | undefined;
  /** Mark pages as stale instead of removing them; withdrawn content is always removed. Off by default. */
  readonly soft?: boolean | undefined;
}

const fastlyApiUrl = 'https://api.fastly.com';
const fastlyError = z.object({ msg: z.string().catch(''), detail: z.string().catch('') });

/**
 * `POST /service/{id}/purge` with `{"surrogate_keys": […]}`: up to 256 keys in a call, the token in `Fastly-Key`, `Fastly-Soft-Purge: 1` to
 * mark as stale instead of removing. Source: Fastly, "Purging" in the API reference.
 */
const fastly = ({ apiUrl = fastlyApiUrl, service, token }: FastlySettings): CdnVendor => ({
  name: 'Fastly',
  batchSize: 256,
  url: `${apiUrl}/service/${encodeURIComponent(service)}/purge`,
  headers: (soft) => {
    const headers: Record<string, string> = { 'Fastly-Key': token };
    if (soft) headers['Fastly-Soft-Purge'] = '1';
    return headers;
  },
  body: (keys) => ({ surrogate_keys: keys }),
  // The answer maps each key to the id of its purge.
  isAccepted: (json) => typeof json === 'object' && json !== null && !Array.isArray(json),
  errorIn: (json) => {
    const { msg, detail } = fastlyError.safeParse(json).data ?? {};
    return [msg, detail].filter(Boolean).join(': ');
  },
  credentialAdvice: 'set FASTLY_TOKEN to an API token with the scope purge_select for the service of FASTLY_SERVICE',
  targetAdvice: 'set FASTLY_SERVICE to the id of the service, and look at FASTLY_API_URL',
  addressAdvice: `FASTLY_API_URL has to be the address of the API, normally ${fastlyApiUrl}`,
  // Fastly's own header states when the limit is lifted, in seconds since 1970.
  waitOf: (headers) => {
    const reset = Number(headers.get('fastly-ratelimit-reset') ?? Number.NaN);
    return Number.isFinite(reset) ? Math.max(0, reset * 1000 - Date.now()) : null;
  },
});
