/**
 * A real WordPress in this process: PHP compiled to WebAssembly, the database in a SQLite file.
 *
 * Several PHP instances share one thread and take turns whenever one of them waits for the network. That is what lets
 * a page of WordPress call the site, and the site call WordPress back, before the first call has returned.
 */
import fs from 'node:fs';
import path from 'node:path';
import { createNodeFsMountHandler, loadNodeRuntime } from '@php-wasm/node';
import {
  FileLockManagerInMemory,
  type PHP,
  type PHPRequest,
  type PHPRequestHandler,
  type PHPResponse,
  type SupportedPHPVersion,
} from '@php-wasm/universal';
import { bootWordPressAndRequestHandler } from '@wp-playground/wordpress';
import { mountFileSet, readFileSet } from './core-files.ts';
import { type CronDriver, driveCron } from './cron.ts';
import { type HttpListener, listen } from './http.ts';

/** A plugin that is mounted from its folder, so that an edited PHP file counts at the next request. */
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
  /** PHP instances that may be inside a request at once. Two are the least for a WordPress that is called back. */
  readonly instances?: number;
  /** Called with a short English phrase as each step begins. */
  readonly onProgress?: (step: string) => void;
}

export interface RunningWordPress {
  /** Address without a slash at the end. */
  readonly url: string;
  /** Asks WordPress without going through HTTP. */
  request(request: PHPRequest): Promise<PHPResponse>;
  /**
   * Runs PHP code after WordPress has loaded and returns what it printed.
   * @param php code without the opening tag
   * @param input becomes `$input`, an array or scalar
   * @throws when PHP ends with an error, with PHP's own message
   */
  run(php: string, input?: unknown): Promise<string>;
  /** Has some addresses answered before PHP is asked; see `HttpListener`. */
  readonly intercept: HttpListener['intercept'];
  /** Runs what is due in WordPress's task list (scheduled posts, webhook retries). */
  readonly cron: CronDriver;
  stop(): Promise<void>;
}

const ROOT = '/wordpress';
const MUST_USE = path.join(import.meta.dirname, 'mu-plugins');
/** Upload limit in megabytes, for PHP and for the web server alike. */
export const LARGEST_BODY_MB = 64;

/** Starts WordPress, installs it into an empty data folder, and serves it on 127.0.0.1. */
export async function bootWordPress(options: WordPressOptions): Promise<RunningWordPress> {
  const { core, data, plugins = [], phpVersion = '8.3', onProgress = () => {} } = options;
  for (const folder of ['database', 'uploads']) fs.mkdirSync(path.join(data, folder), { recursive: true });

  let handle: ((request: PHPRequest) => Promise<PHPResponse>) | undefined;
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
    onProgress('Reading WordPress');
    const files = coreFiles(core);
    const locks = new FileLockManagerInMemory();
    let processId = 0;
    const mount = async (php: PHP) => {
      await php.mount(ROOT, mountFileSet(files));
      const folders: [string, string][] = [
        ['database', path.join(data, 'database')],
        ['uploads', path.join(data, 'uploads')],
        ...plugins.map(({ slug, folder }): [string, string] => [`plugins/${slug}`, folder]),
        ...fs.readdirSync(MUST_USE).map((file): [string, string] => [`mu-plugins/${file}`, path.join(MUST_USE, file)]),
      ];
      for (const [name, folder] of folders) {
        await php.mount(`${ROOT}/wp-content/${name}`, createNodeFsMountHandler(path.resolve(folder)));
      }
    };

    const handler: PHPRequestHandler = await bootWordPressAndRequestHandler({
      createPhpRuntime: () =>
        loadNodeRuntime(phpVersion, { fileLockManager: locks, emscriptenOptions: { processId: ++processId } }),
      phpVersion,
      siteUrl: listener.url,
      maxPhpInstances: options.instances ?? 3,
      cookieStore: false,
      wordpressInstallMode: 'install-from-existing-files-if-needed',
      onProgress,
      phpIniEntries: {
        memory_limit: '512M',
        upload_max_filesize: `${LARGEST_BODY_MB}M`,
        post_max_size: `${LARGEST_BODY_MB}M`,
        display_errors: '0',
        max_input_vars: '10000',
      },
      constants: {
        AUTOMATIC_UPDATER_DISABLED: true,
        CONCATENATE_SCRIPTS: false,
        DISABLE_WP_CRON: true,
        DISALLOW_FILE_MODS: true,
        WP_ENVIRONMENT_TYPE: 'local',
        WP_DEBUG: false,
        ...options.constants,
      },
      onPHPInstanceCreated: async (php, { isPrimary }) => {
        await mount(php);
        if (!isPrimary) copyStartFiles(await handler.getPrimaryPhp(), php);
      },
    });

    const run = async (code: string, input?: unknown) => runPhp(handler, code, input);
    const cron = driveCron(() => handler.request({ url: '/wp-cron.php' }));
    handle = async (request) => {
      const response = await handler.request(request);
      if (!/^(GET|HEAD|OPTIONS)$/.test(request.method ?? 'GET')) cron.soon();
      return response;
    };
    return {
      url: listener.url,
      request: handle,
      run,
      cron,
      intercept: listener.intercept,
      async stop() {
        await listener.close();
        await cron.stop();
        await handler[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await listener.close();
    throw error;
  }
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
  return files;
}

/** What the first instance was given at boot (constants, php.ini, preloads), for a later instance. */
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

const quotePhp = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`;
