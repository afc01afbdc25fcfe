/**
 * Keeps Algolia's index equal to the edition. The queue holds ids of changed articles, and a request sends their current state, so
 * several changes become one. Ids that have not arrived are stored in the data folder, so that a restart sends them, those of refused
 * records too; a new index gets every article once.
 */
import { appendFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BatchWriteParams } from 'algoliasearch';
import { publication } from '../../publication.ts';
import type { ContentReader } from '../content/reader.ts';
import { tag } from '../content/tags.ts';
import { postJson } from '../http/post.server.ts';
import { createDeliveryQueue, type DeliveryQueue, type DeliveryTuning, type Outcome } from '../jobs/delivery.server.ts';
import type { Logger } from '../logging.ts';
import type { AlgoliaAccess, HostedFeed } from './model.ts';
import { type Action, actionFor, recordVersion } from './record.ts';

export interface FeedOptions {
  readonly access: AlgoliaAccess;
  readonly writeKey: string;
  /** A fresh reader of the content store. */
  readonly reader: () => ContentReader;
  /** Folder of the files that record what has arrived. */
  readonly dataDir: string;
  readonly log: Logger;
  readonly tuning?: Omit<DeliveryTuning, 'timeoutMs'>;
}

/** The rules that an index was filled by: the shape of its records, and the access levels of sections. */
const rulesOf = (sections: object): string => JSON.stringify([recordVersion, sections]);

/** Most articles that may wait; a newspaper has fewer. */
const mostArticles = 500_000;
/** Articles that are queued at a time when the index is filled. */
const batchSize = 200;

