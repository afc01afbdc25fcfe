/**
 * A real WordPress in this process: PHP compiled to WebAssembly, the database in a SQLite file.
 *
 * Several PHP instances share one thread; while one waits for the network, another runs. So WordPress can call the site, and
 * the site can call WordPress, before the first call has returned.
 */
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { createNodeFsMountHandler, loadNodeRuntime } from '@php-wasm/node';
import {
  FileLockManagerInMemory,
  type PHP,
  type PHPRequest,
  type PHPRequestHandler,
  type StreamedPHPResponse,
  type SupportedPHPVersion,
} from '@php-wasm/universal';
import { Semaphore } from '@php-wasm/util';
import { bootWordPressAndRequestHandler } from '@wp-playground/wordpress';
import { COMPILED, type CompiledCode, openCompiledCode } from './compiled-code.ts';
import { mountFileSet, readFileSet } from './core-files.ts';
import { type CronDriver, isTaskDue, makeCronDriver } from './cron.ts';
import { type HttpListener, listen } from './http.ts';
import { openQueue } from './php-queue.ts';

/** A plugin that is mounted from its folder, so that a changed PHP file takes effect at the next request (see `checkFiles`). */
export interface PluginFolder {
  readonly slug: string;
  readonly folder: string;
}

export interface WordPressOptions {
  /** Folder that holds `wordpress/` and `sqlite-database-integration/`, as `setup.mjs` leaves it. */
  readonly core: string;
  /** Folder of everything that is kept: `database/` and `uploads/`. */
  readonly data: string;
  /** Port on 127.0.0.1; 0 takes a free one. */
  readonly port: number;
  readonly plugins?: readonly PluginFolder[];
  readonly constants?: Readonly<Record<string, string | number | boolean>>;
  readonly phpVersion?: SupportedPHPVersion;
  /**
   * Most PHP instances that handle requests at once (default: 3). A WordPress that calls the site, which calls it in turn,
   * needs at least two.
   */
  readonly instances?: number;
  /**
   * Whether PHP looks at each request if its files have changed, which takes an eighth of a request's time (default: true). Without it, a
   * changed file takes effect at the next start.
   */
  readonly checkFiles?: boolean;
  /** Called with a short English phrase as each step begins. */
  readonly onProgress?: (step: string) => void;
  /** Folder for compiled PHP. It may serve several data folders at once and may be deleted at any time. */
  readonly compiled: string;
}

export interface RunningWordPress {
  /** Address without a slash at the end. */
  readonly url: string;
  /** Calls WordPress without HTTP. */
  request(request: PHPRequest): Promise<StreamedPHPResponse>;
  /**
   * Runs PHP code after WordPress has loaded and returns what it printed.
   * @param php code without the opening tag
   * @param input becomes `$input`, an array or scalar
   * @throws when PHP ends with an error, with PHP's own message
   */
  run(php: string, input?: unknown): Promise<string>;
  /** Answers some addresses without PHP; see `HttpListener`. */
  readonly intercept: HttpListener['intercept'];
  /** Runs WordPress's scheduled tasks that are due (scheduled posts, webhook retries). */
  readonly cron: CronDriver;
  stop(): Promise<void>;
}

const ROOT = '/wordpress';
/** How long a request may wait for a free PHP instance. */
const QUEUE_MILLISECONDS = 60_000;
/**
 * How long a stop waits for PHP that still runs after its response, as a webhook does: the database must not be closed before.
 */
const LATE_WORK_MILLISECONDS = 15_000;
/** When compiled code is first written to disk, so that it survives a killed process; it is written again at the end. */
const FIRST_SAVE_MILLISECONDS = 15_000;
const MUST_USE = path.join(import.meta.dirname, 'mu-plugins');
/** Upload limit in megabytes, for PHP and for the web server alike. */
const LARGEST_BODY_MB = 64;

/** Every instance reads this configuration; without secret keys and salts in it, WordPress keeps them in the database. */
const CONFIGURATION = `<?php
define( 'DB_NAME', 'newspaper' );
define( 'DB_USER', '' );
define( 'DB_PASSWORD', '' );
define( 'DB_HOST', '' );
define( 'DB_CHARSET', 'utf8mb4' );
define( 'DB_COLLATE', '' );
$table_prefix = 'wp_';
defined( 'ABSPATH' ) || define( 'ABSPATH', __DIR__ . '/' );
require_once ABSPATH . 'wp-settings.php';
`;

const PHP_SETTINGS = {
  // One buffer around everything, as most hosts have it: a plugin can then declare the length of the response and
  // continue after it has been sent.
  output_buffering: '1',
  memory_limit: '512M',
  upload_max_filesize: `${LARGEST_BODY_MB}M`,
  post_max_size: `${LARGEST_BODY_MB}M`,
  display_errors: '0',
  max_input_vars: '10000',
  // Compiled code stays in the memory of an instance from request to request; the runtime would read it from its files each time.
  'opcache.file_cache_only': '0',
};

