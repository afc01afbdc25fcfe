/**
 * The settings of the server. They are parsed once, at start, from the environment that the caller passes; nothing here reads
 * `process.env`. An invalid setting stops the start with a list of every problem, each with its remedy. `.env.example` documents all
 * settings, and a test compares it with {@link settingNames}.
 */
import { availableParallelism } from 'node:os';
import { z } from 'zod';
import type { TenantSettings } from '../../lib/accounts/zephr.server.ts';
import type { CdnSettings } from '../../lib/cdn/cdn.server.ts';
import { isIndexNowKey } from '../../lib/indexnow/indexnow.server.ts';
import type { AlgoliaAccess } from '../../lib/search/model.ts';
import type { QuotesAccess } from '../../lib/ticker/twelve-data.server.ts';
import type { AccessKey } from '../../press/delivery/access-cookie.ts';
import type { BucketSettings } from '../cluster/bucket.ts';
import type { TrustedProxies } from '../http/client-address.ts';
import type { CrawlersConfig } from '../http/crawlers.ts';
import {
  type AccountsConfig,
  accountsFields,
  accountsOf,
  accountsProblems,
  billingFields,
  billingOf,
  billingProblems,
  type MailConfig,
  mailFields,
  mailOf,
  mailProblems,
  type StripeSettings,
} from './accounts.ts';
import {
  accessKeys,
  apiAddress,
  fraction,
  hosts,
  matching,
  missingCompanions,
  oneOf,
  onOff,
  plainAddress,
  postgresAddress,
  proxies,
  repeating,
  setting,
  tenantPath,
  whole,
} from './fields.ts';
import { type TracingConfig, tracingFields, tracingOf, tracingProblems } from './tracing.ts';
import {
  bucketFields,
  bucketOf,
  bucketProblems,
  crawlerFields,
  crawlersOf,
  crawlersProblems,
  type RetentionSettings,
  retentionFields,
  retentionOf,
  retentionProblems,
  searchFields,
  searchOf,
  searchProblems,
  type ThirdPartyConfig,
  thirdPartiesOf,
  thirdPartiesProblems,
  thirdPartyFields,
  tickerFields,
  tickerOf,
} from './vendors.ts';

/** Address of PostgreSQL for connections that keep state: listening, locks, dumps. */
export const sessionDatabaseUrl = ({
  databaseUrl,
  databaseListenUrl,
}: Pick<Config, 'databaseUrl' | 'databaseListenUrl'>): string | null => databaseListenUrl ?? databaseUrl;

/** Settings as the site uses them. */
export interface Config extends MailConfig, ThirdPartyConfig {
  /** Address to listen on. */
  readonly host: string;
  /** Port to listen on; `0` lets the system choose one. */
  readonly port: number;
  /** Public origin of the site, without a trailing slash, e.g. `https://www.example.com`. */
  readonly siteUrl: string;
  /** Folder of everything the server writes; may be relative to the working folder. */
  readonly dataDir: string;
  /** Number of processes behind the port: one that renders, and others that serve cached pages. */
  readonly workers: number;
  /** Address of the PostgreSQL; `null`: SQLite in the data folder. */
  readonly databaseUrl: string | null;
  /** Address for work that needs a session, such as listening, where `databaseUrl` is a pooler that shares sessions. */
  readonly databaseListenUrl: string | null;
  /** Most connections of this process to PostgreSQL, in addition to the listening one. */
  readonly databasePool: number;
  /** The bucket in which the nodes of a cluster share hashed files; `null`: they share them in PostgreSQL. */
  readonly assetsBucket: BucketSettings | null;
  /** Folder of `npm run backup`; `null`: none is set. */
  readonly backupDir: string | null;
  /** Days that backups are kept. */
  readonly backupDays: number;
  readonly accounts: AccountsConfig;
  /** `null`: the site doesn't sell anything. */
  readonly stripe: StripeSettings | null;
  /** `null`: only our own pages handle cancellation. */
  readonly retention: RetentionSettings | null;
  /** `null`: the site's own index searches. */
  readonly algolia: AlgoliaAccess | null;
  /** `null`: the site has no ticker. */
  readonly ticker: QuotesAccess | null;
  /** Trusted proxies, whose `X-Forwarded-For` counts: their number, or their addresses. */
  readonly trustedProxies: TrustedProxies;
  /** Address of the publisher's own Zephr tenant, which then has the accounts; `null`: the site has them. */
  readonly zephrUrl: string | null;
  /** Settings of a tenant that Zephr's public documentation doesn't fix. */
  readonly zephr: TenantSettings;
  /** `null`: no WordPress is configured and the content feature is off. */
  readonly wordpress: WordPressConfig | null;
  /** Key shared with the newsroom plugin, for webhooks and previews; `null`: both are off. */
  readonly newsroomSecret: string | null;
  /** Seconds between two reconciling polls of WordPress. */
  readonly syncPollSeconds: number;
  /** Hosts (`host` or `host:port`) of pictures besides WordPress's own. */
  readonly imageHosts: readonly string[];
  /** Limit of the resized pictures on disk, in bytes. */
  readonly imageCacheBytes: number;
  /** Hosts that articles may frame besides those of the publication. */
  readonly frameHosts: readonly string[];
  /** Limit of the stored pages in memory, in bytes. */
  readonly pressMemoryBytes: number;
  /** Most open event streams of live stories in a process. */
  readonly liveConnections: number;
  /** Token for `/-/press` and `/metrics`; `null`: neither exists. */
  readonly operatorToken: string | null;
  /** Share of page views whose speed browsers measure and send, 0 to 1. */
  readonly vitalsShare: number;
  /** Keys of the access cookie, the first signs; `null`: one is created and stored in the data folder. */
  readonly accessKeys: readonly AccessKey[] | null;
  /** Search engines that may read restricted articles; `null`: none. */
  readonly crawlers: CrawlersConfig | null;
  /** The CDN that the site purges; `null`: none. */
  readonly cdn: CdnSettings | null;
  /** Whether pages carry headers for a CDN. */
  readonly cdnHeaders: boolean;
  /** Whether browsers that have the shared dictionary get pages compressed with it. */
  readonly sharedDictionary: boolean;
  readonly indexNow: { readonly key: string; readonly url?: string | undefined } | null;
  /** File with the publisher's own redirects. */
  readonly redirectsFile: string | null;
  readonly logLevel: LogLevel;
  /** `null`: no traces are recorded. */
  readonly tracing: TracingConfig | null;
}

