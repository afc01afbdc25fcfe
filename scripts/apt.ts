/** Installs a package with apt, on Debian and systems based on it; only root can. */
import { existsSync } from 'node:fs';
import { runCommand } from './setup/npm.mjs';
import { root } from './setup/places.mjs';

/**
 * @param names packages any of which is enough; the first one that exists is installed
 * @returns whether one was installed
 */
export async function installWithApt(names: readonly string[]): Promise<boolean> {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return false;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const briefly = ['-o', 'Acquire::Retries=1', '-o', 'Acquire::http::Timeout=20'];
  const aptGet = async (...words: string[]): Promise<boolean> =>
    (await runCommand('/usr/bin/apt-get', [...briefly, ...words], { cwd: root, env, timeoutMs: 240_000 })).code === 0;
  const oneOfThem = async (): Promise<boolean> => {
    for (const name of names) {
      if (await aptGet('install', '--yes', '--no-install-recommends', name)) return true;
    }
    return false;
  };
  // In most containers apt has no package lists; they are fetched only if the first try fails.
  return (await oneOfThem()) || ((await aptGet('update')) && oneOfThem());
}
