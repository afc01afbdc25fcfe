/**
 * Keeps Algolia's index in line with the paper. What is queued is which stories have changed; what is sent is how they stand when
 * they are sent, so that several changes are one and the last one counts. What has not arrived is noted in the data folder, so that
 * it outlives the process; a new index is given everything once.
 */
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { BatchWriteParams } from 'algoliasearch';
import { publication } from '../../publication.ts';
import type { ContentReader } from '../content/model.ts';
import { postJson } from '../http/post.server.ts';
import { createDeliveryQueue, type Outcome } from '../jobs/delivery.server.ts';
import type { Logger } from '../logging.ts';
import type { AlgoliaAccess, HostedFeed } from './model.ts';
import { type Action, actionFor, recordVersion } from './record.ts';

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
  /** Stories in one request, 50 by default. */
  readonly batchSize?: number;
}

export interface FeedOptions {
  readonly access: AlgoliaAccess;
  readonly writeKey: string;
  /** A fresh reader of the content store. */
  readonly reader: () => ContentReader;
  /** Folder of the notes on what has arrived. */
  readonly dataDir: string;
  readonly log: Logger;
  readonly tuning?: FeedTuning;
}

/** What an index was filled by: the shape of its records, and the levels of sections. */
const rulesOf = (sections: object): string => JSON.stringify([recordVersion, sections]);

/** Stories that may wait; a paper has fewer. */
const most = 500_000;
/** Stories that are queued at a time when all of them are. */
const portion = 200;

/** Opens the feed. Nothing is sent before `start`. */
export function openFeed({ access, writeKey, reader, dataDir, log, tuning = {} }: FeedOptions): HostedFeed {
  const base = access.url ?? `https://${access.appId}.algolia.net`;
  const url = `${base}/1/indexes/${encodeURIComponent(access.index)}/batch`;
  const headers = { 'X-Algolia-Application-Id': access.appId, 'X-Algolia-API-Key': writeKey };
  const name = join(dataDir, `search-feed-${access.appId}-${access.index}`);
  /** There as soon as the index has had everything once; it holds the rules by which walls stood then. */
  const filled = `${name}-filled`;
  const rules = rulesOf(publication.access.sections);
  /** Ids of what has been queued since nothing waited. */
  const open = `${name}-open`;
  let started = false;
  let filling = false;
  let settling: Promise<void> | null = null;
  let stopped = false;

  const queue = createDeliveryQueue({
    name: 'Search feed',
    batchSize: tuning.batchSize ?? 50,
    collectMs: tuning.collectMs ?? 1000,
    limit: most,
    overflow: () => [],
    tries: Number.POSITIVE_INFINITY,
    backOffMs: tuning.backOffMs ?? [2000, 300_000],
    misconfiguredMs: tuning.misconfiguredMs ?? 60_000,
    // One record that is too big for the account's plan refuses the whole request.
    halveRefused: true,
    closeMs: tuning.closeMs ?? 3000,
    log,
    send: async (ids, signal): Promise<Outcome> => {
      const content = reader();
      const requests: Action[] = ids.map((id) => actionFor(content, Number(id)));
      const result = await postJson({
        url,
        headers,
        signal,
        timeoutMs: tuning.timeoutMs ?? 15_000,
        body: { requests } satisfies BatchWriteParams,
      });
      if (!result.answered) return { kind: 'failed', message: result.message };
      const { status, retryAfterMs } = result;
      if (status >= 200 && status < 300) return { kind: 'accepted' };
      const message = `answered ${status}`;
      if (status === 401 || status === 403) {
        return { kind: 'misconfigured', message: `${message}: ALGOLIA_WRITE_KEY may not add and delete objects` };
      }
      if (status === 404)
        return { kind: 'misconfigured', message: `${message}: ALGOLIA_INDEX or ALGOLIA_URL is wrong` };
      if (status === 408 || status === 429 || status >= 500) return { kind: 'failed', message, retryAfterMs };
      return { kind: 'refused', message };
    },
  });

  /** Notes that nothing waits, so that the next start has nothing to repeat. */
  async function settle(): Promise<void> {
    await queue.idle();
    settling = null;
    if (filling || stopped) return;
    const { pending, failed } = queue.stats();
    if (pending > 0 || failed > 0) return;
    rmSync(open, { force: true });
    writeFileSync(filled, rules);
  }

  const add = (ids: readonly string[]): void => {
    if (ids.length === 0 || stopped) return;
    appendFileSync(open, `${ids.join('\n')}\n`);
    queue.add(ids);
    settling ??= settle().catch((error: unknown) =>
      log.error({ err: error }, 'Search feed: a note could not be written'),
    );
  };

  /** Sends every story, some at a time: readers come first. */
  async function fill(): Promise<void> {
    filling = true;
    for (let offset = 0; !stopped; offset += portion) {
      const { items } = reader().articles({ offset, limit: portion });
      if (items.length < portion) filling = false;
      add(items.map(({ id }) => String(id)));
      if (items.length < portion) break;
      await setImmediate();
    }
  }

  return {
    changed(tags) {
      const content = reader();
      const ids = new Set<string>();
      for (const tag of tags) {
        const [kind, id = ''] = tag.split(':');
        // A new name of an author stands in all of their stories.
        if (kind === 'byline') {
          for (const story of content.articles({ authorId: Number(id), limit: most }).items) ids.add(String(story.id));
        } else if (kind === 'article' || kind === 'card') ids.add(id);
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
      // What had not arrived may have left the paper since: it is not among all stories.
      if (existsSync(open))
        add(
          readFileSync(open, 'utf8')
            .split('\n')
            .filter((id) => /^\d+$/.test(id)),
        );
      // Under other rules the index may hold what is behind a wall now.
      if (!existsSync(filled) || readFileSync(filled, 'utf8') !== rules) {
        fill().catch((error: unknown) => log.error({ err: error }, 'Search feed: not everything could be queued'));
      }
    },
    async idle() {
      while (filling || settling) await (settling ?? setImmediate());
    },
    async stop() {
      if ((await queue.close()) === 0) await settling;
      stopped = true;
    },
  };
}
