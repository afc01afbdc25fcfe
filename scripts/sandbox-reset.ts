/** `npm run sandbox:reset`: forgets what was edited in the sandbox and what the site took over from it. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { takeLock } from '../sandbox/lock.mjs';
import { Stop } from './setup/explain.mjs';
import { root } from './setup/places.mjs';

export async function run(): Promise<number> {
  const data = join(root, 'var', 'sandbox');
  const lock = takeLock(join(data, 'sandbox.lock'));
  if (!lock) throw new Stop('The sandbox is running. Stop "npm start" (Ctrl-C) and run this command again.');
  lock.release();
  for (const folder of [data, join(root, 'var', 'demo')]) rmSync(folder, { recursive: true, force: true });
  console.log('The sandbox is empty again; the next "npm start" imports the demo edition anew.');
  return 0;
}
