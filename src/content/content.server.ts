/** Creates the content service: store, reader, sync, webhooks and previews. */
import type { Logger } from '../lib/logging.ts';
import { PoolClosed } from '../lib/workers/pool.server.ts';
import { createCaptionReader } from './ingest/captions.server.ts';
import { createLocalIngester, createThreadedIngester, type Ingester, warmUpIngest } from './ingest/ingester.server.ts';
import { createPreview } from './preview.server.ts';
import { createIndexWork, type IndexWork, mergeSome, reindexSome } from './search/index.server.ts';
import { searchArticles } from './search/search.server.ts';
import { createSearchThread, type SearchThread } from './search/search-thread.server.ts';
import type { Content, ContentOptions } from './service.ts';
import { updateRestrictedSections, warnOfUnknownRules } from './store/access.server.ts';
import { entriesAhead, fetchTargetOf } from './store/ahead-of-log.server.ts';
import { backfillCursor, type ContentStore, isCopied, openContentStore } from './store/content-store.server.ts';
import type { ContentEntry } from './store/entries.server.ts';
import { indexNewEntries } from './store/live-search.server.ts';
import { measureOnce } from './store/measured.server.ts';
import { createReader } from './store/reader.server.ts';
import { type Applier, changeOf, createApplier, logRevision } from './sync/apply.server.ts';
import { createFrontClock } from './sync/front-clock.server.ts';
import { createLookUp } from './sync/lookup.server.ts';
import { createNotifier, type Notifier } from './sync/notifier.server.ts';
import { createSync } from './sync/sync.server.ts';
import { createReceiver } from './sync/webhook.server.ts';
import { createWithdrawMissed } from './sync/withdraw-missed.server.ts';
import { type Client, createClient } from './wire/client.server.ts';

/** Opens the content store and creates the service; the service fetches nothing before `start` or `syncNow`. */
export function openContent(options: ContentOptions): Content {
  const { file, wordpress, log, upgrades } = options;
  const url = wordpress?.url.replace(/\/+$/u, '') ?? null;
  const store = openContentStore({ file, origin: url, log, upgrades });
  const notifier = createNotifier({ ...options, store });
  applyAccessRules(store, notifier);
  warnOfUnknownRules(store, log);
  const parts = { store, notifier, searchThread: openSearchThread(options, store) };
  return wordpress && url !== null
    ? connected({ ...options, wordpress: { ...wordpress, url } }, parts)
    : offline(parts);
}

/** What the service has with and without WordPress. */
interface ContentParts {
  readonly store: ContentStore;
  readonly notifier: Notifier;
  readonly searchThread: SearchThread | null;
}

/** Records what this build's access rules change, for the listener: pages of the previous build may still be stored. */
function applyAccessRules(store: ContentStore, notifier: Notifier): void {
  store.transaction(() => {
    const change = updateRestrictedSections(store);
    if (change.tags.size > 0) notifier.record({ ...changeOf({ ...change, changes: [] }), isOwn: true });
  });
}

/** A search thread needs a file: only the thread that opened an in-memory database can read it. */
const openSearchThread = ({ file, threads, log }: ContentOptions, store: ContentStore): SearchThread | null =>
  file === ':memory:' || threads === false
    ? null
    : createSearchThread({
        file,
        log,
        rebuilds: () => store.rebuilds,
        searchLocally: (text, filter) => searchArticles(store, text, filter),
      });

