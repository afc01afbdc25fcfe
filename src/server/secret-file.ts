/** A secret of the site's own: made once, kept in a file of the data folder that only its user can read. */
import { randomBytes } from 'node:crypto';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @param name of the file in the data folder
 * @param setting that may be set instead
 * @param lost what a reader notices when a new one is made
 * @returns at least 32 characters
 * @throws Error with a sentence for the operator when it cannot be read or written
 */
export function keptSecret(dataDir: string, name: string, setting: string, lost: string): string {
  const file = join(dataDir, name);
  try {
    // Exclusive: of two processes that start together one makes it, and both use it.
    writeFileSync(file, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw new Error(`The secret of the accounts cannot be written to ${file}; set ${setting}.`, { cause: error });
    }
  }
  chmodSync(file, 0o600);
  const secret = readFileSync(file, 'utf8').trim();
  if (secret.length < 32) throw new Error(`${file} holds no secret; delete it, and a new one is made (${lost}).`);
  return secret;
}