const CONSTANTS = {
  AUTOMATIC_UPDATER_DISABLED: true,
  CONCATENATE_SCRIPTS: false,
  DISABLE_WP_CRON: true,
  DISALLOW_FILE_MODS: true,
  WP_ENVIRONMENT_TYPE: 'local',
  WP_DEBUG: false,
};

/** Starts WordPress, installs it into an empty data folder, and serves it on 127.0.0.1. */
export async function bootWordPress(options: WordPressOptions): Promise<RunningWordPress> {
  const { core, data, plugins = [], phpVersion = '8.3', instances = 3 } = options;
  for (const folder of ['database', 'uploads']) fs.mkdirSync(path.join(data, folder), { recursive: true });
  // Compiled code identifies its sources only by path and time, so each WordPress release and each PHP version has its own
  // folder.
  const compiled = openCompiledCode(path.resolve(options.compiled, `${path.basename(core)}-php${phpVersion}`));

  let handle: ((request: PHPRequest) => Promise<StreamedPHPResponse>) | undefined;
  const listener: HttpListener = await listen({
    port: options.port,
    roots: [
      { prefix: '/wp-content/uploads/', folder: path.join(data, 'uploads') },
      ...plugins.map(({ slug, folder }) => ({ prefix: `/wp-content/plugins/${slug}/`, folder })),
      { prefix: '/', folder: path.join(core, 'wordpress') },
    ],
    largestBody: LARGEST_BODY_MB * 1024 * 1024,
    handle: (request) => handle?.(request),
  });

  try {
    const handler = await startPhp(options, { url: listener.url, compiled, instances, phpVersion });
    const { send, sendWrite, idle } = limitConcurrency(handler, instances);
    const nextTaskFile = path.join(data, 'database', 'next-task');
    const cron = makeCronDriver(
      async () => (await sendWrite({ url: '/wp-cron.php' })).finished,
      () => isTaskDue(nextTaskFile),
    );
    handle = async (request) => {
      if (/^(GET|HEAD|OPTIONS)$/.test(request.method ?? 'GET')) return send(request);
      const response = await sendWrite(request);
      // By now WordPress has recorded its tasks; a run without a due task would cost as much as a request.
      void response.finished.then(
        () => isTaskDue(nextTaskFile) && cron.runSoon(),
        () => {},
      );
      return response;
    };
    const saveCompiled = async () => {
      compiled.collect(await handler.getPrimaryPhp());
      compiled.save();
    };
    const firstSave = globalThis.setTimeout(() => void saveCompiled().catch(logError), FIRST_SAVE_MILLISECONDS).unref();
    return {
      url: listener.url,
      request: handle,
      run: (code, input) => runPhp(handler, code, input),
      cron,
      intercept: listener.intercept,
      async stop() {
        clearTimeout(firstSave);
        // The site may still need to read the document that a webhook names.
        await idle(LATE_WORK_MILLISECONDS);
        await listener.close();
        await cron.stop();
        await saveCompiled();
        await handler[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await listener.close();
    throw error;
  }
}

/** Starts the PHP instances, and installs WordPress if the data folder is empty. */
async function startPhp(
  { core, data, plugins = [], constants, checkFiles = true, onProgress = () => {} }: WordPressOptions,
  {
    url,
    compiled,
    instances,
    phpVersion,
  }: {
    url: string;
    compiled: CompiledCode;
    instances: number;
    phpVersion: SupportedPHPVersion;
  },
): Promise<PHPRequestHandler> {
  onProgress('Reading WordPress');
  const files = coreFiles(core);
  const locks = new FileLockManagerInMemory();
  let processId = 0;
  const mount = async (php: PHP) => {
    await php.mount(COMPILED, compiled.mount);
    await php.mount(ROOT, mountFileSet(files));
    await mountFolders(php, data, plugins);
  };
  const handler: PHPRequestHandler = await bootWordPressAndRequestHandler({
    createPhpRuntime: () =>
      loadNodeRuntime(phpVersion, { fileLockManager: locks, emscriptenOptions: { processId: ++processId } }),
    phpVersion,
    siteUrl: url,
    maxPhpInstances: instances,
    cookieStore: false,
    wordpressInstallMode: 'install-from-existing-files-if-needed',
    onProgress,
    sapiName: 'cli-server',
    // In seconds since the last look. Compiled code that comes from disk is always compared with its source.
    phpIniEntries: { ...PHP_SETTINGS, 'opcache.revalidate_freq': checkFiles ? '0' : '86400' },
    constants: { ...CONSTANTS, ...constants },
    onPHPInstanceCreated: async (php, { isPrimary }) => {
      if (isPrimary) return mount(php);
      const primary = await handler.getPrimaryPhp();
      compiled.collect(primary);
      await mount(php);
      copyStartFiles(primary, php);
    },
  });
  // The second instance is created now, so that the site's first call needn't wait for it.
  const spares = await Promise.all([1, 2].slice(0, instances).map(() => handler.instanceManager.acquirePHPInstance()));
  for (const { reap } of spares) reap();
  return handler;
}

async function mountFolders(php: PHP, data: string, plugins: readonly PluginFolder[]): Promise<void> {
  const folders: [string, string][] = [
    ['database', path.join(data, 'database')],
    ['uploads', path.join(data, 'uploads')],
    ...plugins.map(({ slug, folder }): [string, string] => [`plugins/${slug}`, folder]),
    ...fs.readdirSync(MUST_USE).map((file): [string, string] => [`mu-plugins/${file}`, path.join(MUST_USE, file)]),
  ];
  for (const [name, folder] of folders) {
    await php.mount(`${ROOT}/wp-content/${name}`, createNodeFsMountHandler(path.resolve(folder)));
  }
}

type SendRequest = (request: PHPRequest) => Promise<StreamedPHPResponse>;

/** During a write WordPress may call the site, and the site may read from WordPress: one instance is always left for reading. */
function limitConcurrency(
  handler: PHPRequestHandler,
  instances: number,
): { send: SendRequest; sendWrite: SendRequest; idle: (milliseconds: number) => Promise<void> } {
  const writers = new Semaphore({ concurrency: Math.max(1, instances - 1), timeout: QUEUE_MILLISECONDS });
  const queue = openQueue(instances, QUEUE_MILLISECONDS);
  const running = new Set<Promise<unknown>>();
  const send: SendRequest = async (request) => {
    const release = await queue.acquire(isFromSite(request));
    try {
      const response = await handler.requestStreamed(request);
      const ended = response.finished.finally(release).catch(() => {});
      running.add(ended);
      void ended.then(() => running.delete(ended));
      void logWarnings(response.stderr).catch(logError);
      return response;
    } catch (error) {
      release();
      throw error;
    }
  };
  const sendWrite: SendRequest = async (request) => {
    const release = await writers.acquire();
    try {
      const response = await send(request);
      void response.finished.finally(release).catch(() => {});
      return response;
    } catch (error) {
      release();
      throw error;
    }
  };
  const idle = async (milliseconds: number) => {
    const idleSoonEnough = new AbortController();
    const late = setTimeout(milliseconds, undefined, { signal: idleSoonEnough.signal }).catch(() => {});
    await Promise.race([Promise.all(running), late]);
    idleSoonEnough.abort();
  };
  return { send, sendWrite, idle };
}

/** Core plus the database driver, laid out as WordPress expects a drop-in to be installed. */
function coreFiles(core: string) {
  const files = new Map(readFileSet(path.join(core, 'wordpress')));
  const driver = 'wp-content/mu-plugins/sqlite-database-integration';
  for (const [name, content] of readFileSet(path.join(core, 'sqlite-database-integration'))) {
    files.set(`${driver}/${name}`, content);
  }
  const dropIn = fs
    .readFileSync(path.join(core, 'sqlite-database-integration', 'db.copy'), 'utf8')
    .replaceAll('{SQLITE_IMPLEMENTATION_FOLDER_PATH}', `${ROOT}/${driver}`)
    .replaceAll('{SQLITE_PLUGIN}', 'sqlite-database-integration/load.php');
  files.set('wp-content/db.php', Buffer.from(dropIn));
  files.set('wp-config.php', Buffer.from(CONFIGURATION));
  return files;
}

/** Copies the boot files of the first instance (constants, php.ini, preloads) to a later instance. */
function copyStartFiles(from: PHP, to: PHP, folder = '/internal/shared') {
  to.mkdirTree(folder);
  for (const name of from.listFiles(folder)) {
    const file = `${folder}/${name}`;
    if (!from.isDir(file)) to.writeFile(file, from.readFileAsBuffer(file));
    else if (name !== 'opcache') copyStartFiles(from, to, file);
  }
}

async function runPhp(handler: PHPRequestHandler, code: string, input: unknown): Promise<string> {
  const { php, reap } = await handler.instanceManager.acquirePHPInstance();
  const file = `/tmp/input-${crypto.randomUUID()}.json`;
  try {
    (php as PHP).writeFile(file, JSON.stringify(input ?? null));
    const response = await php.run({
      code: `<?php
        $_SERVER['HTTP_HOST'] = ${quotePhp(new URL(handler.absoluteUrl).host)};
        require '${ROOT}/wp-load.php';
        $input = json_decode( file_get_contents( '${file}' ), true );
        ${code}`,
    });
    if (response.exitCode !== 0 || response.errors) {
      const reason = response.errors.trim();
      if (response.exitCode !== 0)
        throw new Error(`PHP ended with code ${response.exitCode}: ${reason || response.text}`);
      process.stderr.write(`${reason}\n`);
    }
    return response.text;
  } finally {
    if ((php as PHP).fileExists(file)) (php as PHP).unlink(file);
    reap();
  }
}

/**
 * Only the site signs in with a password. Its requests go first, because the editor's dozen requests after a save would delay
 * them.
 */
const isFromSite = ({ headers }: PHPRequest) => /^basic /i.test(headers?.authorization ?? '');

/** Passes PHP's warnings on to the log. */
async function logWarnings(errors: ReadableStream<Uint8Array>) {
  for await (const chunk of errors) process.stderr.write(Buffer.copyBytesFrom(chunk));
}

const logError = (error: unknown) => process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
const quotePhp = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`;
