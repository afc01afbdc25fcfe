/**
 * Time that passes for a single reader: the links and codes of an address become older, as if they had been mailed earlier. Other
 * tests are not affected; unit tests show that the service's own clock ends them.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createHmacs } from '../../src/lib/crypto.server.ts';
import { siteData } from './world.ts';

/**
 * @param email lower case
 * @throws Error when nothing has been mailed to the address
 */
export function letMinutesPass(email: string, minutes: number): void {
  const secret = readFileSync(join(siteData, 'accounts-secret'), 'utf8').trim();
  const database = new DatabaseSync(join(siteData, 'accounts.sqlite'), { timeout: 60_000 });
  try {
    const { changes } = database
      .prepare('UPDATE proofs SET created = created - :ms, expires = expires - :ms WHERE subject = :subject')
      .run({ ms: minutes * 60_000, subject: createHmacs(secret).subject(email) });
    if (Number(changes) === 0) throw new Error('Nothing that was mailed to this address is kept.');
  } finally {
    database.close();
  }
}
