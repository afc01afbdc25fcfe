/** Reads of WordPress that several parts of sync share: lists, single documents, and the meaning of a failure. */

import type { z } from 'zod';
import type { CopiedType } from '../store/content-store.server.ts';
import type { Fetched } from '../store/write.server.ts';
import {
  type Client,
  describeFailure,
  type Failure,
  type GetOptions,
  type Query,
  type Success,
} from './client.server.ts';
import * as wire from './schemas.ts';

/** Sync can't continue for now; the message is for the operator. */
export class SyncProblem extends Error {
  readonly retryAfterMs: number | null;
  /** The failed request, for callers that isolate one document. */
  readonly failure: Failure | null;
  constructor(message: string, retryAfterMs: number | null = null, failure: Failure | null = null) {
    super(message);
    this.name = 'SyncProblem';
    this.retryAfterMs = retryAfterMs;
    this.failure = failure;
  }
}

const notInstalled = (client: Client): string =>
  `${client.url} answers, but has no newsroom plugin: install and activate wordpress/newsroom there (docs/services/wordpress.md)`;

/**
 * Milliseconds, the longest that sync waits because WordPress asks for it: in maintenance mode WordPress asks for ten minutes, and is back in
 * seconds.
 */
const longestRetryAfter = 60_000;

/** Describes a failed request for the operator. */
export function problemOf(client: Client, failure: Failure): SyncProblem {
  if (failure.code === 'rest_no_route')
    return new SyncProblem(`${notInstalled(client)} (${describeFailure(failure)})`, null, failure);
  if (failure.status === 401 || failure.status === 403) {
    const message = `${describeFailure(failure)}; check WordPress's user and application password`;
    return new SyncProblem(message, null, failure);
  }
  const { retryAfterMs } = failure;
  const wait = retryAfterMs === null ? null : Math.min(retryAfterMs, longestRetryAfter);
  return new SyncProblem(describeFailure(failure), wait, failure);
}

export interface ListAnswer {
  readonly items: readonly unknown[];
  readonly answer: Success;
}

/** Lists that older plugins don't have. */
const newerLists: readonly string[] = ['/wp/v2/live-entries', '/wp/v2/podcasts', '/wp/v2/fronts'];

/** A list; a page beyond the end and an empty response are an empty list (spec section 7). */
export async function fetchList(client: Client, path: string, query: Query, options?: GetOptions): Promise<ListAnswer> {
  const result = await client.get(path, query, options);
  if (!result.ok) {
    const isMissing = result.code === 'rest_no_route' && newerLists.includes(path);
    if (isMissing || (result.status === 400 && result.code === 'rest_post_invalid_page_number')) {
      return { items: [], answer: { ok: true, url: result.url, data: [], fetched: { at: 0, clock: 0 }, total: null } };
    }
    throw problemOf(client, result);
  }
  if (result.data === null) return { items: [], answer: result };
  if (!Array.isArray(result.data)) {
    const received = JSON.stringify(result.data).slice(0, 80);
    throw new SyncProblem(`${result.url}: expected a list, got ${received}`);
  }
  return { items: result.data, answer: result };
}

/**
 * Refuses an answer without a body where an empty list would delete content or end the copy.
 *
 * @throws SyncProblem
 */
export function requireBody({ url, data }: Success): void {
  if (data === null) throw new SyncProblem(`${url}: expected a list, got an empty body`);
}

/** Whether WordPress says that a document doesn't exist or isn't public; anything else is a failure, never a deletion. */
function saysGone({ status, code }: Failure): boolean {
  if (status === 410) return true;
  if (status === 404) return code.startsWith('rest_') && code !== 'rest_no_route';
  // Wrong credentials have error codes of their own, which say nothing about a document.
  return (status === 401 || status === 403) && /^rest_(?:forbidden|cannot_read|cannot_view)/u.test(code);
}

