/**
 * Creates the services once, from the settings, each after its dependencies. `main.ts` calls it in production, `src/middleware.ts` in
 * `astro dev`, and commands/ for `npm run press` and the like.
 */
import { join } from 'node:path';
import { openContent } from '../content/content.server.ts';
import type { Content } from '../content/service.ts';
import { schemaVersion } from '../content/store/schema.sql.ts';
import type { Accounts } from '../lib/accounts/service.ts';
import { tenantSessions } from '../lib/accounts/zephr.server.ts';
import { createPush } from '../lib/alerts/onesignal.server.ts';
import { type Alerts, createAlerts, type RunningAlerts } from '../lib/alerts/service.server.ts';
import type { BillingStats } from '../lib/billing/engine/billing.server.ts';
import { fileHeaders } from '../lib/cdn/model.ts';
import { tag } from '../lib/content/tags.ts';
import { createHmacs, createSealer, type Sealer } from '../lib/crypto.server.ts';
import type { Database } from '../lib/database.ts';
import { createExternalCheck, createMailDomainCheck } from '../lib/email-verification/external.server.ts';
import type { EmailVerification } from '../lib/email-verification/model.ts';
import { createEmailVerification } from '../lib/email-verification/verification.server.ts';
import { createGeo, type Geo } from '../lib/geo/geo.server.ts';
import type { Participation } from '../lib/headline-tests/model.ts';
import {
  createHeadlineTests,
  type HeadlineTests,
  type RunningHeadlineTests,
} from '../lib/headline-tests/service.server.ts';
import { createLimiter, type Limiter } from '../lib/http/limiter.server.ts';
import { createImages, type Images } from '../lib/images/images.server.ts';
import { changedFiles } from '../lib/images/picture-files.server.ts';
import type { RepeatedTask } from '../lib/jobs/tasks.ts';
import type { Logger } from '../lib/logging.ts';
import type { MailStats } from '../lib/mail/outbox.server.ts';
import type { MostRead } from '../lib/most-read/model.ts';
import { createMostRead, type RunningMostRead } from '../lib/most-read/most-read.server.ts';
import { openAlgolia } from '../lib/search/algolia.server.ts';
import type { Search } from '../lib/search/model.ts';
import { createSearch } from '../lib/search/search.server.ts';
import { purposesAsked } from '../lib/third-party/settings.ts';
import type { Ticker } from '../lib/ticker/model.ts';
import { openTicker, type RunningTicker } from '../lib/ticker/ticker.server.ts';
import { inSpan } from '../lib/tracing.ts';
import { publication } from '../publication.ts';
import { type ChangeFeed, createChangeFeed } from './change-feed.ts';
import { type Cluster, createCluster } from './cluster/cluster.ts';
import { type ClusterLog, openClusterLog } from './cluster/cluster-log.ts';
import { createSharedQuotes, createSharedValue, quotesKey } from './cluster/shared-value.ts';
import { type Config, sessionDatabaseUrl } from './config/config.ts';
import { openDataDir } from './data-dir.ts';
import { openDatabase } from './database/open.ts';
import { describeFeatures, type Features } from './features.ts';
import { type OldRowsList, startPruning } from './old-rows.ts';
import { createPicturePrefetch, type PicturePrefetch } from './picture-prefetch.ts';
import { openReaders, type ReaderServices, type Readers, type ReadersState } from './readers.ts';
import { accessKeysOf, accountsSecret, openReaderCookies } from './secrets.ts';

/** `null` when accounts are off (`features.accounts`) or a Zephr tenant has them. */
type OptionalReaderServices = { readonly [Name in keyof ReaderServices]: ReaderServices[Name] | null };

/** The services in `Astro.locals.services`. Services that need accounts are declared in readers.ts, all others here. */
export interface Services extends OptionalReaderServices {
  /** Sync with WordPress: webhooks (`receive`), previews (`preview`), state (`status`). */
  readonly content: Content;
  /** The picture service behind `/image`. */
  readonly images: Images;
  /** The session of a request, wherever the accounts are; `null` when they are off. */
  readonly sessions: Pick<Accounts, 'session'> | null;
  /** Sends alerts to the readers who asked for them. */
  readonly alerts: Alerts;
  readonly emailVerification: EmailVerification;
  readonly geo: Geo;
  /** Rate limits of the whole site. */
  readonly limiter: Limiter;
  readonly search: Search;
  /** The most read stories. */
  readonly mostRead: MostRead;
  /** Headlines that are tested on readers. */
  readonly headlineTests: HeadlineTests;
  /** The market ticker; `null` without a provider (`features.ticker`). */
  readonly ticker: Ticker | null;
  /** Encrypts values for a browser to store and not to read, such as the address of a pending sign-in. */
  readonly sealer: Sealer;
  readonly log: Logger;
  /** Which features are on, and which settings would turn on the others. */
  readonly features: Features;
}

