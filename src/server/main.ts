/**
 * The composition root: settings, log, services, pages, front. Run directly it is the site; it listens, syncs, and stops
 * on SIGTERM, SIGINT, SIGHUP and when the process that started it goes away.
 */
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { compose } from './compose.ts';
import { parseConfig } from './config.ts';
import { createFront } from './front.ts';
import { createLog } from './logging.ts';
import { loadPages } from './renderer.ts';
import { securityHeaders } from './security.ts';
import { shutDown } from './shutdown.ts';
import { openStatics } from './statics.ts';

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
  const render = await loadPages(`${dist}server/entry.mjs`).catch((error: unknown) => {
    throw new Error('The pages have not been built, or the build is broken: run "npm run build".', { cause: error });
  });
  const house = await compose(config, log);
  const { content, features } = house.services;
  const server = createFront({
    siteUrl: config.siteUrl,
    statics: openStatics(`${dist}client`),
    security: securityHeaders(config),
    render,
    locals: house.locals,
    editionReady: () => features.content.on && content.reader().edition().ready,
    readiness: () => ({ features, sync: content.status() }),
    log,
  });
  try {
    await listen(server, config.port, config.host);
  } catch (error) {
    await house.stop();
    throw error;
  }
  const { port } = server.address() as AddressInfo;
  log.info({ host: config.host, port, site: config.siteUrl }, 'The site is listening');
  house.start();

  let stopping: Promise<void> | undefined;
  return {
    port,
    stop() {
      stopping ??= (async () => {
        log.info({}, 'Stopping');
        if (!(await shutDown(server))) log.warn({}, 'Connections that did not end in time were closed');
        await house.stop();
      })();
      return stopping;
    },
  };
}

/** Listens, or says which setting to change. */
function listen(server: ReturnType<typeof createFront>, port: number, host: string): Promise<void> {
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
