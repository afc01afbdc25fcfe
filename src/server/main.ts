/**
 * The composition root: settings, log, services, pages, front. Run directly it is the site; it listens, syncs, and stops
 * on SIGTERM, SIGINT, SIGHUP and when the process that started it goes away.
 */
import { promises as dns } from 'node:dns';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openTenant } from '../lib/accounts/zephr.server.ts';
import { openCdn } from '../lib/cdn/cdn.server.ts';
import { createCspReports } from '../lib/csp-reports/collector.server.ts';
import { openIndexNow } from '../lib/indexnow/indexnow.server.ts';
import { keyFile } from '../lib/indexnow/model.ts';
import { keepCheckpointed } from '../lib/workers/checkpoints.server.ts';
import type { Press } from '../press/press.server.ts';
import { openEarlierAssets } from '../press/store/earlier-assets.server.ts';
import { accessCookieName } from './access-keys.ts';
import { compose, contentFile } from './compose.ts';
import { parseConfig } from './config/config.ts';
import { unknownSettings } from './config/unknown-settings.ts';
import { clientAddressOf } from './http/client-address.ts';
import { createCopyGate } from './http/copy-gate.ts';
import { createCrawlers } from './http/crawlers.ts';
import { createHttpServer } from './http/http-server.ts';
import { loadPages } from './http/page-renderer.ts';
import { renewAccess } from './http/renew-access.ts';
import { securityHeaders } from './http/security-headers.ts';
import type { HttpServer } from './http/server-options.ts';
import { shutDown } from './http/shutdown.ts';
import { earlierFiles, openStatics } from './http/static-files.ts';
import { createLog } from './logging.ts';
import { createMetrics, type PressCounts } from './operators/metrics.ts';
import { createOperators } from './operators/operators.ts';
import { startMaintenance } from './press/maintenance.ts';
import { buildName, forgetOtherSites, openSitePress } from './press/open-press.ts';
import { createPublishing, type Publishing } from './press/publishing.ts';
import { markPurges } from './press/purge-mark.ts';

export interface Site {
  /** Port that the site listens on. */
  readonly port: number;
  /** Finishes what is in flight, then stops; may be called more than once. */
  stop(): Promise<void>;
}

/** Where `npm run build` puts the pages. */
const dist = fileURLToPath(new URL('../../dist/', import.meta.url));

/**
 * Starts the site.
 *
 * @param env settings, see config.ts
 * @throws ConfigError, or Error with a sentence that says what to do
 */