export interface Composition {
  readonly config: Config;
  readonly services: Services;
  /** The accounts' database; it exists even when accounts are off. */
  readonly database: Database;
  /** `Astro.locals` of one request; with a new reader each time, because the reader records what the page shows. */
  locals(): App.Locals;
  /** State of the accounts' database and of the mail; `null` when accounts are off. */
  readers(): ReadersState | null;
  /** Statistics of the mail; `null` when accounts are off. */
  readonly mailStats: (() => MailStats) | null;
  /** Statistics of billing; `null` when billing is off. */
  readonly billingStats: (() => BillingStats) | null;
  /** This process as a node of a cluster; `null` without a shared PostgreSQL. */
  readonly cluster: Cluster | null;
  /** Changes of the pages' content. */
  readonly changes: ChangeFeed;
  /** Publishes changed tags; in a cluster to all nodes, see `Cluster.publish`. */
  publish(tags: ReadonlySet<string>, by: 'holder' | 'any'): void;
  /** Starts the sync with WordPress, the mail and the background tasks. */
  start(): void;
  /** Stops them and closes every file. */
  stop(): Promise<void>;
}

/** The content store's file in the data folder. */
export const contentFile = 'content.sqlite';

/** Name of the lists of the most read among the values that the nodes share. */
const mostReadKey = 'most-read';

/** Hosts of pictures that articles may show besides WordPress's own: the poster pictures of videos. */
const pictureHosts = ['i.ytimg.com', 'img.youtube.com'];

/** Receives webhooks, each of them a span. */
const withSpan =
  (receive: Content['receive']): Content['receive'] =>
  (request, onAccepted) =>
    inSpan('webhook', {}, async (span) => {
      const answer = await receive(request, onAccepted);
      span.set({ 'broadsheet.webhook.status': answer.status });
      return answer;
    });

/** Sessions of the Zephr tenant that has the accounts. */
const tenantSessionsOf = (config: Config): Services['sessions'] =>
  config.zephrUrl === null
    ? null
    : tenantSessions({
        url: config.zephrUrl,
        secure: config.siteUrl.startsWith('https:'),
        access: openReaderCookies(config).access,
      });

export interface ComposeOptions {
  /** Whether this process serves pages: only then is it a node of the cluster. */
  readonly serves?: boolean;
  /** Whether data of another version is upgraded or replaced (default). A command doesn't: that version may be running. */
  readonly upgrades?: boolean;
  /** See `ClusterOptions`. */
  readonly workersUpdated?: (() => Promise<void>) | undefined;
}