export type FetchedDocument =
  | { readonly kind: 'there'; readonly raw: unknown; readonly answer: Success }
  | { readonly kind: 'gone'; readonly fetched: Fetched }
  | { readonly kind: 'failed'; readonly failure: Failure };

/** One document or comment by id. */
export async function fetchOne(
  client: Client,
  type: CopiedType,
  id: number,
  options?: GetOptions,
): Promise<FetchedDocument> {
  const result = await client.get(`/wp/v2/${type}/${id}`, {}, options);
  if (result.ok) return { kind: 'there', raw: result.data, answer: result };
  return saysGone(result) ? { kind: 'gone', fetched: result.fetched } : { kind: 'failed', failure: result };
}

/** The plugin's status. @throws SyncProblem with the remedy when the plugin is missing */
export async function fetchStatus(
  client: Client,
  options?: GetOptions,
): Promise<z.infer<typeof wire.pluginStatus> & { clock: number }> {
  const result = await client.get('/newsroom/v1/status', {}, options);
  if (!result.ok) throw problemOf(client, result);
  const parsed = wire.pluginStatus.safeParse(result.data);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new SyncProblem(`${result.url}: ${issue?.path.join('.')}: ${issue?.message}`);
  }
  return { ...parsed.data, clock: result.fetched.clock };
}

const changesAtOnce = 100;
/** The longest time that the plugin accepts, seconds. */
const longestChanges = 7 * 24 * 60 * 60;

/** What changed in WordPress in the last seconds, and what is waiting to be delivered. @throws SyncProblem */
export async function fetchChanges(
  client: Client,
  seconds: number,
  options?: GetOptions,
): Promise<z.infer<typeof wire.changes>> {
  const changes: z.infer<typeof wire.changes> = [];
  const past = Math.min(longestChanges, Math.max(1, Math.ceil(seconds)));
  for (;;) {
    const query = { seconds: past, after: changes.at(-1)?.row ?? 0 };
    const result = await client.get('/newsroom/v1/changes', query, options);
    if (!result.ok && result.code === 'rest_no_route')
      throw new SyncProblem(`${result.url}: update the newsroom plugin, it doesn't have this route`, null, result);
    if (!result.ok) throw problemOf(client, result);
    const parsed = wire.changes.safeParse(result.data);
    if (!parsed.success) throw new SyncProblem(`${result.url}: ${parsed.error.issues[0]?.message}`);
    changes.push(...parsed.data);
    if (parsed.data.length < changesAtOnce) return changes;
  }
}

// Known causes that keep the site from reading WordPress, each with its remedy, for `/readyz` and the log.

export interface WordPressProblem {
  readonly code: string;
  /** Cause and remedy, for the operator. */
  readonly message: string;
}

/** The plugin's status of itself and of the request (docs/content-api.md). */
type Status = Pick<
  z.infer<typeof wire.pluginStatus>,
  'plugin' | 'credentials' | 'uploads' | 'signed_in' | 'signs_in' | 'problems'
>;

/** Largest difference between the two clocks; a webhook is refused if it is older than this. */
export const mostClockDifferenceSeconds = 300;

/** Codes of Node and OpenSSL for a certificate that isn't trusted. */
const untrusted =
  /\b(?:UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT(?:_LOCALLY)?|SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT)\b/u;

