/**
 * Finds settings that must be the same on all nodes of a cluster but aren't. Each node stores keyed fingerprints of its settings with its
 * report, and compares them with those of the nodes that respond. It only warns, because keys are changed on one node after the other.
 */
import { sql } from 'kysely';
import { createHmacs } from '../../lib/crypto.server.ts';
import type { Queries } from '../../lib/database.ts';
import { type RepeatedTask, repeat } from '../../lib/jobs/tasks.ts';
import type { Logger } from '../../lib/logging.ts';
import type { Config } from '../config/config.ts';
import { accessKeysOf, accountsSecret } from '../secrets.ts';
import { databaseNow } from './channel.ts';

/** Fingerprints by the setting's name; several where it holds several keys, none where it isn't set. */
type Fingerprints = Readonly<Record<string, readonly string[]>>;

export interface EqualSettingsOptions {
  /** PostgreSQL. */
  readonly db: Queries;
  /** This node's name. */
  readonly node: string;
  readonly fingerprints: Fingerprints;
  readonly log: Logger;
  /** Milliseconds between two comparisons (default 10,000), and after which a silent node counts as gone (default 5000). */
  readonly everyMs?: number;
  readonly goneMs?: number;
}

type Settings = Pick<
  Config,
  'accounts' | 'accessKeys' | 'dataDir' | 'newsroomSecret' | 'siteUrl' | 'wordpress' | 'cdn' | 'assetsBucket'
>;

/** What happens where a setting differs. */
const consequences: Readonly<Record<string, string>> = {
  ACCESS_KEYS: 'a reader whose cookie another node has signed sees the paywall',
  ACCOUNTS_SECRET: 'readers are signed in on some nodes only, and mail that another node has queued is lost',
  NEWSROOM_SECRET: 'some nodes refuse the webhooks of WordPress',
  SITE_URL: 'pages have the address of the node that has rendered them',
  WORDPRESS_URL: 'what readers see depends on the node that syncs',
  'CDN_…': 'what is purged depends on the node that syncs',
  ASSETS_BUCKET: 'pages lack the styles and scripts of other nodes during a release',
};

/**
 * Long random keys: each fingerprint is keyed with the value itself. Fingerprints of other settings are keyed with the
 * accounts' secret.
 */
const ownKey: readonly string[] = ['ACCESS_KEYS', 'ACCOUNTS_SECRET'];

/** The fingerprints of this node's settings. They don't help someone with a copy of the database to guess the values. */
export function fingerprintsOf(config: Settings): Fingerprints {
  const secret = accountsSecret(config);
  const { sign } = createHmacs(secret);
  const own = (name: string, key: string): string => createHmacs(key).sign(`setting ${name}`, name);
  const keyed = (name: string, value: unknown): string[] =>
    value === null ? [] : [sign(`setting ${name}`, JSON.stringify(value))];
  return {
    ACCESS_KEYS: accessKeysOf(config).map((key) => own('ACCESS_KEYS', `${key.id}:${key.secret}`)),
    ACCOUNTS_SECRET: [own('ACCOUNTS_SECRET', secret)],
    NEWSROOM_SECRET: keyed('NEWSROOM_SECRET', config.newsroomSecret),
    SITE_URL: keyed('SITE_URL', config.siteUrl),
    WORDPRESS_URL: keyed('WORDPRESS_URL', config.wordpress?.url ?? null),
    'CDN_…': keyed('CDN_…', config.cdn),
    ASSETS_BUCKET: keyed('ASSETS_BUCKET', config.assetsBucket),
  };
}

/** Compares now and repeatedly: of two nodes that start at the same time, one finds the other. */
export function compareSettings(options: EqualSettingsOptions): RepeatedTask {
  const { log, everyMs = 10_000 } = options;
  let reported: ReadonlySet<string> = new Set();
  // The database reports its own faults.
  const task = repeat(everyMs, async () => {
    const found = new Set((await othersOf(options)).flatMap((theirs) => differences(options.fingerprints, theirs)));
    for (const sentence of found) if (!reported.has(sentence)) log.warn({}, sentence);
    if (found.size === 0 && reported.size > 0) log.info({}, 'All nodes of the cluster have the same settings now');
    reported = found;
  });
  void task.runNow();
  return task;
}

/** The fingerprints of the other nodes; writes this node's own, once it has reported. */
async function othersOf({ db, node, fingerprints, goneMs = 5000 }: EqualSettingsOptions): Promise<Fingerprints[]> {
  const own = JSON.stringify(fingerprints);
  await sql`update cluster_nodes set settings = ${own} where id = ${node} and settings is distinct from ${own}`.execute(
    db,
  );
  const { rows } = await sql<{ settings: string }>`select distinct settings from cluster_nodes
    where id <> ${node} and settings is not null and seen > ${sql.raw(databaseNow)} - ${goneMs}`.execute(db);
  return rows.map(({ settings }) => JSON.parse(settings) as Fingerprints);
}

/** A sentence for each setting that differs. */
function differences(mine: Fingerprints, theirs: Fingerprints): string[] {
  const differ = (name: string): boolean =>
    mine[name] !== undefined && theirs[name] !== undefined && mine[name].join() !== theirs[name].join();
  const names = Object.keys(mine).filter(differ);
  // Fingerprints made with another key can't be compared.
  const known = names.includes('ACCOUNTS_SECRET') ? names.filter((name) => ownKey.includes(name)) : names;
  return known.flatMap((name) => sentenceOf(name, mine[name] ?? [], theirs[name] ?? []) ?? []);
}

function sentenceOf(name: string, mine: readonly string[], theirs: readonly string[]): string | null {
  const isRotated = name === 'ACCESS_KEYS' && mine.some((key) => theirs.includes(key));
  const [signing = '', theirSigning = ''] = [mine[0], theirs[0]];
  // During a rotation each node can verify what the other signs.
  if (isRotated && theirs.includes(signing) && mine.includes(theirSigning)) return null;
  const problem = `${name} isn't the same on all nodes of the cluster: ${consequences[name]}.`;
  return isRotated
    ? `${problem} This ends when all nodes have the new keys; to avoid it, add a key behind the others on all nodes before it is the first on one.`
    : `${problem} Set it to the same value on all nodes, and restart them.`;
}