export interface WordPressConfig {
  /** Without a trailing slash and without `/wp-json`. */
  readonly url: string;
  /** A user requires an application password, and the other way around. */
  readonly user?: string;
  readonly password?: string;
}

const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** Thrown by {@link parseConfig}; its message is for the operator. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(
      `${problems.length === 1 ? 'A setting stops' : `${problems.length} settings stop`} the start:\n${problems
        .map((problem) => `  - ${problem}`)
        .join('\n')}\nSettings come from the environment or from the file .env; .env.example explains each of them.`,
    );
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

const schema = z.object({
  HOST: matching(/^[a-z0-9.:_-]+$/i, "isn't an address; give one to listen on, such as 127.0.0.1 or 0.0.0.0").default(
    '127.0.0.1',
  ),
  PORT: whole(4321, 0, 65_535, 'the port to listen on'),
  SITE_URL: setting((text) => {
    const url = plainAddress(text);
    return url?.pathname === '/' ? url.origin : null;
  }, repeating('give the public address of the site without a path, such as https://www.example.com')),
  DATA_DIR: z.string().default('var/site'),
  WORKERS: setting((text) => {
    if (text === 'auto') return availableParallelism();
    return /^\d{1,2}$/.test(text) && Number(text) >= 1 ? Number(text) : null;
  }, repeating('give the number of processes, from 1 to 99, or auto for one per core')).default(1),
  DATABASE_URL: postgresAddress(),
  DATABASE_LISTEN_URL: postgresAddress(),
  DATABASE_POOL: whole(3, 2, 100, 'the most connections to PostgreSQL'),
  ...bucketFields,
  BACKUP_DIR: z.string().optional(),
  BACKUP_DAYS: whole(30, 1, 3650, 'the days that backups are kept'),
  ...accountsFields,
  ...mailFields,
  ...billingFields,
  ...searchFields,
  ...retentionFields,
  ...tickerFields,
  TRUSTED_PROXIES: proxies(),
  ZEPHR_URL: apiAddress('https://paper.cdn.zephr.com'),
  ZEPHR_CODE_KEY: matching(
    /^[A-Za-z]\w{0,39}$/,
    "isn't a key of validators; give the one under which your tenant accepts a code",
  ),
  ZEPHR_CODE_CHECK_PATH: tenantPath('/zephr/media/user/otp-check'),
  ZEPHR_USER_INFO_PATH: tenantPath('/zephr/media/user/info'),
  WORDPRESS_URL: setting((text) => {
    const url = plainAddress(text);
    return url && !/\/wp-json\/?$/.test(url.pathname) ? url.href.replace(/\/+$/, '') : null;
  }, 'is not the address of a WordPress; give it as http(s)://host or http(s)://host/folder, without a user, a password, a query or /wp-json'),
  WORDPRESS_USER: z.string().optional(),
  WORDPRESS_APP_PASSWORD: z.string().optional(),
  NEWSROOM_SECRET: z
    .string()
    .min(16, 'is shorter than 16 characters; copy the secret from the settings page of the newsroom plugin')
    .optional(),
  SYNC_POLL_SECONDS: whole(30, 1, 86_400, 'the seconds between two polls'),
  IMAGE_HOSTS: hosts('images.example.com'),
  IMAGE_CACHE_MB: whole(1024, 1, 1_048_576, 'the size of the picture cache in megabytes'),
  FRAME_HOSTS: hosts('player.example.com'),
  ...thirdPartyFields,
  PRESS_MEMORY_MB: whole(64, 8, 1_048_576, 'the memory for stored pages in megabytes'),
  LIVE_CONNECTIONS: whole(20_000, 0, 1_000_000, 'the most open pages of live stories that a process keeps up to date'),
  OPERATOR_TOKEN: z
    .string()
    .min(24, 'is shorter than 24 characters; make one up, for instance with "openssl rand -hex 24"')
    .regex(/^[\x21-\x7e]*$/, 'holds spaces or letters beyond ASCII; give letters, digits and punctuation')
    .optional(),
  VITALS_SHARE: fraction(0.05, 'the share of page views whose speed is measured'),
  ACCESS_KEYS: accessKeys(),
  ...crawlerFields,
  CDN_PROVIDER: oneOf(['cloudflare', 'fastly'], 'give cloudflare or fastly, or leave it out').optional(),
  CDN_HEADERS: onOff(),
  SHARED_DICTIONARY: onOff(),
  CLOUDFLARE_ZONE: matching(/^[\w-]+$/, "isn't a zone id; copy it from the overview of the zone"),
  CLOUDFLARE_TOKEN: z.string().optional(),
  CLOUDFLARE_API_URL: apiAddress('https://api.cloudflare.com/client/v4'),
  FASTLY_SERVICE: matching(/^[\w-]+$/, "isn't a service id; copy it from the page of the service"),
  FASTLY_TOKEN: z.string().optional(),
  FASTLY_API_URL: apiAddress('https://api.fastly.com'),
  FASTLY_SOFT_PURGE: onOff(),
  INDEXNOW_KEY: z.string().refine(isIndexNowKey, "isn't a key; make up 8 to 128 letters, digits and dashes").optional(),
  INDEXNOW_URL: apiAddress('https://api.indexnow.org/indexnow'),
  REDIRECTS_FILE: z.string().optional(),
  LOG_LEVEL: oneOf(logLevels, `give one of ${logLevels.join(', ')}`).default('info'),
  ...tracingFields,
});