/** The known cause of a failed request, with its remedy; `null`: the failure itself says enough. */
export function problemOfFailure(failure: Failure, signsIn: boolean): WordPressProblem | null {
  const { status, code, message } = failure;
  if (untrusted.test(message)) {
    return {
      code: 'private-ca',
      message:
        "WordPress's certificate is signed by an authority that Node doesn't know: start the site with NODE_EXTRA_CA_CERTS=/path/to/ca.pem",
    };
  }
  if (/\bCERT_HAS_EXPIRED\b/u.test(message))
    return { code: 'certificate', message: "WordPress's certificate has expired: renew it" };
  if (/\bERR_TLS_CERT_ALTNAME_INVALID\b/u.test(message)) {
    const words = "WordPress's certificate is for another host: set WORDPRESS_URL to the host that it names";
    return { code: 'certificate', message: words };
  }
  if ((status === 401 || status === 403) && code === '') {
    return {
      code: 'basic-auth',
      message: `something before WordPress asks for a password or refuses the site (status ${status}; HTTP Basic authentication, a firewall). Basic authentication uses the same header as application passwords: exempt /wp-json/ and /wp-content/uploads/ from it, or let the site's address in without a password`,
    };
  }
  if (code === 'application_passwords_disabled' || code === 'application_passwords_disabled_for_user') {
    return {
      code: 'passwords-off',
      message:
        'application passwords are turned off in WordPress, most likely by a security plugin. Wordfence: All Options → Brute Force Protection → "Disable WordPress application passwords"',
    };
  }
  if (signsIn && status === 401 && /^(?:incorrect_password|invalid_username|invalid_email)$/u.test(code)) {
    return {
      code: 'password',
      message: `WordPress refuses the credentials (${code}): make a new application password in the profile of WORDPRESS_USER and set WORDPRESS_APP_PASSWORD to it`,
    };
  }
  if (code === 'rest_no_route') {
    const words =
      'WordPress has no newsroom plugin: install and activate wordpress/newsroom there (docs/services/wordpress.md)';
    return { code: 'no-plugin', message: words };
  }
  return null;
}

/** Whether a 404 for `/wp-json/` comes from plain permalinks, which give the REST API another address. */
export async function hasPlainPermalinks(client: Client, failure: Failure): Promise<boolean> {
  return failure.status === 404 && failure.code === '' && (await client.answersByQuery('/newsroom/v1/status'));
}

export const plainPermalinks: WordPressProblem = {
  code: 'plain-permalinks',
  message: 'WordPress has plain permalinks and therefore no /wp-json/: choose "Post name" under Settings → Permalinks',
};

/** Problems that the plugin reports although WordPress responds. */
export function problemsOfStatus(
  status: Status,
  client: Pick<Client, 'signsIn' | 'clock' | 'url'>,
  mediaHosts: readonly string[],
  now: number,
): WordPressProblem[] {
  const uploads = URL.parse(status.uploads ?? '');
  // The site knows its allowed hosts; the plugin only knows where the uploads are.
  const allowed =
    !uploads || uploads.host === new URL(client.url).host || mediaHosts.some((host) => host === uploads.host);
  const problems = (status.problems ?? []).filter(({ code }) => !(code === 'uploads-elsewhere' && allowed));
  const has = (code: string): boolean => problems.some((problem) => problem.code === code);
  const add = (code: string, message: string): void => void (has(code) || problems.push({ code, message }));
  if (!allowed && uploads) {
    add(
      'uploads-elsewhere',
      `uploads are on ${uploads.host}, which the site does not allow: set IMAGE_HOSTS=${uploads.host}`,
    );
  }
  if (client.signsIn && !status.credentials && !has('passwords-need-https') && !has('passwords-off')) {
    if (status.signs_in === false) {
      add(
        'authorization-lost',
        "the Authorization header doesn't reach WordPress: with Apache set CGIPassAuth On, with nginx pass HTTP_AUTHORIZATION to PHP, and check the proxies in between",
      );
    } else if (status.signed_in) {
      add('role', 'WORDPRESS_USER may not read restricted bodies: give that user the role "Newsroom site"');
    } else {
      add('password', 'WordPress does not accept the credentials: check WORDPRESS_USER and WORDPRESS_APP_PASSWORD');
    }
  }
  const ahead = Math.round((client.clock() - now) / 1000);
  if (Math.abs(ahead) > mostClockDifferenceSeconds) {
    const words = `WordPress's clock is ${Math.abs(ahead)} seconds ${ahead > 0 ? 'ahead of' : 'behind'} the site's: webhooks are refused until NTP sets both clocks`;
    add('clock', words);
  }
  return problems;
}
