/**
 * The settings of the server. They are parsed once, at start, from an environment that is passed in; nothing here reads
 * `process.env`. A bad setting stops the start with a list of every problem, each saying what to do. `.env.example`
 * documents all of them, and a test compares it with {@link settingNames}.
 */
import { z } from 'zod';

/** Settings as the house uses them. */
export interface Config {
  /** Address to listen on. */
  readonly host: string;
  /** Port to listen on; `0` lets the system choose one. */
  readonly port: number;
  /** Public origin of the site, without a slash at its end, e.g. `https://www.example.com`. */
  readonly siteUrl: string;
  /** Folder of everything the server writes; may be relative to the working folder. */
  readonly dataDir: string;
  /** `null`: no WordPress is configured and the content feature is off. */
  readonly wordpress: WordPressConfig | null;
  /** Key shared with the newsroom plugin, for webhooks and previews; `null`: both are off. */
  readonly newsroomSecret: string | null;
  /** Seconds between two reconciling polls of WordPress. */
  readonly syncPollSeconds: number;
  /** Hosts (`host` or `host:port`) of pictures besides WordPress's own. */
  readonly imageHosts: readonly string[];
  /** Bound of the resized pictures kept on disk, in bytes. */
  readonly imageCacheBytes: number;
  /** Hosts that may be framed besides those of the publication. */
  readonly frameHosts: readonly string[];
  readonly logLevel: LogLevel;
}

export interface WordPressConfig {
  /** Without a slash at its end and without `/wp-json`. */
  readonly url: string;
  /** User and application password come together or not at all. */
  readonly user?: string;
  readonly password?: string;
}

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** Thrown by {@link parseConfig}; its message is meant for the person who set the settings. */
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

/** A whole number between two bounds. */
const whole = (fallback: number, low: number, high: number, unit: string) =>
  z
    .string()
    .default(String(fallback))
    .transform((text, context) => {
      const value = Number(text);
      if (/^\d+$/.test(text) && value >= low && value <= high) return value;
      context.addIssue(`is ${JSON.stringify(text)}; give ${unit}, a whole number from ${low} to ${high}`);
      return z.NEVER;
    });

/** An http or https address; `null` when it is none. */
function webAddress(text: string): URL | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  return url.protocol === 'http:' || url.protocol === 'https:' ? url : null;
}

/** Hosts separated by commas, each a bare host with or without a port. */
const hosts = (example: string) =>
  z
    .string()
    .default('')
    .transform((text, context) => {
      const list = text
        .split(',')
        .map((part) => part.trim().toLowerCase())
        .filter((part) => part !== '');
      for (const host of list) {
        if (!URL.canParse(`http://${host}`) || !/^(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d+)?$/.test(host)) {
          context.addIssue(
            `holds ${JSON.stringify(host)}; give bare hosts separated by commas, such as ${example}, without https:// and paths`,
          );
        }
      }
      return [...new Set(list)];
    });

const schema = z.object({
  HOST: z
    .string()
    .default('127.0.0.1')
    .refine(
      (host) => /^[a-z0-9.:_-]+$/i.test(host),
      'is no address; give one to listen on, such as 127.0.0.1 or 0.0.0.0',
    ),
  PORT: whole(4321, 0, 65_535, 'the port to listen on'),
  SITE_URL: z
    .string()
    .optional()
    .transform((text, context) => {
      if (text === undefined) return undefined;
      const url = webAddress(text);
      if (url && url.pathname === '/' && !url.search && !url.hash && !url.username && !url.password) return url.origin;
      context.addIssue(
        `is ${JSON.stringify(text)}; give the public address of the site without a path, such as https://www.example.com`,
      );
      return z.NEVER;
    }),
  DATA_DIR: z.string().default('var/site'),
  WORDPRESS_URL: z
    .string()
    .optional()
    .transform((text, context) => {
      if (text === undefined) return undefined;
      const url = webAddress(text);
      const plain = url && !url.search && !url.hash && !url.username && !url.password;
      if (plain && !/\/wp-json\/?$/.test(url.pathname)) return url.href.replace(/\/+$/, '');
      context.addIssue(
        'is no address of a WordPress; give it as http(s)://host or http(s)://host/folder, without a user, a password, a query or /wp-json',
      );
      return z.NEVER;
    }),
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
  LOG_LEVEL: z
    .enum(logLevels, { error: (issue) => `is ${JSON.stringify(issue.input)}; give one of ${logLevels.join(', ')}` })
    .default('info'),
});

/** Names of all settings that the server reads. */
export const settingNames: readonly string[] = Object.keys(schema.shape);

/**
 * Parses the settings.
 *
 * @param env for instance `process.env`; a setting that is empty or only white space counts as not set
 * @throws ConfigError with every problem found
 */
export function parseConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const given: Record<string, string> = {};
  for (const name of settingNames) {
    const value = env[name]?.trim();
    if (value) given[name] = value;
  }
  const parsed = schema.safeParse(given);
  const problems = parsed.success ? [] : parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`);
  problems.push(...belongTogether(given));
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems);

  const values = parsed.data;
  const urlHost = values.HOST.includes(':') ? `[${values.HOST}]` : values.HOST;
  return {
    host: values.HOST,
    port: values.PORT,
    siteUrl:
      values.SITE_URL ?? `http://${/^(?:0\.0\.0\.0|\[::\])$/.test(urlHost) ? '127.0.0.1' : urlHost}:${values.PORT}`,
    dataDir: values.DATA_DIR,
    wordpress: values.WORDPRESS_URL
      ? { url: values.WORDPRESS_URL, user: values.WORDPRESS_USER, password: values.WORDPRESS_APP_PASSWORD }
      : null,
    newsroomSecret: values.NEWSROOM_SECRET ?? null,
    syncPollSeconds: values.SYNC_POLL_SECONDS,
    imageHosts: values.IMAGE_HOSTS,
    imageCacheBytes: values.IMAGE_CACHE_MB * 1024 * 1024,
    frameHosts: values.FRAME_HOSTS,
    logLevel: values.LOG_LEVEL,
  };
}

/** Problems of settings that make sense only together. */
function belongTogether(given: Readonly<Record<string, string>>): string[] {
  const problems: string[] = [];
  const { WORDPRESS_URL: url, WORDPRESS_USER: user, WORDPRESS_APP_PASSWORD: password } = given;
  if (user && !password) {
    problems.push('WORDPRESS_APP_PASSWORD is missing; set it beside WORDPRESS_USER, or remove WORDPRESS_USER');
  }
  if (password && !user) {
    problems.push('WORDPRESS_USER is missing; set it beside WORDPRESS_APP_PASSWORD, or remove WORDPRESS_APP_PASSWORD');
  }
  if ((user || password) && !url) {
    problems.push('WORDPRESS_URL is missing; set it to the WordPress that WORDPRESS_USER belongs to');
  }
  return problems;
}
