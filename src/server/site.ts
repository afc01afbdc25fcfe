/**
 * Opens the site over its services: press, publishing, live streams, operators' page and HTTP server, each created after its
 * dependencies.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openTenant, type Tenant } from '../lib/accounts/zephr.server.ts';
import { buildName } from '../lib/build-name.server.ts';
import { openCdn } from '../lib/cdn/cdn.server.ts';
import { tag } from '../lib/content/tags.ts';
import { createCspReports } from '../lib/csp-reports/collector.server.ts';
import type { LimitName } from '../lib/http/limits.ts';
import { openIndexNow } from '../lib/indexnow/indexnow.server.ts';
import { createVitals } from '../lib/vitals/collector.server.ts';
import { keepCheckpointed } from '../lib/workers/checkpoints.server.ts';
import { openEarlierAssets } from '../press/store/earlier-assets.server.ts';
import { compareSettings, fingerprintsOf } from './cluster/equal-settings.ts';
import { type Composition, contentFile } from './compose.ts';
import type { Config } from './config/config.ts';
import { renewAccess } from './http/cached-pages.ts';
import { clientAddressOf } from './http/client-address.ts';
import { createCopyGate } from './http/copy-gate.ts';
import { createCrawlers } from './http/crawlers.ts';
import { createHttpServer, createServerCounts } from './http/http-server.ts';
import { listen } from './http/listen.ts';
import type { RenderPage } from './http/page-renderer.ts';
import { requestIdHeader, requestIds } from './http/request-id.ts';
import { type SecurityHeaders, securityHeaders } from './http/security-headers.ts';
import type { HttpServerOptions, OperatorRoutes } from './http/server-options.ts';
import { openSharedDictionary } from './http/shared-dictionary.ts';
import { shutDown } from './http/shutdown.ts';
import { earlierFiles, openStatics, type Statics } from './http/static-files.ts';
import { createLiveFeed } from './live/live-feed.ts';
import { createLiveStreams, type LiveStreams } from './live/live-streams.ts';
import { metricSources } from './operators/metric-sources.ts';
import { createMetrics } from './operators/metrics.ts';
import { createOperators, operatorCookieName } from './operators/operators.ts';
import { type AlertBanner, createAlertBanner } from './press/alert-banner.ts';
import { startMaintenance } from './press/maintenance.ts';
import { forgetOtherSites, openSitePress, type SitePress } from './press/open-press.ts';
import { createPublishing, markPurges } from './press/publishing.ts';
import { createPressRender } from './press/render-page.ts';
import { accessCookieName, giftCookieName } from './secrets.ts';
import type { Tracing } from './tracing/tracing.ts';
import { forwardedAddress, forwardedId, innerSocket, listenInside } from './workers/inner-socket.ts';
import type { WriterLink } from './workers/writer-link.ts';

/** A site whose server may get connections from another process. */
export interface Writer extends Site {
  readonly server: Server;
}

export interface Site {
  /** Port that the site listens on. */
  readonly port: number;
  /** Finishes requests in flight, then stops; may be called more than once. */
  stop(): Promise<void>;
}

/** Folder into which `npm run build` writes the pages. */
export const dist = fileURLToPath(new URL('../../dist/', import.meta.url));

/** Milliseconds that a start waits for the changes of the cluster. */
const catchUpMs = 5000;

/** Milliseconds of a stop after which it no longer waits for the database; the service manager allows a minute for a stop. */
const databaseStopMs = 30_000;

/** Functions that close everything that was opened, in this order. */
export type Closers = (() => unknown)[];

/** Tracing stops last, so that the stop of the others is recorded, too. */
export async function closeAll({ closers, tracing }: Pick<SiteStart, 'closers' | 'tracing'>): Promise<void> {
  for (const close of closers) await close();
  await tracing?.stop();
}

/** What exists before the site is opened. */
export interface SiteStart {
  readonly app: Composition;
  readonly render: RenderPage;
  /** To the serving workers; `null`: there are none. */
  readonly link: WriterLink | null;
  /** Called in this order when the site stops, or its start fails. Everything that is opened here adds its closer. */
  readonly closers: Closers;
  readonly tracing: Tracing | null;
}

