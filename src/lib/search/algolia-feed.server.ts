/**
 * Keeps Algolia's index in line with the paper. What is queued is which stories have changed; what is sent is how they stand when
 * they are sent, so that several changes are one and the last one counts. A mark in the data folder tells the next start that
 * something may not have arrived: then everything is sent once more.
 */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import type { ContentReader } from '../../content/model.ts';
import type { Logger } from '../logging.ts';
import { createDeliveryQueue, type Outcome } from '../outbound/delivery-queue.server.ts';
import { postJson } from '../outbound/post.server.ts';
import type { AlgoliaAccess } from './algolia.server.ts';
import type { HostedFeed } from './hosted.ts';
import { type Action, actionFor } from './record.ts';

export interface FeedTuning {
  /** Milliseconds in which changes are collected, 1,000 by default. */
  readonly collectMs?: number;
  /** Milliseconds for one request, 15,000 by default. */
  readonly timeoutMs?: number;
  /** First and longest wait between two tries, 2,000 and 300,000 by default. */
  readonly backOffMs?: readonly [first: number, longest: number];
  /** Milliseconds between two tries while a setting is wrong, 60,000 by default. */
  readonly misconfiguredMs?: number;
  /** Milliseconds that closing may take, 3,000 by default. */
  readonly closeMs?: number;
  /** Stories in one request, 100 by default. */
  readonly batchSize?: number;
}

export interface FeedOptions {
  readonly access: AlgoliaAccess;
  readonly writeKey: string;
  /** A fresh reader of the mirror. */
  readonly reader: () => ContentReader;
  /** Path of the mark: there while something may not have arrived, and before everything has been sent once. */
  readonly mark: string;
  readonly log: Logger;
  readonly tuning?: FeedTuning;
}

/** Stories that may wait; a paper has fewer. */
const most = 500_000;

/** Opens the feed. Nothing is sent before `start`. */
export function openFeed({ access, writeKey, reader, mark, log, tuning = {} }: FeedOptions): HostedFeed {
  const base = access.url ?? `https://${access.appId}.algolia.net`;
  const url = `${base}/1/indexes/${encodeURIComponent(access.index)}/batch`;
  const headers = { 'X-Algolia-Application-Id': access.appId, 'X-Algolia-API-Key': writeKey };
  /** Says that everything has arrived, of which index. */
  const done = `${mark}-${access.appId}-${access.index}`;
  let started = false;

  const queue = createDeliveryQueue({
    name: 'Search feed',
    batchSize: tuning.batchSize ?? 100,
    collectMs: tuning.collectMs ?? 1000,
    limit: most,
    overflow: () => [],
    tries: Number.POSITIVE_INFINITY,
    backOffMs: tuning.backOffMs ?? [2000, 300_000],
    misconfiguredMs: tuning.misconfiguredMs ?? 60_000,
    closeMs: tuning.closeMs ?? 3000,
    log,
    send: async (ids, signal): Promise<Outcome> => {
      const content = reader();
      const requests: Action[] = ids.map((id) => actionFor(content, Number(id)));
      const result = await postJson({
        ...{ url, headers, signal, timeoutMs: tuning.timeoutMs ?? 15_000 },
        body: { requests },
      });
      if (!result.answered) return { kind: 'failed', message: result.message };
      const { status, retryAfterMs } = result;
      if (status >= 200 && status < 300) return { kind: 'accepted' };
      const message = `answered ${status}`;
      if (status === 401 || status === 403) {
        return { kind: 'misconfigured', message: `${message}: ALGOLIA_WRITE_KEY may not add and delete objects` };
      }
      if (status === 404) return { kind: 'misconfigured', message: `${message}: ALGOLIA_INDEX or ALGOLIA_URL is wrong` };
      if (status === 408 || status === 429 || status >= 500) return { kind: 'failed', message, retryAfterMs };
      return { kind: 'refused', message };
    },
  });

  function open(): void {
    if (existsSync(done)) rmSync(done, { force: true });
  }

  /** Notes that nothing waits, so that the next start has nothing to repeat. */
  async function settle(): Promise<void> {
    await queue.idle();
    const { pending, failed } = queue.stats();
    if (pending === 0 && failed === 0) writeFileSync(done, '');
  }

  const add = (ids: readonly string[]): void => {
    if (ids.length === 0) return;
    open();
    queue.add(ids);
    void settle().catch((error: unknown) => log.error({ err: error }, 'Search feed: the mark could not be written'));
  };

  return {
    changed(tags) {
      const content = reader();
      const ids = new Set<string>();
      for (const tag of tags) {
        const [kind, id] = tag.split(':');
        // A byline's change is told for the author; their stories carry the name.
        if (kind === 'byline') for (const story of storiesOf(content, { authorId: Number(id) })) ids.add(story);
        else if ((kind === 'article' || kind === 'card') && id) ids.add(id);
      }
      add([...ids]);
    },
    stats: () => {
      const { pending, failed, problem } = queue.stats();
      return { pending, failed, problem };
    },
    start() {
      if (started) return;
      started = true;
      if (!existsSync(done)) add([...storiesOf(reader(), {})]);
    },
    idle: queue.idle,
    async stop() {
      await queue.close();
    },
  };
}

/** Ids of the stories of a list, in portions, so that no list is held whole with all that its cards show. */
function* storiesOf(content: ContentReader, filter: { readonly authorId?: number }): Generator<string> {
  for (let offset = 0; ; offset += 500) {
    const { items } = content.articles({ ...filter, offset, limit: 500 });
    for (const { id } of items) yield String(id);
    if (items.length < 500) return;
  }
}