/** Serves the content store as it is, without WordPress. */
function offline({ store, notifier, searchThread }: ContentParts): Content {
  return {
    reader: () => createReader(store, searchThread),
    revision: () => 0,
    replay: notifier.replay,
    start() {},
    async stop() {
      await searchThread?.close();
      store.close();
    },
    pollNow() {},
    syncNow: async () => ({ ok: false, stored: 0, withdrawn: 0, rejected: 0, ms: 0, problem: 'no WordPress is set' }),
    receive: async () => ({
      status: 503,
      headers: { 'Retry-After': '300' },
      body: { ok: false, error: 'no WordPress is set' },
    }),
    verify: () => null,
    shared: { read: () => null, write: async () => {} },
    followed: { revision: () => 0, followLog() {}, fetchTime: () => 0, apply: async () => [], ahead: () => [] },
    withdrawMissed: async () => 0,
    refresh: async () => {},
    refused: () => ({}),
    preview: async () => ({ status: 501, error: 'Previews are off: no WordPress is set.' }),
    status: () => ({
      ready: store.getMeta('ready') === '1',
      complete: isCopied(store),
      phase: 'off',
      progress: {},
      secondsLeft: null,
      syncedAt: store.getMeta('synced-at'),
      problem: null,
      problems: [],
      rejected: 0,
      credentials: null,
      bytes: store.size(),
    }),
    // Without WordPress no more documents arrive.
    isComplete: () => true,
    lookUp: async () => 'missing',
  };
}

type ConnectedOptions = ContentOptions & { readonly wordpress: NonNullable<ContentOptions['wordpress']> };

/** Copies WordPress's content, and serves the copy. */
function connected(options: ConnectedOptions, parts: ContentParts): Content {
  const { store, notifier, searchThread } = parts;
  const { log, frameHosts, mediaHosts, secret, pollSeconds, leads, contentLog, now = Date.now } = options;
  const siteUrl = options.siteUrl.replace(/\/+$/u, '');
  const client = createClient({ ...options.wordpress, fetch: options.fetch, now, lastAt: latestFetchIn(store) });
  const ingester = openIngester(options, siteUrl, store);
  const indexWork = createIndexWorks(store, log);
  const afterCommit = (): void => {
    indexWork.postpone();
    frontClock.check();
    warnOfUnknownRules(store, log);
  };
  const applier = createApplier({ store, client, ingester, log, now, notifier, afterCommit, contentLog });
  const frontClock = createFrontClock({ store, write: applier.write, log, now, leads });
  // Its pauses go by the clock of the process, which runs on when the machine's is set.
  const lookUp = createLookUp({ store, client, applier, log, now: options.now ?? (() => performance.now()) });
  const context = { store, client, applier, ingester, log, now, siteUrl };
  const sync = createSync({ ...context, pollSeconds, frameHosts, mediaHosts, leads });
  const receiver = createReceiver({ ...context, refresh: sync.refresh, pollNow: sync.pollNow, secret });
  let warmUp: NodeJS.Timeout | undefined;
  return {
    reader: () => createReader(store, searchThread),
    replay: notifier.replay,
    // After a rebuild SQLite's count of writes starts at zero again.
    revision: () => store.rebuilds * 2 ** 32 + Number(store.prepare('SELECT total_changes() AS n').get()?.n),
    start() {
      notifier.replay();
      indexWork.postpone();
      sync.start();
      frontClock.start();
      warmUp = warmUpSoon(ingester, options);
    },
    async stop() {
      frontClock.stop();
      indexWork.stop();
      clearTimeout(warmUp);
      await Promise.all([sync.stop(), lookUp.close()]);
      await ingester.close();
      await searchThread?.close();
      store.close();
    },
    syncNow: sync.syncNow,
    pollNow: sync.pollNow,
    receive(request, onAccepted, isTimeChecked) {
      const accepted = (): void => {
        // Otherwise a step of that work could come between the webhook and its commit.
        indexWork.postpone();
        onAccepted?.();
      };
      return receiver.receive(request, accepted, isTimeChecked);
    },
    verify: receiver.verify,
    shared: sharedValues(store, applier),
    followed: followedLog(store, client, applier),
    withdrawMissed: createWithdrawMissed({ store, client, applier, log }),
    refresh: (type, id) =>
      type === 'sections' ? sync.refresh.sections({ tries: 2 }) : sync.refresh.document(type, id, { tries: 2 }),
    refused: () => receiver.refused,
    preview: createPreview({ store, client, ingester, now, secret }),
    status: sync.status,
    isComplete: (type) => backfillCursor(store, type).done,
    lookUp: lookUp.find,
  };
}