/** Opens everything, and listens. */
export async function openSite(start: SiteStart): Promise<Writer> {
  const { app, render, link, closers } = start;
  const { config, services, cluster } = app;
  const { content, log } = services;
  const pages = openPages(start);
  const { site, build } = pages;
  const { press } = site;
  const side = openSideServices(start, pages);
  const { streams } = side;
  const banner = openBanner(start, site, streams);
  followChanges(start, site, side, banner);
  const live = followLive(app, render, streams, link);
  const assets = await openEarlierAssets({
    dir: join(config.dataDir, 'assets'),
    build: buildName(`${dist}client`),
    source: `${dist}client/_assets`,
    log,
  });
  // Opened before the first page that names these files.
  const shared = cluster?.shareAssets(`${dist}client/_assets`);
  await shared?.offer();
  const tenant = openAccountTenant(config, app);
  closers.push(() => tenant?.close());
  const editionReady = brieflyRemembered(() => services.features.content.on && content.reader().edition().ready);
  const earlierFile = earlierFiles({ find: async (path) => (await assets.find(path)) ?? shared?.find(path) });
  const server = openServer(start, pages, side, { editionReady, tenant, earlierFile, insertion: banner.current });
  const socket = link && innerSocket(config.dataDir);
  link?.onReads(site.addReads);
  live.start();
  link?.open(() => ({
    live: live.stories(),
    socket: socket ?? '',
    file: site.file,
    build: press.stats().build,
    isReady: editionReady(),
    isStored: press.stored,
    banner: banner.html(),
  }));
  // Content that was withdrawn just before a crash must be gone before the first reader.
  content.replay();
  // Content that was withdrawn while this node was away must be gone as well.
  await cluster?.node.catchUp(catchUpMs);
  await banner.update();
  // Serving workers from before may have shown open pages an alert that was withdrawn in the meantime.
  if (banner.html() === null) link?.banner(null);
  const port = await listenTo(server, config, socket);
  if (!link) log.info({ host: config.host, port, site: config.siteUrl, build }, 'The site is listening');
  app.start();
  if (cluster) closers.unshift(startComparison(app, cluster.node.id));
  const { reader } = content;
  const publish = (tags: ReadonlySet<string>): void => app.publish(tags, 'holder');
  const { earlierKeys, isFinished, isPurged } = site;
  // In a cluster every node does this: until the last one is replaced, the CDN may fetch pages of the earlier build.
  const purge = async (): Promise<void> => {
    await link?.workersUpdated();
    side.cdn.purge([tag.site]);
    site.markPurged();
  };
  const shown = { editionReady, reader, earlierKeys, isFinished, isPurged };
  const maintenance = startMaintenance({ press, publish, assets, log, purge, ...shown });
  return stoppable(server, port, async () => {
    log.info({}, 'Stopping');
    app.database.abortQueriesAfter(databaseStopMs);
    maintenance.stop();
    streams.close();
    if (!(await shutDown(server))) log.warn({}, "Connections that didn't end in time were closed");
    await closeAll(start);
  });
}

/** Compares this node's settings with those of the others. @returns a function that stops it */
function startComparison({ config, database, services }: Composition, node: string): () => Promise<void> {
  const { log } = services;
  return compareSettings({ db: database.db, node, fingerprints: fingerprintsOf(config), log }).stop;
}

interface Pages {
  readonly site: SitePress;
  readonly statics: Statics;
  readonly security: SecurityHeaders;
  readonly build: string;
}

/** Opens the press over this build's pages and files. */
function openPages({ app, render, link, closers }: SiteStart): Pages {
  const { config, services, cluster } = app;
  const { log } = services;
  const security = securityHeaders(config);
  const build = buildName(`${dist}server`);
  forgetOtherSites(config);
  const shareOf = cluster ? (name: string) => cluster.shareOf(name) : undefined;
  const statics = openStatics(`${dist}client`);
  const dictionary = openSharedDictionary(statics, config, log);
  closers.push(async () => dictionary?.close());
  const onReplaced = link?.replaced;
  const site = openSitePress({ config, app, render, security, dictionary, build, log, shareOf, onReplaced });
  // Pages that wait for a render would fail without the content store, which the first closer closes.
  closers.unshift(site.press.stopRendering);
  closers.push(site.close);
  closers.push(keepCheckpointed([join(config.dataDir, contentFile), site.file], log).stop);
  return { site, statics, security, build };
}

