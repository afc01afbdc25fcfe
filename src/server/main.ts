/**
 * The composition root: settings, log, services, press, HTTP server, each created after its dependencies. When run directly, it is the
 * site: it listens, syncs, and stops on SIGTERM, SIGINT, SIGHUP and when its parent process ends.
 */
import type { IncomingMessage, Server } from 'node:http';
import { flushCompileCache } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openTenant, type Tenant } from '../lib/accounts/zephr.server.ts';
import { type Cdn, openCdn } from '../lib/cdn/cdn.server.ts';
import { tag } from '../lib/content/tags.ts';
import { type CspReports, createCspReports } from '../lib/csp-reports/collector.server.ts';
import { type IndexNow, keyFile, openIndexNow } from '../lib/indexnow/indexnow.server.ts';
import { createVitals, type VitalsCollector } from '../lib/vitals/collector.server.ts';
import { keepCheckpointed } from '../lib/workers/checkpoints.server.ts';
import { openEarlierAssets } from '../press/store/earlier-assets.server.ts';
import { type Composition, compose, contentFile } from './compose.ts';
import { type Config, parseConfig } from './config/config.ts';
import { unknownSettings } from './config/unknown-settings.ts';
import { accessCookieName } from './data-dir.ts';
import { renewAccess } from './http/cached-pages.ts';
import { clientAddressOf } from './http/client-address.ts';
import { createCopyGate } from './http/copy-gate.ts';
import { createCrawlers, systemDns } from './http/crawlers.ts';
import { createHttpServer, createServerCounts } from './http/http-server.ts';
import { listen } from './http/listen.ts';
import { loadPages, type RenderPage } from './http/page-renderer.ts';
import { requestIdHeader, requestIds } from './http/request-id.ts';
import { securityHeaders } from './http/security-headers.ts';
import type { HttpServerOptions, OperatorRoutes } from './http/server-options.ts';
import { openSharedDictionary } from './http/shared-dictionary.ts';
import { shutDown } from './http/shutdown.ts';
import { earlierFiles, openStatics } from './http/static-files.ts';
import { createLiveFeed } from './live/live-feed.ts';
import { createLiveStreams, type LiveStreams } from './live/live-streams.ts';
import { createLog } from './logging.ts';
import { createMetrics, type Metrics, metricSources, type ServerCounts } from './operators/metrics.ts';
import { createOperators } from './operators/operators.ts';
import { createAlertBanner } from './press/alert-banner.ts';
import { startMaintenance } from './press/maintenance.ts';
import { buildName, forgetOtherSites, openSitePress, type SitePress } from './press/open-press.ts';
import { createPublishing, markPurges } from './press/publishing.ts';
import { pressRender } from './press/render-page.ts';
import type { Tracing } from './tracing/tracing.ts';
import { forwardedAddress, forwardedId, innerSocket, listenInside } from './workers/inner-socket.ts';
import { startWorkers } from './workers/supervisor.ts';
import type { WriterLink } from './workers/writer-link.ts';

/** A site whose server may get connections from elsewhere. */
export interface Writer extends Site {
  readonly server: Server;
}

export interface Site {
  /** Port that the site listens on. */
  readonly port: number;
  /** Finishes requests in flight, then stops; may be called more than once. */
  stop(): Promise<void>;
}

/** Where `npm run build` puts the pages. */
const dist = fileURLToPath(new URL('../../dist/', import.meta.url));

/** Milliseconds that a start waits for the changes of the cluster. */
const catchUpMs = 5000;

/** Closes everything that was opened, in this order. */
type Closers = (() => unknown)[];

async function closeAll(closers: Closers): Promise<void> {
  for (const close of closers) await close();
}

/**
 * Starts the site.
 *
 * @param env settings, see config/config.ts
 * @throws ConfigError, or Error with a sentence that names the remedy
 */
export async function startSite(env: Readonly<Record<string, string | undefined>>): Promise<Site> {
  const config = parseConfig(env);
  if (config.workers === 1) return startWriter(env, null);
  return startWorkers(env, config, createLog(config.logLevel));
}

/**
 * Starts the process that renders, alone or with serving workers.
 *
 * @param link to the serving workers
 */
export async function startWriter(
  env: Readonly<Record<string, string | undefined>>,
  link: WriterLink | null,
): Promise<Writer> {
  const config = parseConfig(env);
  const log = createLog(config.logLevel);
  for (const { name, meant } of unknownSettings(env)) {
    log.warn({ setting: name, meant }, `${name} isn't a setting and is ignored. Did you mean ${meant}?`);
  }
  const render = await loadPages(`${dist}server/entry.mjs`).catch((error: unknown) => {
    throw new Error('The pages have not been built, or the build is broken: run "npm run build".', { cause: error });
  });
  const { tracing: wanted, trustedProxies } = config;
  // Imported only where it is wanted: the libraries take memory and time to start.
  const tracing = wanted && (await (await import('./tracing/tracing.ts')).startTracing(wanted, trustedProxies, log));
  const app = await compose(config, log, { serves: true, told: link?.told });
  const closers: Closers = [app.stop];
  try {
    return await openSite(app, render, link, closers, tracing);
  } catch (error) {
    await closeAll(closers);
    throw error;
  }
}

