/**
 * Starts the site: settings, log and services, then what site.ts opens over them. Run as a program, it stops on SIGTERM, SIGINT, SIGHUP
 * and when its parent process ends.
 */
import { flushCompileCache } from 'node:module';
import { compose } from './compose.ts';
import { parseConfig } from './config/config.ts';
import { unknownSettings } from './config/unknown-settings.ts';
import { lockForServing, openDataDir, warnOfRelativePath } from './data-dir.ts';
import { exitAfter, exitAfterFailedStart } from './exit.ts';
import { requirePort } from './http/listen.ts';
import { loadPages } from './http/page-renderer.ts';
import { createLog } from './logging.ts';
import { type Closers, closeAll, dist, openSite, type Site, type Writer } from './site.ts';
import { startWorkers } from './workers/supervisor.ts';
import type { WriterLink } from './workers/writer-link.ts';

/**
 * Starts the site.
 *
 * @param env settings, see config/config.ts
 * @throws ConfigError, or Error with a sentence that names the remedy
 */
export async function startSite(env: Readonly<Record<string, string | undefined>>): Promise<Site> {
  const config = parseConfig(env);
  const log = createLog(config.logLevel);
  for (const { name, meant } of unknownSettings(env)) {
    log.warn({ setting: name, meant }, `${name} isn't a setting and is ignored. Did you mean ${meant}?`);
  }
  // Checked before anything is opened: a start that can't have its port must not migrate a running site's database.
  await requirePort(config);
  openDataDir(config.dataDir, log);
  warnOfRelativePath(config.dataDir, log);
  lockForServing(config.dataDir);
  return config.workers === 1 ? startWriter(env, null) : startWorkers(env, config, log);
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
  const render = await loadPages(`${dist}server/entry.mjs`).catch((error: unknown) => {
    throw new Error('The pages have not been built, or the build is broken: run "npm run build".', { cause: error });
  });
  const { tracing: wanted, trustedProxies } = config;
  // Imported only if needed, because the libraries take memory and time to load.
  const tracing = wanted && (await (await import('./tracing/tracing.ts')).startTracing(wanted, trustedProxies, log));
  const app = await compose(config, log, { serves: true, workersUpdated: link?.workersUpdated });
  const closers: Closers = [app.stop];
  try {
    return await openSite({ app, render, link, closers, tracing });
  } catch (error) {
    await closeAll({ closers, tracing });
    throw error;
  }
}

/** Runs the site as this process until a signal or the end of its parent process. */
async function runUntilStopped(start: () => Promise<Site>): Promise<void> {
  let site: Site | undefined;
  const stop = (exitCode: number): void => {
    // During the start there is no site to stop, and no request in flight.
    exitAfter(site?.stop() ?? Promise.resolve(), exitCode);
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
    exitAfterFailedStart(error);
  }
  process.send?.({ listening: site.port });
  // Flushed now, because a process that is killed later saves no compiled code for the next start.
  flushCompileCache();
}

if (import.meta.main) await runUntilStopped(() => startSite(process.env));