/** The ingester for WordPress's documents, in threads of its own unless the options say otherwise. */
function openIngester(options: ConnectedOptions, site: string, store: ContentStore): Ingester {
  const { wordpress, frameHosts, mediaHosts, log } = options;
  const captions = createCaptionReader(options.fetch ?? fetch, log);
  const measure = measureOnce(store, options.measure, log);
  const context = { wordpress: wordpress.url, site, frameHosts, mediaHosts, captions, measure };
  return options.threads === false ? createLocalIngester(context) : createThreadedIngester(context, log);
}

/** The background work on the search index. */
function createIndexWorks(store: ContentStore, log: Logger): IndexWork {
  const works = [
    createIndexWork(log, () => reindexSome(store) || indexNewEntries(store), 1000),
    createIndexWork(log, () => mergeSome(store), 100),
  ];
  return {
    postpone() {
      for (const work of works) work.postpone();
    },
    stop() {
      for (const work of works) work.stop();
    },
  };
}

/** Milliseconds between the start and the warm-up of ingest; readers' requests come first. */
const warmUpAfterMs = 1500;

/**
 * Warms ingest up after the start. Its thread needs half a second to load its libraries, and as long until V8 has optimized them: the editor
 * of the first publish must not wait for that.
 */
function warmUpSoon(ingester: Ingester, { threads, log }: Pick<ContentOptions, 'threads' | 'log'>): NodeJS.Timeout {
  const warmUp = () => (threads === false ? ingester.lines(['']) : warmUpIngest(ingester));
  const onFailure = (error: unknown): void => {
    if (error instanceof PoolClosed) return;
    log.warn({ error: String(error) }, 'content: the warm-up of ingest failed; the first publishes will be slow');
  };
  return setTimeout(() => void warmUp().catch(onFailure), warmUpAfterMs).unref();
}

/** Values that aren't documents, such as the most read stories: in a cluster they go through the content log. */
const sharedValues = (store: ContentStore, applier: Applier): Content['shared'] => ({
  read: (key) => store.getMeta(`shared:${key}`),
  write: async (key, value, tags) => void (await applier.write([{ kind: 'meta', key: `shared:${key}`, value, tags }])),
});

/** The content store as it follows a content log. */
const followedLog = (store: ContentStore, client: Client, applier: Applier): Content['followed'] => ({
  revision: () => logRevision(store),
  followLog(id) {
    if (store.getMeta('log-id') === id) return;
    if (store.getMeta('ready') !== null || logRevision(store) > 0) store.rebuild('it follows another content log');
    store.setMeta('log-id', id);
  },
  fetchTime: client.nextTime,
  apply(entries, revision, tags) {
    // Another node may have fetched them: this node's next requests count as later, whatever the clocks say.
    client.continueAfter(latestFetchAmong(entries));
    return applier.applyLog(entries, revision, tags);
  },
  ahead: () => entriesAhead(store).map(fetchTargetOf),
});

/** The time of the newest fetch among entries of the content log; 0 if there is none. */
const latestFetchAmong = (entries: readonly ContentEntry[]): number =>
  entries.reduce((latest, entry) => Math.max(latest, ('fetched' in entry && entry.fetched?.at) || 0), 0);

/** The time of the newest fetch in the content store. The client gives later fetches later times, even if the clock was set back. */
function latestFetchIn(store: ContentStore): number {
  const newestFetches = `SELECT max(fetched) AS at FROM documents UNION ALL SELECT max(fetched) FROM withdrawn
    UNION ALL SELECT max(at) FROM comment_fetches`;
  return Math.max(
    0,
    ...store
      .prepare(newestFetches)
      .all()
      .map(({ at }) => Number(at)),
  );
}
