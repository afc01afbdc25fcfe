/** `npm run sandbox:reset`: deletes edits in the sandbox and the data that the site derived from it. */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { takeLock } from '../sandbox/lock.mjs';
import { readSettings, sandboxFolder, siteFolder } from './settings.ts';
import { Stop } from './setup/explain.mjs';

/** Data that the site derives from the sandbox; other files in DATA_DIR stay. */
const derived = /^(?:content\.sqlite(?:-\w+)?|pages|images|assets|logs|access-key|cdn-purges-open)$/;

export async function run(): Promise<number> {
  const env = readSettings();
  const sandbox = sandboxFolder(env);
  const site = siteFolder(env, false);
  // A DATA_DIR without a sandbox in it may belong to production.
  if (existsSync(sandbox) || !env.DATA_DIR?.trim()) {
    const lock = takeLock(join(sandbox, 'sandbox.lock'));
    if (!lock) throw new Stop('The sandbox is running. Stop "npm start" (Ctrl-C) and run this command again.');
    lock.release();
    rmSync(sandbox, { recursive: true, force: true });
    for (const name of existsSync(site) ? readdirSync(site) : []) {
      if (derived.test(name)) rmSync(join(site, name), { recursive: true, force: true });
    }
  }
  console.log('The sandbox is empty; the next "npm start" imports the demo edition again.');
  return 0;
}
