/** The keys of the access cookie: from the settings, else one of the site's own that is made once. */
import { randomBytes } from 'node:crypto';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AccessKey } from '../press/delivery/access-cookie.ts';
import type { Config } from './config/config.ts';

/** Name of the cookie that says which articles a browser may have whole. */
export const accessCookieName = 'access';

/** Name of the cookie that opens one article that was given away. */
export const giftCookieName = 'gift';

/**
 * @returns the keys, the first signs
 * @throws Error with a sentence for the operator when the kept key cannot be read or written
 */
export function accessKeysOf(config: Pick<Config, 'accessKeys' | 'dataDir'>): readonly AccessKey[] {
  if (config.accessKeys) return config.accessKeys;
  const file = join(config.dataDir, 'access-key');
  const made = `k${randomBytes(4).toString('hex')}:${randomBytes(32).toString('base64url')}`;
  try {
    // Exclusive: of two processes that start together one makes the key, and both use it.
    writeFileSync(file, `${made}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw new Error(`The key of the access cookie cannot be written to ${file}; set ACCESS_KEYS.`, { cause: error });
    }
  }
  chmodSync(file, 0o600);
  const [id = '', secret = ''] = readFileSync(file, 'utf8').trim().split(':');
  if (!/^[\w-]{1,16}$/.test(id) || secret.length < 32) {
    throw new Error(`${file} holds no key; delete it, and a new one is made (readers then sign in again).`);
  }
  return [{ id, secret }];
}