/** Opens the services beside the pages: the CDN and search engines that are notified, browsers' reports, event streams, metrics. */
function openSideServices({ app, link, closers }: SiteStart, { site, security }: Pages) {
  const { config, services } = app;
  const { log } = services;
  const { siteUrl } = config;
  const cdn = openCdn(config.cdn, log);
  const closeCdn = markPurges(cdn, config.dataDir);
  const indexNow = openIndexNow(config.indexNow && { ...config.indexNow, siteUrl }, log);
  closers.push(() => Promise.all([closeCdn(), indexNow.close()]));
  const admitted = (limit: LimitName) => async (address: string) =>
    (await services.limiter.count(limit, { address }))?.retryAfter ?? null;
  const cspReports = createCspReports({ siteUrl, admit: admitted('csp') });
  const vitals = createVitals({ siteUrl, admit: admitted('vitals'), note: (report) => metrics.measured(report) });
  const counts = createServerCounts();
  const streams = createLiveStreams({ pages: site, always: security.always, mostConnections: config.liveConnections });
  const metrics = createMetrics(
    metricSources(app, {
      press: site.press,
      counts,
      live: streams.stats,
      cdn,
      indexNow,
      cspReports,
      vitals: vitals.stats,
      others: link?.metrics,
    }),
    log,
  );
  site.onRender(metrics.rendered);
  return { cdn, indexNow, cspReports, vitals, counts, streams, metrics };
}

type SideServices = ReturnType<typeof openSideServices>;

/** Opens the banner of breaking news, which the press puts into stored pages, and streams into open ones. */
function openBanner({ app, link, closers }: SiteStart, { press }: SitePress, streams: LiveStreams): AlertBanner {
  const { content, log } = app.services;
  const onEnd = (): void => app.publish(new Set([tag.alert]), 'holder');
  const onBanner = (html: string | null): void => {
    streams.alert(html);
    link?.banner(html);
  };
  const banner = createAlertBanner({ press, reader: content.reader, onBanner, onEnd, log });
  closers.unshift(banner.stop);
  return banner;
}

/** Publishes every change of what pages show. */
function followChanges({ app, link }: SiteStart, site: SitePress, side: SideServices, banner: AlertBanner): void {
  const { services, cluster } = app;
  const { press } = site;
  const publishing = createPublishing({
    press,
    prioritize: site.prioritize,
    cdn: side.cdn,
    indexNow: side.indexNow,
    reader: services.content.reader,
    log: services.log,
    published: side.metrics.published,
    workersUpdated: link?.workersUpdated,
    updateAlert: banner.update,
    arrived: cluster?.arrived,
  });
  cluster?.repeatPurgesWith(publishing.purgeAgain);
  site.onFresh(publishing.fresh);
  app.changes.follow({ changed: publishing.changed, durable: () => press.durable });
}

type ServerParts = Pick<HttpServerOptions, 'tenant' | 'earlierFile' | 'insertion'> & {
  readonly editionReady: () => boolean;
};

/** Creates the HTTP server; it doesn't listen yet. */
function openServer(
  start: SiteStart,
  pages: Pages,
  side: SideServices,
  { editionReady, ...parts }: ServerParts,
): Server {
  const { app, render, link, tracing } = start;
  const { site, statics, security } = pages;
  const { counts, streams, metrics } = side;
  const clients = clientsOf(app.config, link !== null);
  return createHttpServer({
    ...siteRoutes(app, site, editionReady),
    ...clients,
    ...parts,
    statics,
    security,
    render,
    operators: openOperators(start, site, side, security, clients.clientAddress),
    counts,
    streams,
    answered: metrics.answered,
    spans: tracing?.request,
  });
}

/** Sends changes of live stories to open pages, here and in serving workers. */
function followLive(
  { changes, config, locals, services }: Composition,
  render: RenderPage,
  streams: LiveStreams,
  link: WriterLink | null,
) {
  const renderLive = createPressRender(render, config.siteUrl, locals);
  const live = createLiveFeed({
    reader: services.content.reader,
    async render(entry, variant) {
      const { status, body } = await renderLive(`/fragments/live/${entry}`, variant);
      return status === 200 ? Buffer.from(body).toString() : '';
    },
    sink: {
      stories(stories) {
        streams.stories(stories);
        link?.live.stories(stories);
      },
      send(story, events) {
        streams.send(story, events);
        link?.live.send(story, events);
      },
    },
    log: services.log,
  });
  changes.follow({ changed: live.changed });
  return live;
}