/** @throws Error with a sentence for the operator when the data folder can't be written */
export async function compose(
  config: Config,
  log: Logger,
  { serves = false, upgrades = true, workersUpdated }: ComposeOptions = {},
): Promise<Composition> {
  openDataDir(config.dataDir, log);
  const features = describeFeatures(config);
  for (const [feature, state] of Object.entries(features)) {
    if (!state.on) log.warn({ feature, why: state.why }, 'A feature is off');
  }
  const { dataDir, databaseUrl, databasePool } = config;
  const database = await openDatabase({ dataDir, databaseUrl, connections: databasePool, log, upgrades });
  const inCluster = config.wordpress !== null && databaseUrl !== null && serves;
  const clusterLog = inCluster ? openClusterLog({ db: database.db, version: schemaVersion, log }) : null;
  /** Changes of everything that pages show: content, prices, most read stories. */
  const changes = createChangeFeed();
  const contentSide = await openContentSide(config, changes, clusterLog, log, upgrades);
  const { content } = contentSide;
  const assetStore = inCluster ? await openAssetStore(config) : undefined;
  const cluster =
    clusterLog &&
    openCluster(config, {
      clusterLog,
      assetStore,
      content,
      changes,
      log,
      workersUpdated,
      onLead: () => ticker?.lead(),
      onWanted: (key) => key === quotesKey && ticker?.wanted(),
    });
  const publish = (tags: ReadonlySet<string>, by: 'holder' | 'any'): void => {
    if (cluster) cluster.publish(tags, by);
    else void changes.publish({ tags, withdrawn: [] });
  };
  const onPrices = (): void => publish(new Set([tag.prices]), 'any');
  const authors = (): string[] => authorNames(content);
  const limiter = createLimiter(database, createHmacs(accountsSecret(config)), config.accounts.limits, Date.now, log);
  const emailVerification = openEmailVerification(config, log, limiter);
  const readers = await openReaders(config, {
    database,
    limiter,
    verification: emailVerification,
    log,
    onPrices,
    content: content.reader,
    authors,
  });
  const paged = createPageFeatures(config, { database, limiter, content, clusterLog, cluster, publish, log });
  const { mostRead, headlineTests, ticker } = paged;
  const alerts = createAlerts({
    database,
    newsletters: readers?.services.newsletters ?? null,
    push: config.push && createPush(config.push, { url: config.siteUrl, name: publication.name }),
    shown: () => content.reader().alert(),
    syncedAt: () => content.reader().edition().syncedAt,
    log,
  });
  changes.follow({ changed: ({ tags }) => void (tags.has(tag.alert) && alerts.check()) });
  const services: Services = {
    ...(readers?.services ?? withoutAccounts),
    sessions: readers?.services.accounts ?? tenantSessionsOf(config),
    content: { ...content, receive: withSpan((cluster ?? content).receive) },
    images: contentSide.images,
    alerts,
    emailVerification,
    geo: createGeo(config.geo),
    limiter,
    search: contentSide.search,
    mostRead,
    headlineTests,
    ticker,
    sealer: createSealer({ secrets: accessKeysOf(config).map(({ secret }) => secret) }),
    log,
    features,
  };
  const { pictures } = contentSide;
  const oldRows = { ...readers?.oldRows, limits: limiter.oldRows, headlineTests: headlineTests.oldRows };
  const running = { readers, cluster, ...paged, pictures, alerts, oldRows };
  return compositionOf({ config, services, database, changes, publish, ...running });
}

interface PageFeatureOptions extends Pick<Composition, 'database' | 'cluster' | 'publish'> {
  readonly limiter: Limiter;
  readonly content: Content;
  readonly clusterLog: ClusterLog | null;
  readonly log: Logger;
}

/** What pages show and count besides the content. */
function createPageFeatures(
  config: Config,
  { database, limiter, content, clusterLog, cluster, publish, log }: PageFeatureOptions,
) {
  const mostRead = createMostRead({
    database,
    limiter,
    log,
    reader: content.reader,
    rules: publication.mostRead,
    file: join(config.dataDir, 'most-read.json'),
    onChange: (tags) => publish(tags, 'holder'),
    shared: clusterLog ? createSharedValue(clusterLog, content, mostReadKey) : undefined,
  });
  const headlineTests = createHeadlineTests({
    database,
    tested: () => content.reader().testedStories(),
    participation: participationOf(config),
    secure: config.siteUrl.startsWith('https:'),
    log,
  });
  const ticker = openTicker(config.ticker, {
    rules: publication.ticker,
    log,
    onChange: cluster ? undefined : () => publish(new Set([tag.ticker]), 'any'),
    shared: clusterLog && cluster ? createSharedQuotes(clusterLog, cluster, content) : undefined,
  });
  return { mostRead, headlineTests, ticker };
}

const openEmailVerification = (
  { emailDnsCheck, emailVerifier }: Config,
  log: Logger,
  limiter: Limiter,
): EmailVerification =>
  createEmailVerification({
    mailDomain: emailDnsCheck ? createMailDomainCheck() : null,
    external: emailVerifier && createExternalCheck({ ...emailVerifier, log, limiter }),
  });

/** The bucket of hashed files; its module is loaded only where there is one. */
async function openAssetStore({ assetsBucket }: Config) {
  if (!assetsBucket) return undefined;
  const { createBucketAssets } = await import('./cluster/bucket.ts');
  return createBucketAssets({ settings: assetsBucket });
}

/** If the site doesn't ask for consent to measurement, readers can't give it. */
function participationOf({ headlineTests, thirdParties }: Config): Participation | 'off' {
  if (headlineTests === 'all') return 'all';
  return purposesAsked(thirdParties, ['measurement']).length > 0 ? 'consent' : 'off';
}

