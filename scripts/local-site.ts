/** What `npm start` and `npm run dev` share: settings, folders and ports, and the sandbox where no WordPress is named. */
import { join, relative } from 'node:path';
import { takeLock } from '../sandbox/lock.mjs';
import { portsOfSandbox, type SandboxAccess, type SandboxChild, sandboxEnvironment, startSandbox } from './sandbox.ts';
import { checkSettings, type Environment, readSettings, sandboxFolder, sandboxPorts, siteFolder } from './settings.ts';
import { root } from './setup/places.mjs';
import { requireFree } from './setup/ports.mjs';

export interface LocalSite {
  readonly env: Environment;
  readonly config: ReturnType<typeof checkSettings>;
  readonly logs: string;
  /** `null` where `WORDPRESS_URL` names a WordPress. */
  readonly sandbox: SandboxChild | null;
  /** The site's settings, once the sandbox has reported its addresses and credentials. */
  siteSettings(access: SandboxAccess | null): Environment;
}

/**
 * Reads the settings, checks that the ports and folders are free, and starts the sandbox.
 *
 * @param command how the user has called it, for advice: "npm start"
 * @throws Stop with everything that is wrong and what to do
 */
export async function prepareSite(command: string): Promise<LocalSite> {
  const env = readSettings();
  const config = checkSettings(env);
  const ownWordPress = config.wordpress !== null;
  const dataDir = siteFolder(env, ownWordPress);
  const logs = join(dataDir, 'logs');
  const site = { port: config.port, host: config.host, setting: 'PORT', purpose: 'the site' };
  if (ownWordPress) {
    await requireFree({ command, ports: [site] });
    return { env, config, logs, sandbox: null, siteSettings: () => ({ ...env, DATA_DIR: dataDir }) };
  }

  const data = sandboxFolder(env);
  const ports = sandboxPorts(env);
  await requireFree({
    command,
    ports: [site, ...portsOfSandbox(ports)],
    folder: { path: relative(root, data) || data, free: isFree(data), setting: 'DATA_DIR', purpose: 'the sandbox' },
  });
  const sandbox = startSandbox({ data, ports, siteUrl: config.siteUrl, log: join(logs, 'sandbox.log'), env });
  return {
    env,
    config,
    logs,
    sandbox,
    siteSettings: (access) => ({ ...env, DATA_DIR: dataDir, ...(access && sandboxEnvironment(access, env)) }),
  };
}

/** Whether no running sandbox uses a data folder. */
function isFree(data: string): boolean {
  const lock = takeLock(join(data, 'sandbox.lock'));
  lock?.release();
  return lock !== undefined;
}