/** Sends the current state of articles. */
async function send(
  { access, writeKey, reader }: FeedOptions,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<Outcome> {
  const base = access.url ?? `https://${access.appId}.algolia.net`;
  const content = reader();
  const requests: Action[] = ids.map((id) => actionFor(content, Number(id)));
  const result = await postJson({
    url: `${base}/1/indexes/${encodeURIComponent(access.index)}/batch`,
    headers: { 'X-Algolia-Application-Id': access.appId, 'X-Algolia-API-Key': writeKey },
    signal,
    timeoutMs: 15_000,
    body: { requests } satisfies BatchWriteParams,
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
}

/** Ids of the articles that tags of changed content name; an entry of a live story is part of its story's record. */
function changedArticles(content: ContentReader, tags: Iterable<string>): string[] {
  const ids = new Set<string>();
  const changed = [...tags];
  // Without this tag, only the section's list of stories has changed; with it, the section itself, whose slug is in their
  // records.
  const hasOtherSections = changed.includes(tag.navigation);
  for (const each of changed) {
    const [kind, id = ''] = each.split(':');
    // The name of an author is in all of the author's records.
    if (kind === 'byline') {
      for (const story of content.articles({ authorId: Number(id), limit: mostArticles }).items)
        ids.add(String(story.id));
    } else if (kind === 'section' && hasOtherSections) {
      for (const story of content.articles({ section: id, limit: mostArticles }).items) ids.add(String(story.id));
    } else if (kind === 'article' || kind === 'card' || kind === 'live') ids.add(id);
  }
  return [...ids];
}

/** Records that the engine has refused. */
interface Refusals {
  /** Ids of those that it hasn't taken since. */
  readonly ids: Set<string>;
  /** All since the start, as the queue counts them among what it gave up. */
  count: number;
}

interface State {
  readonly options: FeedOptions;
  /** The rules that apply now. */
  readonly rules: string;
  /** File that exists after the index has got every article; it contains the rules that applied then. */
  readonly filledFile: string;
  /** File of the ids that were queued since the queue was last empty. */
  readonly openFile: string;
  readonly queue: DeliveryQueue;
  readonly refusals: Refusals;
  started: boolean;
  filling: boolean;
  settling: Promise<void> | null;
  stopped: boolean;
}

/** Opens the feed. Nothing is sent before `start`. */
export function openFeed(options: FeedOptions): HostedFeed {
  const { access, reader, dataDir } = options;
  const name = join(dataDir, `search-feed-${access.appId}-${access.index}`);
  const refusals: Refusals = { ids: new Set(), count: 0 };
  const queue = openQueue(options, refusals);
  const state: State = {
    options,
    rules: rulesOf(publication.access.sections),
    filledFile: `${name}-filled`,
    openFile: `${name}-open`,
    queue,
    refusals,
    started: false,
    filling: false,
    settling: null,
    stopped: false,
  };
  return {
    changed: (tags) => add(state, changedArticles(reader(), tags)),
    stats() {
      const { pending, failed, problem } = queue.stats();
      return { pending, failed, problem };
    },
    start: () => start(state),
    async idle() {
      while (state.filling || state.settling) await (state.settling ?? nextTurn());
    },
    async stop() {
      if ((await queue.close()) === 0) await state.settling;
      state.stopped = true;
    },
  };
}

const openQueue = (options: FeedOptions, refusals: Refusals): DeliveryQueue => {
  const { log, tuning } = options;
  return createDeliveryQueue({
    name: 'Search feed',
    batchSize: 50,
    collectMs: 1000,
    limit: mostArticles,
    overflow: () => [],
    tries: Number.POSITIVE_INFINITY,
    backOffMs: [2000, 300_000],
    misconfiguredMs: 60_000,
    // One record that is too big for the account's plan refuses the whole request.
    halveRefused: true,
    closeMs: 3000,
    ...tuning,
    log,
    async send(ids, signal) {
      const outcome = await send(options, ids, signal);
      if (outcome.kind === 'accepted') for (const id of ids) refusals.ids.delete(id);
      // A larger batch is sent again in halves.
      if (outcome.kind === 'refused' && ids[0] !== undefined && ids.length === 1) {
        refusals.ids.add(ids[0]);
        refusals.count++;
      }
      return outcome;
    },
  });
};

function start(state: State): void {
  if (state.started) return;
  state.started = true;
  const { filledFile, openFile, rules, options } = state;
  // An article that hasn't arrived may have been withdrawn since; then it is missing in the list of all articles.
  enqueue(state, readUnsent(openFile));
  // If the rules have changed, the index may contain text that is now only for subscribers.
  if (existsSync(filledFile) && readFileSync(filledFile, 'utf8') === rules) return;
  fill(state).catch((error: unknown) =>
    options.log.error({ err: error }, 'Search feed: not every article could be queued'),
  );
}

/**
 * Ids that earlier processes didn't send. Writes each id only once, so that the file doesn't grow with every start while Algolia is
 * unavailable.
 */
function readUnsent(openFile: string): string[] {
  if (!existsSync(openFile)) return [];
  const ids = new Set(
    readFileSync(openFile, 'utf8')
      .split('\n')
      .filter((id) => /^\d+$/.test(id)),
  );
  writeUnsent(openFile, ids);
  return [...ids];
}

function writeUnsent(openFile: string, ids: Iterable<string>): void {
  writeFileSync(`${openFile}.new`, [...ids, ''].join('\n'));
  renameSync(`${openFile}.new`, openFile);
}

function add(state: State, ids: readonly string[]): void {
  if (ids.length === 0 || state.stopped) return;
  appendFileSync(state.openFile, `${ids.join('\n')}\n`);
  enqueue(state, ids);
}

function enqueue(state: State, ids: readonly string[]): void {
  if (ids.length === 0) return;
  state.queue.add(ids);
  state.settling ??= recordCompletion(state).catch((error: unknown) =>
    state.options.log.error({ err: error }, 'Search feed: its files in the data folder could not be written'),
  );
}

/** Queues every article, a few at a time so that readers' requests come first. */
async function fill(state: State): Promise<void> {
  state.filling = true;
  for (let offset = 0; !state.stopped; offset += batchSize) {
    const { items } = state.options.reader().articles({ offset, limit: batchSize });
    const isLast = items.length < batchSize;
    if (isLast) state.filling = false;
    add(
      state,
      items.map(({ id }) => String(id)),
    );
    if (isLast) break;
    await nextTurn();
  }
}

/** Records that nothing waits, so that the next start repeats only the records that were refused. */
async function recordCompletion(state: State): Promise<void> {
  const { queue, refusals, openFile } = state;
  await queue.idle();
  state.settling = null;
  if (state.filling || state.stopped) return;
  const { pending, failed } = queue.stats();
  if (pending > 0 || failed > refusals.count) return;
  if (refusals.ids.size > 0) writeUnsent(openFile, refusals.ids);
  else rmSync(openFile, { force: true });
  writeFileSync(state.filledFile, state.rules);
}
