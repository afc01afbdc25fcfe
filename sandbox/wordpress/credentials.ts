/** Names and passwords of the sandbox's WordPress: created once, stored with its data. */
import { randomBytes, randomInt } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

export interface Credentials {
  readonly adminUser: string;
  readonly adminPassword: string;
  readonly siteUser: string;
  /** `null` until WordPress has made one. */
  readonly siteApplicationPassword: string | null;
  /** Key of webhook and preview signatures. */
  readonly secret: string;
}

const WORDS = [
  'anvil',
  'bobbin',
  'copper',
  'dateline',
  'ember',
  'folio',
  'galley',
  'headline',
  'inkwell',
  'jotter',
  'kettle',
];

/** The stored credentials, or new ones if there are none. */
export function readCredentials(data: string): Credentials {
  const file = credentialsFile(data);
  if (fs.existsSync(file)) return JSON.parse(fs.readFileSync(file, 'utf8')) as Credentials;
  const word = () => WORDS[randomInt(WORDS.length)];
  return {
    adminUser: 'editor',
    adminPassword: `${word()}-${word()}-${randomInt(1000, 10_000)}`,
    siteUser: 'newsroom-site',
    siteApplicationPassword: null,
    secret: randomBytes(32).toString('hex'),
  };
}

/** Stores the credentials, readable only by the owner; a crash leaves the old file or the new one, never half of one. */
export function saveCredentials(data: string, credentials: Credentials) {
  const file = credentialsFile(data);
  const temporary = `${file}.${process.pid}`;
  fs.writeFileSync(temporary, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600 });
  fs.renameSync(temporary, file);
}

const credentialsFile = (data: string) => path.join(data, 'credentials.json');