export async function startSite(env: Readonly<Record<string, string | undefined>>): Promise<Site> {
  const config = parseConfig(env);
  const log = createLog(config.logLevel);
  for (const { name, meant } of unknownSettings(env)) {
    log.warn({ setting: name, meant }, `${name} isn't a setting and is ignored. Did you mean ${meant}?`);
  }
  const render = await loadPages(`${dist}server/entry.mjs`).catch((error: unknown) => {
    throw new Error('The pages have not been built, or the build is broken: run "npm run build".', { cause: error });
  });
  const build = buildName(`${dist}server`);
  const security = securityHeaders(config);
  let publishing: Publishing | undefined;
  let durable = (): boolean => false;
  const house = await compose(
    config,
    log,
    async (change) => (await publishing?.changed(change)) ?? [],
    () => durable(),
    () => void publishing?.changed({ tags: new Set(['prices']), withdrawn: [] }),
  );
  const { content, features, sessions } = house.services;
  let close: () => Promise<void> = house.stop;
  try {
    forgetOtherSites(config);
    const room = openSitePress({
      ...{ config, house, render, security, build, log },
      onEvent: (event) => {
        if (event.kind === 'render') metrics.rendered(event.ms);
      },
      onFresh: (page) => publishing?.fresh(page),
    });
    const { press } = room;
    const checkpoints = keepCheckpointed([join(config.dataDir, contentFile), room.file], log);
    durable = () => press.durable;
    close = async () => {
      await house.stop();
      await room.close();
      await checkpoints.stop();
    };
    const cdn = openCdn(config.cdn, log);
    const closeCdn = markPurges(cdn, config.dataDir);
    const indexNow = openIndexNow(config.indexNow && { ...config.indexNow, siteUrl: config.siteUrl }, log);
    const clientAddress = clientAddressOf(config.trustedProxies);
    const cspReports = createCspReports({
      siteUrl: config.siteUrl,
      admit: async (address) => (await house.services.limiter.count('csp', { address }))?.retryAfter ?? null,
    });
    const metrics = createMetrics(
      {
        front: () => server.counts,
        press: () => pressCounts(press),
        sync: () => {
          const { syncedAt, rejected } = content.status();
          return { syncedAt: syncedAt === null ? null : Date.parse(syncedAt), rejected, refused: content.refused() };
        },
        cdn: cdn.stats,
        indexNow: indexNow.stats,
        images: () => ({ made: house.services.images.made() }),
        ...(house.broadcastStats && { relay: house.broadcastStats }),
        ...(house.mailStats && { mail: house.mailStats }),
        ...(house.billingStats && { billing: house.billingStats }),
        ...(house.services.support && { support: house.services.support.stats }),
        cspReports: cspReports.stats,
      },
      log,
    );
    publishing = createPublishing({
      press,
      hurry: room.hurry,
      cdn,
      indexNow,
      reader: content.reader,
      log,
      published: metrics.published,
    });
    const assets = await openEarlierAssets({
      dir: join(config.dataDir, 'assets'),
      build: buildName(`${dist}client`),
      source: `${dist}client/_assets`,
      log,
    });
    const editionReady = brieflyRemembered(() => features.content.on && content.reader().edition().ready);
    const keyFileOfIndexNow = config.indexNow && keyFile(config.indexNow.key);
    const operators =
      config.operatorToken === null
        ? undefined
        : createOperators({
            ...{ database: house.database, limiter: house.services.limiter },
            ...{ token: config.operatorToken, siteUrl: config.siteUrl, press, cdn, indexNow, content, metrics, log },
            keyOf: room.keyOf,
            front: () => server.counts,
            always: security.always,
            reports: cspReports,
            clientAddress,
          });
    const tenant =
      config.zephrUrl === null || !features.accounts.on
        ? null
        : openTenant({
            url: config.zephrUrl,
            settings: config.zephr,
            siteUrl: config.siteUrl,
            accessCookie: accessCookieName,
            log,
          });
    const server: HttpServer = createHttpServer({
      siteUrl: config.siteUrl,
      statics: openStatics(`${dist}client`),
      security,
      render,
      pages: { press, keyOf: room.keyOf, access: room.access, passes: room.passes },
      ...(operators && { operators }),
      ...(sessions && { renewAccess: renewAccess(sessions, room.access, log) }),
      ...(tenant && { tenant }),
      ...(config.crawlers && { crawlers: createCrawlers({ ...config.crawlers, dns: crawlerDns, log }) }),
      clientAddress,
      earlier: earlierFiles(assets),
      texts: new Map(keyFileOfIndexNow ? [[keyFileOfIndexNow.path, keyFileOfIndexNow.body]] : []),
      locals: house.locals,
      editionReady,
      copy: createCopyGate(content),
      readiness: () => {
        const sync = content.status();
        const wallets = house.billingStats?.().walletProblem ?? null;
        return { complete: sync.complete, features, sync, readers: house.readers(), wallets };
      },
      traced: config.logLevel === 'debug',
      log,
    });
    // What was withdrawn just before a crash must be gone before the first reader.
    content.replay();
    await listen(server, config.port, config.host);
    const { port } = server.address() as AddressInfo;
    log.info({ host: config.host, port, site: config.siteUrl, build }, 'The site is listening');
    house.start();
    const maintenance = startMaintenance({
      ...{ press, assets, log, editionReady },
      reader: content.reader,
      earlierKeys: room.earlierKeys,
    });

    let stopping: Promise<void> | undefined;
    return {
      port,
      stop() {
        stopping ??= (async () => {
          log.info({}, 'Stopping');
          maintenance.stop();
          if (!(await shutDown(server))) log.warn({}, 'Connections that did not end in time were closed');
          await close();
          await Promise.all([closeCdn(), indexNow.close(), tenant?.close()]);
        })();
        return stopping;
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

const crawlerDns = {
  reverse: (address: string) => dns.reverse(address),
  lookup: async (host: string) => (await dns.lookup(host, { all: true })).map(({ address }) => address),
};

const pressCounts = (press: Press): PressCounts => {
  const { counters, queue, store, memory } = press.stats();
  return {
    renders: counters.renders,
    renderFailures: counters.failures,
    queue,
    pagesStored: store?.pages ?? 0,
    memoryBytes: memory.bytes,
    memoryBudgetBytes: memory.budget,
  };
};

/** Asks again at most every half second; a look into the mirror for each request would cost more than the answer. */
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

/** Listens, or says which setting to change. */
function listen(server: HttpServer, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const sentences: Record<string, string> = {
        EADDRINUSE: `Port ${port} is in use on ${host}: set PORT to a free one, or stop what uses it.`,
        EACCES: `Port ${port} may not be used by this user: set PORT to one above 1023.`,
        EADDRNOTAVAIL: `${host} is no address of this machine: set HOST to one that is, such as 127.0.0.1 or 0.0.0.0.`,
      };
      reject(new Error(sentences[error.code ?? ''] ?? `The site cannot listen: ${error.message}`, { cause: error }));
    });
    server.listen(port, host, () => resolve());
  });
}

/** Runs the site as this process until it is told to stop. */
export async function runSite(env: Readonly<Record<string, string | undefined>>): Promise<void> {
  let site: Site | undefined;
  const stop = (exitCode: number): void => {
    // Told to stop while it still starts, the site has nothing in flight.
    (site?.stop() ?? Promise.resolve()).then(
      () => process.exit(exitCode),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => stop(0));
  // Started as a child, the site must not outlive its parent, however that ends.
  if (process.connected) process.on('disconnect', () => stop(0));
  process.on('uncaughtException', (error) => {
    console.error(error);
    stop(1);
  });
  try {
    site = await startSite(env);
  } catch (error) {
    const { message, cause } = error as Error;
    console.error(cause ? `${message}\n  (${cause})` : message);
    process.exit(1);
  }
  process.send?.({ listening: site.port });
}

if (import.meta.main) await runSite(process.env);
