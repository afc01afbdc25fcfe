/**
 * Tells search engines of new and withdrawn addresses through IndexNow, which passes them on to all that take part. A hint and no
 * more: it is tried a few times and then given up, because their own crawl finds the change anyway.
 */
import { postJson } from '../http/post.server.ts';
import { createDeliveryQueue, type DeliveryTuning, type Outcome } from '../jobs/delivery.server.ts';
import type { Logger } from '../logging.ts';

export interface IndexNowStats {
  /** Why nothing is announced, in words for the operator; `null` when it is on. */
  readonly off: string | null;
  readonly announced: number;
  /** Addresses whose announcement failed. */
  readonly failed: number;
  readonly pending: number;
  readonly requests: number;
  readonly problem: string | null;
}

export interface IndexNow {
  /**
   * Announces addresses of this site; returns at once. The caller leaves out drafts and restricted pages; of a withdrawn page the
   * engines learn that it is gone (indexnow.org/faq). Addresses of other hosts are not sent.
   */
  announce(urls: Iterable<string>): void;
  idle(): Promise<void>;
  stats(): IndexNowStats;
  /** Sends what waits, for three seconds at most. @returns addresses that could not be sent */
  close(): Promise<number>;
}

function reasonToBeOff(settings: IndexNowSettings | null): string | null {
  if (settings === null) return 'INDEXNOW_KEY is not set';
  if (!isPublicOrigin(settings.siteUrl)) return "SITE_URL isn't a public https address";
  return null;
}

/**
 * Creates the IndexNow client. Nothing is sent before the first announcement.
 *
 * @param settings it is off for `null`, or a site that isn't public; `stats().off` says why
 */
export function openIndexNow(settings: IndexNowSettings | null, log: Logger, tuning: DeliveryTuning = {}): IndexNow {
  const off = reasonToBeOff(settings);
  if (settings === null || off !== null) {
    if (settings !== null) log.warn({ why: off }, 'IndexNow is off');
    return {
      announce: () => {},
      idle: async () => {},
      stats: () => ({ off, announced: 0, failed: 0, pending: 0, requests: 0, problem: null }),
      close: async () => 0,
    };
  }
  const { key, siteUrl } = settings;
  const { origin, host } = new URL(siteUrl);
  const { timeoutMs = 10_000, ...times } = tuning;
  const keyLocation = `${origin}/${key}.txt`;
  const queue = createDeliveryQueue({
    name: 'IndexNow',
    batchSize: indexNowBatch,
    collectMs: 10_000,
    limit: 50_000,
    overflow: () => [],
    tries: 6,
    backOffMs: [5000, 300_000],
    misconfiguredMs: null,
    closeMs: 3000,
    ...times,
    send: async (urlList, signal): Promise<Outcome> => {
      const result = await postJson({
        url: settings.url ?? indexNowUrl,
        headers: {},
        // indexnow.org/documentation, "Submitting set of URLs".
        body: { host, key, keyLocation, urlList },
        timeoutMs,
        signal,
      });
      if (!result.answered) return { kind: 'failed', message: result.message };
      const { status, retryAfterMs } = result;
      // Only the status counts: 200 is accepted, 202 is accepted while the key is still being checked.
      if (status === 200 || status === 202) return { kind: 'accepted' };
      const message = `answered ${status}`;
      if (status === 403) {
        return { kind: 'misconfigured', message: `${message}: ${keyLocation} has to answer with INDEXNOW_KEY` };
      }
      if (status === 422) {
        return { kind: 'misconfigured', message: `${message}: INDEXNOW_KEY and SITE_URL do not belong together` };
      }
      if (status === 404 || status === 405 || (status >= 300 && status < 400)) {
        return { kind: 'misconfigured', message: `${message}: INDEXNOW_URL is normally ${indexNowUrl}` };
      }
      if (status === 408 || status === 429 || status >= 500) return { kind: 'failed', message, retryAfterMs };
      return { kind: 'refused', message };
    },
    log,
  });

  return {
    announce(urls) {
      const list = announceable(urls, siteUrl);
      if (list.length > 0) queue.add(list);
    },
    idle: queue.idle,
    stats: () => {
      const { accepted, failed, pending, requests, problem } = queue.stats();
      return { off: null, announced: accepted, failed, pending, requests, problem };
    },
    close: queue.close,
  };
}

// The key, and which addresses may be announced (indexnow.org/documentation).

export interface IndexNowSettings {
  /** Setting INDEXNOW_KEY, chosen by the publisher; see {@link isIndexNowKey}. */
  readonly key: string;
  /** Public origin of the site. */
  readonly siteUrl: string;
  /** Setting INDEXNOW_URL; {@link indexNowUrl} unless given. */
  readonly url?: string | undefined;
}

const indexNowUrl = 'https://api.indexnow.org/indexnow';

/** Most addresses in one request. */
const indexNowBatch = 10_000;

export const isIndexNowKey = (key: string): boolean => /^[A-Za-z0-9-]{8,128}$/.test(key);

/**
 * Whether search engines could reach the origin at all. A laptop, an address in a private network and the names that are
 * reserved for tests (RFC 2606, RFC 6761, RFC 6762, RFC 9476) are not announced.
 */
export function isPublicOrigin(siteUrl: string): boolean {
  if (!URL.canParse(siteUrl)) return false;
  const { protocol, hostname, port } = new URL(siteUrl);
  if (protocol !== 'https:' || port !== '') return false;
  // Search engines index names; a numeric address is a test.
  if (/^[\d.]+$/.test(hostname) || hostname.startsWith('[')) return false;
  if (!hostname.includes('.')) return false;
  if (/(?:^|\.)example\.(?:com|net|org)$/.test(hostname)) return false;
  return !/\.(?:test|example|invalid|localhost|local|internal|alt|onion|home\.arpa)$/.test(hostname);
}

/** Full addresses of the given URLs or paths that belong to the site, without duplicates and fragments. */
export function announceable(urls: Iterable<string>, siteUrl: string): string[] {
  const origin = new URL(siteUrl).origin;
  const all = new Set<string>();
  for (const text of urls) {
    if (!URL.canParse(text, origin)) continue;
    const url = new URL(text, origin);
    if (url.origin !== origin) continue;
    url.hash = '';
    all.add(url.href);
  }
  return [...all];
}