/** The part of the server's options that comes from the settings and the services. */
function siteRoutes(
  { config, services, locals, readers, cluster }: Composition,
  site: SitePress,
  editionReady: () => boolean,
) {
  const { content, features, sessions, log } = services;
  return {
    siteUrl: config.siteUrl,
    pages: { press: site.press, keyOf: site.keyOf, access: site.access, passes: site.passes },
    renewAccess: sessions ? renewAccess(sessions, site.access, log) : undefined,
    crawlers: config.crawlers ? createCrawlers({ ...config.crawlers, log }) : undefined,
    // The file by which search engines check that the key belongs to the site.
    fixedTexts: new Map(config.indexNow ? [[`/${config.indexNow.key}.txt`, config.indexNow.key]] : []),
    locals,
    editionReady,
    copyGate: createCopyGate(content),
    missesChanges: cluster ? () => !cluster.node.isConnected : undefined,
    isBehind: cluster ? () => cluster.node.isBehind : undefined,
    readiness: () => {
      const sync = content.status();
      const node = cluster?.stats() ?? null;
      return { complete: sync.complete, features, sync, readers: readers(), cluster: node };
    },
    logsResponses: config.logLevel === 'debug',
    log,
  } satisfies Partial<HttpServerOptions>;
}

/** Who sent a request: according to the connection and trusted proxies, or to a serving worker that passed it on. */
function clientsOf({ trustedProxies }: Config, hasServingWorkers: boolean) {
  const clientAddress = clientAddressOf(trustedProxies);
  const requestId = requestIds(trustedProxies);
  return hasServingWorkers
    ? { clientAddress: forwardedAddress(clientAddress), requestId: forwardedId(requestIdHeader, requestId) }
    : { clientAddress, requestId };
}

/** `undefined` without an operator token. */
function openOperators(
  { app, link }: SiteStart,
  { press, keyOf }: SitePress,
  { cdn, metrics, counts, cspReports, vitals }: SideServices,
  { always }: SecurityHeaders,
  clientAddress: (incoming: IncomingMessage) => string,
): OperatorRoutes | undefined {
  const { config, services, database, readers } = app;
  if (config.operatorToken === null) return undefined;
  return createOperators({
    cdn,
    metrics,
    vitals,
    always,
    clientAddress,
    database,
    limiter: services.limiter,
    token: config.operatorToken,
    siteUrl: config.siteUrl,
    press,
    keyOf,
    content: services.content,
    server: () => counts,
    hasServingWorkers: link !== null,
    reports: cspReports,
    stripe: () => readers()?.stripe ?? null,
    log: services.log,
  });
}

/** The Zephr tenant that has the accounts, if one is configured. */
function openAccountTenant(config: Config, { services }: Composition): Tenant | undefined {
  if (config.zephrUrl === null || !services.features.accounts.on) return undefined;
  const { zephrUrl: url, zephr: settings, siteUrl } = config;
  const ownCookies = [giftCookieName, operatorCookieName];
  return openTenant({ url, settings, siteUrl, accessCookie: accessCookieName, ownCookies, log: services.log });
}

/**
 * @param socket Unix socket of this process if a supervisor has the port. @returns the port; 0 if this process doesn't have it
 */
async function listenTo(server: Server, config: Config, socket: string | null): Promise<number> {
  if (socket !== null) {
    await listenInside(server, socket);
    return 0;
  }
  await listen(server, config);
  return (server.address() as AddressInfo).port;
}

function stoppable(server: Server, port: number, stop: () => Promise<void>): Writer {
  let stopping: Promise<void> | undefined;
  return {
    server,
    port,
    stop() {
      stopping ??= stop();
      return stopping;
    },
  };
}

/** Remembers `true` for half a second, because a query of the content store for each request would cost more than the response. */
function brieflyRemembered(ask: () => boolean): () => boolean {
  let known = false;
  let askedAt = Number.NEGATIVE_INFINITY;
  return () => {
    const clock = performance.now();
    if (clock - askedAt > 500 || !known) {
      known = ask();
      askedAt = clock;
    }
    return known;
  };
}