/** Creates press, CDN, metrics and HTTP server over the services, and listens. */
async function openSite(
  app: Composition,
  render: RenderPage,
  link: WriterLink | null,
  closers: Closers,
  tracing: Tracing | null,
): Promise<Writer> {
  const { config, services } = app;
  const { content, log } = services;
  const security = securityHeaders(config);
  const build = buildName(`${dist}server`);
  forgetOtherSites(config);
  const { cluster } = app;
  const shareOf = cluster ? (name: string) => cluster.shareOf(name) : undefined;
  const statics = openStatics(`${dist}client`);
  const dictionary = openSharedDictionary(statics, config, log);
  closers.push(async () => dictionary?.close());
  const onReplaced = link?.replaced;
  const site = openSitePress({ config, app, render, security, dictionary, build, log, shareOf, onReplaced });
  closers.push(site.close);
  const { press } = site;
  closers.push(keepCheckpointed([join(config.dataDir, contentFile), site.file], log).stop);
  const cdn = openCdn(config.cdn, log);
  const closeCdn = markPurges(cdn, config.dataDir);
  const indexNow = openIndexNow(config.indexNow && { ...config.indexNow, siteUrl: config.siteUrl }, log);
  const cspReports = createCspReports({
    siteUrl: config.siteUrl,
    admit: async (address) => (await services.limiter.count('csp', { address }))?.retryAfter ?? null,
  });
  const vitals = createVitals({
    siteUrl: config.siteUrl,
    admit: async (address) => (await services.limiter.count('vitals', { address }))?.retryAfter ?? null,
    note: (report) => metrics.measured(report),
  });
  const counts = createServerCounts();
  const streams = createLiveStreams({ pages: site, always: security.always, most: config.liveConnections });
  const metrics = createMetrics(
    metricSources(app, {
      press,
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
  const banner = createAlertBanner({
    press,
    reader: content.reader,
    tell: link?.banner,
    onEnd: () => app.publish(new Set([tag.alert]), 'holder'),
    log,
  });
  closers.unshift(banner.stop);
  const publishing = createPublishing({
    press,
    prioritize: site.prioritize,
    cdn,
    indexNow,
    reader: content.reader,
    log,
    published: metrics.published,
    told: link?.told,
    updateAlert: banner.update,
    freshEverywhere: cluster ? () => cluster.freshEverywhere() : undefined,
  });
  site.onFresh(publishing.fresh);
  app.changes.follow({ changed: publishing.changed, durable: () => press.durable });
  const live = followLive(app, render, streams, link);
  const assets = await openEarlierAssets({
    dir: join(config.dataDir, 'assets'),
    build: buildName(`${dist}client`),
    source: `${dist}client/_assets`,
    log,
  });
  // Before the first page that names them.
  const shared = cluster?.shareAssets(`${dist}client/_assets`);
  await shared?.offer();
  const clients = clientsOf(config, link !== null);
  const { clientAddress } = clients;
  const { always } = security;
  const operators = openOperators(app, {
    site,
    cdn,
    indexNow,
    metrics,
    counts,
    cspReports,
    vitals,
    always,
    clientAddress,
  });
  const tenant = openAccountTenant(config, app);
  const editionReady = brieflyRemembered(() => services.features.content.on && content.reader().edition().ready);
  const server = createHttpServer({
    ...siteRoutes(app, site, editionReady),
    statics,
    ...clients,
    security,
    render,
    operators,
    tenant,
    earlier: earlierFiles({ find: async (path) => (await assets.find(path)) ?? shared?.find(path) }),
    insertion: banner.current,
    counts,
    streams,
    answered: metrics.answered,
    spans: tracing?.request,
  });
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
  // And what was withdrawn while this node was away.
  await cluster?.catchUp(catchUpMs);
  await banner.update();
  const port = await listenTo(server, config, socket);
  if (!link) log.info({ host: config.host, port, site: config.siteUrl, build }, 'The site is listening');
  app.start();
  const { reader } = content;
  const maintenance = startMaintenance({
    press,
    publish: (tags) => app.publish(tags, 'holder'),
    assets,
    log,
    editionReady,
    reader,
    earlierKeys: site.earlierKeys,
  });
  closers.push(() => Promise.all([closeCdn(), indexNow.close(), tenant?.close()]));
  // Last: what the others still do is recorded, too.
  closers.push(() => tracing?.stop());
  return stoppable(server, port, async () => {
    log.info({}, 'Stopping');
    maintenance.stop();
    streams.close();
    if (!(await shutDown(server))) log.warn({}, "Connections that didn't end in time were closed");
    await closeAll(closers);
  });
}

/** Sends changes of live stories to open pages, here and in serving workers. */
function followLive(
  { changes, config, locals, services }: Composition,
  render: RenderPage,
  streams: LiveStreams,
  link: WriterLink | null,
) {
  const draw = pressRender(render, config.siteUrl, locals);
  const live = createLiveFeed({
    reader: services.content.reader,
    async render(entry, variant) {
      const { status, body } = await draw(`/fragments/live/${entry}`, variant);
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
  const indexNowKey = config.indexNow && keyFile(config.indexNow.key);
  return {
    siteUrl: config.siteUrl,
    pages: { press: site.press, keyOf: site.keyOf, access: site.access, passes: site.passes },
    renewAccess: sessions ? renewAccess(sessions, site.access, log) : undefined,
    crawlers: config.crawlers ? createCrawlers({ ...config.crawlers, dns: systemDns, log }) : undefined,
    texts: new Map(indexNowKey ? [[indexNowKey.path, indexNowKey.body]] : []),
    locals,
    editionReady,
    copy: createCopyGate(content),
    missesChanges: cluster ? () => !cluster.node.hears : undefined,
    readiness: () => {
      const sync = content.status();
      const node = cluster?.stats() ?? null;
      return { complete: sync.complete, features, sync, readers: readers(), cluster: node };
    },
    traced: config.logLevel === 'debug',
    log,
  } satisfies Partial<HttpServerOptions>;
}

interface OperatorDependencies {
  readonly site: SitePress;
  readonly cdn: Cdn;
  readonly indexNow: IndexNow;
  readonly metrics: Metrics;
  readonly counts: ServerCounts;
  readonly cspReports: CspReports;
  readonly vitals: VitalsCollector;
  readonly always: Readonly<Record<string, string>>;
  readonly clientAddress: (incoming: IncomingMessage) => string;
}

/** Who sent a request: what the connection and trusted proxies say, or a serving worker that has passed it on. */
function clientsOf({ trustedProxies }: Config, hasServingWorkers: boolean) {
  const clientAddress = clientAddressOf(trustedProxies);
  const requestId = requestIds(trustedProxies);
  return hasServingWorkers
    ? { clientAddress: forwardedAddress(clientAddress), requestId: forwardedId(requestIdHeader, requestId) }
    : { clientAddress, requestId };
}

/** `undefined` without an operator token. */
function openOperators(app: Composition, parts: OperatorDependencies): OperatorRoutes | undefined {
  const { config, services, database } = app;
  const { site, counts, cspReports, ...rest } = parts;
  if (config.operatorToken === null) return undefined;
  return createOperators({
    ...rest,
    database,
    limiter: services.limiter,
    token: config.operatorToken,
    siteUrl: config.siteUrl,
    press: site.press,
    keyOf: site.keyOf,
    content: services.content,
    front: () => counts,
    reports: cspReports,
    log: services.log,
  });
}

/** The Zephr tenant that has the accounts, if one is configured. */
function openAccountTenant(config: Config, { services }: Composition): Tenant | undefined {
  if (config.zephrUrl === null || !services.features.accounts.on) return undefined;
  const { zephrUrl: url, zephr: settings, siteUrl } = config;
  return openTenant({ url, settings, siteUrl, accessCookie: accessCookieName, log: services.log });
}

/** @param socket of this process, where a supervisor has the port. @returns the port, 0 where this process doesn't have it */
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

/** Checks at most every half second; a query of the content store for each request would cost more than the response. */
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

/** Runs the site as this process until a signal or the end of its parent process. */
async function runUntilStopped(start: () => Promise<Site>): Promise<void> {
  let site: Site | undefined;
  const stop = (exitCode: number): void => {
    // A signal during the start: no request is in flight.
    (site?.stop() ?? Promise.resolve()).then(
      () => process.exit(exitCode),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => stop(0));
  // As a child process, the site must not outlive its parent.
  if (process.connected) process.on('disconnect', () => stop(0));
  process.on('uncaughtException', (error) => {
    console.error(error);
    stop(1);
  });
  try {
    site = await start();
  } catch (error) {
    const { message, cause } = error as Error;
    console.error(cause ? `${message}\n  (${cause})` : message);
    process.exit(1);
  }
  process.send?.({ listening: site.port });
  // Flushed now, because a killed process leaves no compiled code to the next start.
  flushCompileCache();
}

if (import.meta.main) await runUntilStopped(() => startSite(process.env));