/** The content, and the followers of its changes: search and pictures. Its changes are published to the feed of all changes. */
async function openContentSide(
  config: Config,
  changes: ChangeFeed,
  clusterLog: ClusterLog | null,
  log: Logger,
  upgrades: boolean,
) {
  const { dataDir } = config;
  const contentChanges = createChangeFeed();
  contentChanges.follow({ changed: changes.publish, durable: changes.durable });
  const images = await openImages(config, log);
  const content = openContentStore(config, images, contentChanges, clusterLog, log, upgrades);
  const pictures = createPicturePrefetch({ reader: content.reader, measure: (url) => images.measure(url), log });
  const hosted = config.algolia && openAlgolia({ access: config.algolia, reader: content.reader, dataDir, log });
  const search = createSearch({ hosted, log });
  contentChanges.follow({
    changed({ tags, withdrawnTags = [] }) {
      pictures.soon();
      search.changed([...tags, ...withdrawnTags]);
      const files = changedFiles(tags);
      // Picture files are invalidated before the documents that show them are fetched, because pictures are measured then.
      return files.anyFile || files.digests.length > 0 ? images.changed(files).then(() => undefined) : undefined;
    },
  });
  return { images, content, pictures, search };
}

const openImages = (config: Config, log: Logger): Promise<Images> =>
  createImages({
    dir: join(config.dataDir, 'images'),
    maxBytes: config.imageCacheBytes,
    allowedHosts: [...pictureHosts, ...config.imageHosts],
    trustedHost: config.wordpress ? new URL(config.wordpress.url).host : undefined,
    cdnHeadersOf: config.cdnHeaders
      ? (tags, varies) => fileHeaders(config.cdn?.provider ?? null, tags, varies)
      : undefined,
    log,
  });

const openContentStore = (
  config: Config,
  images: Images,
  changes: ChangeFeed,
  clusterLog: ClusterLog | null,
  log: Logger,
  upgrades: boolean,
): Content =>
  openContent({
    file: join(config.dataDir, contentFile),
    upgrades,
    wordpress: config.wordpress,
    siteUrl: config.siteUrl,
    secret: config.newsroomSecret ?? undefined,
    frameHosts: [...publication.embeds.frameHosts, ...config.frameHosts],
    mediaHosts: config.imageHosts,
    measure: (url) => images.measure(url),
    log,
    pollSeconds: config.syncPollSeconds,
    onChange: changes.publish,
    isDurable: changes.durable,
    contentLog: clusterLog?.appender,
    leads: clusterLog?.leads,
  });

function openCluster(config: Config, options: Omit<Parameters<typeof createCluster>[0], 'listenUrl'>): Cluster | null {
  const listenUrl = sessionDatabaseUrl(config);
  return listenUrl === null ? null : createCluster({ ...options, listenUrl });
}

const authorNames = (content: Content): string[] =>
  content
    .reader()
    .authors()
    .map(({ name }) => name);

export const withoutAccounts: OptionalReaderServices = {
  accounts: null,
  access: null,
  savedStories: null,
  privateFeeds: null,
  billing: null,
  comments: null,
  newsletters: null,
  support: null,
};

interface Composed extends Pick<Composition, 'config' | 'services' | 'database' | 'changes' | 'publish' | 'cluster'> {
  readonly readers: Readers | null;
  readonly mostRead: RunningMostRead;
  readonly headlineTests: RunningHeadlineTests;
  readonly ticker: RunningTicker | null;
  readonly pictures: PicturePrefetch;
  readonly alerts: RunningAlerts;
  readonly oldRows: OldRowsList;
}

function compositionOf({
  readers,
  mostRead,
  headlineTests,
  ticker,
  pictures,
  alerts,
  oldRows,
  ...built
}: Composed): Composition {
  const { config, services, database, cluster } = built;
  const { content, search, images } = services;
  let pruning: RepeatedTask | undefined;
  return {
    ...built,
    locals: () => ({ content: content.reader(), variant: 'public', markAccess: () => {}, config, services }),
    readers: () => readers?.state() ?? null,
    mailStats: readers && (() => readers.outbox.stats()),
    billingStats: readers?.billingStats ?? null,
    start() {
      readers?.start();
      mostRead.start();
      headlineTests.start();
      ticker?.start();
      pruning ??= startPruning(oldRows, services.log);
      if (!config.wordpress) return;
      alerts.start();
      content.start();
      cluster?.start();
      search.start();
      pictures.soon();
    },
    async stop() {
      pictures.stop();
      await alerts.stop();
      await cluster?.stop();
      await search.stop();
      await mostRead.stop();
      await headlineTests.stop();
      ticker?.stop();
      await content.stop();
      await images.close();
      await pruning?.stop();
      await readers?.stop();
      await database.close();
    },
  };
}
