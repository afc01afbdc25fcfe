/** Secrets, which come from the settings, or from files of the data folder that are created once; and the cookies that they sign. */
import { randomBytes } from 'node:crypto';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AccessKey, createAccessCookie, createPassCookie } from '../press/delivery/access-cookie.ts';
import type { Config } from './config/config.ts';

/** Name of the cookie that says which articles a browser may get in full. */
export const accessCookieName = 'access';

/** Name of the cookie that opens one gifted article. */
export const giftCookieName = 'gift';

interface SecretFile {
  readonly dataDir: string;
  /** Name of the file in the data folder. */
  readonly name: string;
  /** Name of the setting that replaces it. */
  readonly setting: string;
  readonly create: () => string;
  readonly isValid: (content: string) => boolean;
}

/**
 * The secret that signs and derives everything of accounts: codes, links, sessions, limits.
 *
 * @returns at least 32 characters
 * @throws Error with a sentence for the operator when the file can't be read or written
 */
export const accountsSecret = ({ accounts, dataDir }: Pick<Config, 'accounts' | 'dataDir'>): string =>
  accounts.secret ??
  secretFromFile({
    dataDir,
    name: 'accounts-secret',
    setting: 'ACCOUNTS_SECRET',
    create: () => randomBytes(32).toString('base64url'),
    isValid: (content) => content.length >= 32,
  });

/**
 * The keys of the access cookie, the first signs.
 *
 * @throws Error with a sentence for the operator when the file can't be read or written
 */
export function accessKeysOf({ accessKeys, dataDir }: Pick<Config, 'accessKeys' | 'dataDir'>): readonly AccessKey[] {
  if (accessKeys) return accessKeys;
  const content = secretFromFile({
    dataDir,
    name: 'access-key',
    setting: 'ACCESS_KEYS',
    create: () => `k${randomBytes(4).toString('hex')}:${randomBytes(32).toString('base64url')}`,
    isValid: (key) => /^[\w-]{1,16}:[^:]{32,}/.test(key),
  });
  const [id = '', secret = ''] = content.split(':');
  return [{ id, secret }];
}

export type ReaderCookies = ReturnType<typeof openReaderCookies>;

/**
 * The cookies that open articles: `access` all of a level, `passes` one gifted article each.
 *
 * @throws Error with a sentence for the operator when the file of the keys can't be read or written
 */
export function openReaderCookies(config: Pick<Config, 'accessKeys' | 'dataDir'>) {
  const keys = accessKeysOf(config);
  return {
    access: createAccessCookie({ name: accessCookieName, keys }),
    passes: createPassCookie({ name: giftCookieName, keys }),
  };
}

function secretFromFile({ dataDir, name, setting, create, isValid }: SecretFile): string {
  const file = join(dataDir, name);
  try {
    // Exclusive: if two processes start together, one creates the file and both use it.
    writeFileSync(file, `${create()}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw new Error(`${setting} isn't set, and ${file} can't be written.`, { cause: error });
    }
  }
  chmodSync(file, 0o600);
  const content = readFileSync(file, 'utf8').trim();
  if (!isValid(content)) {
    throw new Error(
      `${file} holds no valid secret: delete it to have a new one made (readers will have to sign in again).`,
    );
  }
  return content;
}
