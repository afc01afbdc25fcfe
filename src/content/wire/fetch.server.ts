/** Reads of WordPress that several parts of sync share: lists, single documents, and the meaning of a failure. */
import type { z } from 'zod';
import type { DocumentType } from '../../lib/content/model.ts';
import type { Fetched } from '../store/write.server.ts';
import {
  type Answer,
  type Client,
  describeFailure,
  type Failure,
  type GetOptions,
  type Query,
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
  `${client.url} answers, but has no newsroom plugin: install and activate wordpress/newsroom there (docs/editors.md)`;

/** Describes a failed request for the operator. */
export function problemOf(client: Client, failure: Failure): SyncProblem {
  if (failure.code === 'rest_no_route')
    return new SyncProblem(`${notInstalled(client)} (${describeFailure(failure)})`, null, failure);
  if (failure.status === 401 || failure.status === 403) {
    const message = `${describeFailure(failure)}; check WordPress's user and application password`;
    return new SyncProblem(message, null, failure);
  }
  return new SyncProblem(describeFailure(failure), failure.retryAfterMs, failure);
}

export interface ListAnswer {
  readonly items: readonly unknown[];
  readonly answer: Answer;
}

/** A list; a page beyond the end and an empty response are an empty list (spec section 7). */
export async function fetchList(client: Client, path: string, query: Query, options?: GetOptions): Promise<ListAnswer> {
  const result = await client.get(path, query, options);
  if (!result.ok) {
    if (result.status === 400 && result.code === 'rest_post_invalid_page_number') {
      return { items: [], answer: { ok: true, url: result.url, data: [], fetched: { at: 0, clock: 0 }, total: null } };
    }
    throw problemOf(client, result);
  }
  if (result.data === null) return { items: [], answer: result };
  if (!Array.isArray(result.data)) {
    const came = JSON.stringify(result.data).slice(0, 80);
    throw new SyncProblem(`${result.url}: expected a list, got ${came}`);
  }
  return { items: result.data, answer: result };
}

/** Whether WordPress says that a document doesn't exist or isn't public; anything else is a failure, never a deletion. */
export function saysGone({ status, code }: Failure): boolean {
  if (status === 410) return true;
  if (status === 404) return code.startsWith('rest_') && code !== 'rest_no_route';
  // Wrong credentials have error codes of their own, which say nothing about a document.
  return (status === 401 || status === 403) && /^rest_(?:forbidden|cannot_read|cannot_view)/u.test(code);
}

export type One =
  | { readonly kind: 'there'; readonly raw: unknown; readonly answer: Answer }
  | { readonly kind: 'gone'; readonly fetched: Fetched }
  | { readonly kind: 'failed'; readonly failure: Failure };

/** One document or comment by id. */
export async function fetchOne(
  client: Client,
  type: DocumentType | 'comments',
  id: number,
  options?: GetOptions,
): Promise<One> {
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