/** Names of all settings that the server reads. */
export const settingNames: readonly string[] = Object.keys(schema.shape);

/** A message that repeats an address, without its user and password. */
const withoutLogIn = (message: string): string => message.replace(/(?<=:\/\/)[^\s"/@]*@/g, '…@');

/**
 * Parses the settings.
 *
 * @param env for instance `process.env`; a setting that is empty or only white space counts as not set
 * @throws ConfigError with every problem found
 */
export function parseConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const given: Record<string, string> = {};
  const problems: string[] = [];
  for (const name of settingNames) {
    const value = env[name]?.trim();
    if (!value) continue;
    // Removes quotes, which "docker --env-file" and Kubernetes pass on, unlike a shell and .env.
    const [, , quoted] = /^(["'])(.+)\1$/s.exec(value) ?? [];
    if (quoted !== undefined) problems.push(`${name} is in quotes; leave them out`);
    given[name] = quoted ?? value;
  }
  const parsed = schema.safeParse(given);
  const issues = parsed.success ? [] : parsed.error.issues;
  problems.push(...issues.map(({ path, message }) => withoutLogIn(`${path.join('.')} ${message}`)));
  problems.push(...dependencyProblems(given));
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems);

  const values = parsed.data;
  const urlHost = values.HOST.includes(':') ? `[${values.HOST}]` : values.HOST;
  const cdnHeaders = values.CDN_HEADERS ?? values.CDN_PROVIDER !== undefined;
  return {
    host: values.HOST,
    port: values.PORT,
    siteUrl:
      values.SITE_URL ?? `http://${/^(?:0\.0\.0\.0|\[::\])$/.test(urlHost) ? '127.0.0.1' : urlHost}:${values.PORT}`,
    dataDir: values.DATA_DIR,
    workers: values.WORKERS,
    databaseUrl: values.DATABASE_URL ?? null,
    databaseListenUrl: values.DATABASE_LISTEN_URL ?? null,
    databasePool: values.DATABASE_POOL,
    assetsBucket: bucketOf(values),
    backupDir: values.BACKUP_DIR ?? null,
    backupDays: values.BACKUP_DAYS,
    accounts: accountsOf(values),
    ...mailOf(values),
    stripe: billingOf(values),
    algolia: searchOf(values),
    retention: retentionOf(values),
    ticker: tickerOf(values),
    trustedProxies: values.TRUSTED_PROXIES,
    zephrUrl: values.ZEPHR_URL ?? null,
    zephr: {
      codeKey: values.ZEPHR_CODE_KEY ?? null,
      codeCheckPath: values.ZEPHR_CODE_CHECK_PATH ?? null,
      userInfoPath: values.ZEPHR_USER_INFO_PATH ?? null,
    },
    wordpress: values.WORDPRESS_URL
      ? { url: values.WORDPRESS_URL, user: values.WORDPRESS_USER, password: values.WORDPRESS_APP_PASSWORD }
      : null,
    newsroomSecret: values.NEWSROOM_SECRET ?? null,
    syncPollSeconds: values.SYNC_POLL_SECONDS,
    imageHosts: values.IMAGE_HOSTS,
    imageCacheBytes: values.IMAGE_CACHE_MB * 1024 * 1024,
    frameHosts: values.FRAME_HOSTS,
    ...thirdPartiesOf(values),
    pressMemoryBytes: values.PRESS_MEMORY_MB * 1024 * 1024,
    liveConnections: values.LIVE_CONNECTIONS,
    operatorToken: values.OPERATOR_TOKEN ?? null,
    vitalsShare: values.OPERATOR_TOKEN === undefined ? 0 : values.VITALS_SHARE,
    accessKeys: values.ACCESS_KEYS ?? null,
    crawlers: crawlersOf(values),
    cdn: cdnOf(values),
    cdnHeaders,
    // Off behind a CDN, which would pass on each of these requests.
    sharedDictionary: values.SHARED_DICTIONARY ?? !cdnHeaders,
    indexNow: values.INDEXNOW_KEY ? { key: values.INDEXNOW_KEY, url: values.INDEXNOW_URL } : null,
    redirectsFile: values.REDIRECTS_FILE ?? null,
    logLevel: values.LOG_LEVEL,
    tracing: tracingOf(values),
  };
}

/** The CDN's part of the settings; {@link dependencyProblems} checks that nothing is missing. */
function cdnOf(values: z.infer<typeof schema>): CdnSettings | null {
  if (values.CDN_PROVIDER === 'cloudflare') {
    return {
      provider: 'cloudflare',
      zone: values.CLOUDFLARE_ZONE ?? '',
      token: values.CLOUDFLARE_TOKEN ?? '',
      apiUrl: values.CLOUDFLARE_API_URL,
    };
  }
  if (values.CDN_PROVIDER === 'fastly') {
    return {
      provider: 'fastly',
      service: values.FASTLY_SERVICE ?? '',
      token: values.FASTLY_TOKEN ?? '',
      apiUrl: values.FASTLY_API_URL,
      soft: values.FASTLY_SOFT_PURGE ?? false,
    };
  }
  return null;
}

/** Problems of settings that depend on each other. */
function dependencyProblems(given: Readonly<Record<string, string>>): string[] {
  const problems = missingCompanions(given, {
    WORDPRESS_USER: ['WORDPRESS_APP_PASSWORD'],
    WORDPRESS_APP_PASSWORD: ['WORDPRESS_USER'],
    INDEXNOW_URL: ['INDEXNOW_KEY'],
    // Otherwise commands would back up or restore another database than the site's.
    DATABASE_LISTEN_URL: ['DATABASE_URL'],
  });
  const { WORDPRESS_URL: url, WORDPRESS_USER: user, WORDPRESS_APP_PASSWORD: password } = given;
  if ((user || password) && !url) {
    problems.push('WORDPRESS_URL is missing; set it to the WordPress that WORDPRESS_USER belongs to');
  }
  const needed: Readonly<Record<string, readonly string[]>> = {
    cloudflare: ['CLOUDFLARE_ZONE', 'CLOUDFLARE_TOKEN'],
    fastly: ['FASTLY_SERVICE', 'FASTLY_TOKEN'],
  };
  for (const [provider, names] of Object.entries(needed)) {
    const chosen = given.CDN_PROVIDER === provider;
    for (const name of names) {
      if (chosen && !given[name])
        problems.push(`${name} is missing; without it CDN_PROVIDER ${provider} cannot be purged`);
      if (!chosen && given[name] && !given.CDN_PROVIDER) {
        problems.push(`CDN_PROVIDER is missing; set it to ${provider}, or remove ${name}`);
      }
    }
  }
  problems.push(
    ...accountsProblems(given),
    ...mailProblems(given),
    ...billingProblems(given),
    ...searchProblems(given),
    ...retentionProblems(given),
    ...bucketProblems(given),
    ...crawlersProblems(given),
    ...thirdPartiesProblems(given),
    ...tracingProblems(given),
  );
  return problems;
}
