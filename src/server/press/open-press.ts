/** Sets up the press for the site: its store, keys and cookies, and the listeners to its events. */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createBoundedMap } from '../../lib/bounded-map.ts';
import { tag } from '../../lib/content/tags.ts';
import { inSpan } from '../../lib/tracing.ts';
import type { KeyOf } from '../../press/delivery/cache-key.ts';
import { openPress, type Press, type PressOptions } from '../../press/press.server.ts';
import type { PageShare } from '../../press/scheduler/page-share.ts';
import type { Render } from '../../press/scheduler/render.server.ts';
import type { FreshPage } from '../../press/scheduler/scheduler-state.ts';
import { openStore, type PageStore } from '../../press/store/page-store.server.ts';
import { refOf } from '../../press/store/stored-page.ts';
import type { Composition, Services } from '../compose.ts';
import type { Config } from '../config/config.ts';
import type { RenderPage } from '../http/page-renderer.ts';
import type { SecurityHeaders } from '../http/security-headers.ts';
import type { SharedDictionary } from '../http/shared-dictionary.ts';
import { openReaderCookies, type ReaderCookies } from '../secrets.ts';
import { routeOf } from '../tracing/routes.ts';
import { formerPage } from './former-addresses.ts';
import { headlineChoices } from './insertions.ts';
import { isOnDemand, isUnknownDocument, pageKeys, readRedirects } from './page-keys.ts';
import { createPressRender, pageHeaders } from './render-page.ts';

/** The render function, with a span for each call. */
const withSpan =
  (render: Render): Render =>
  (key, variant) =>
    inSpan('render', { 'broadsheet.variant': variant }, (span) => {
      span.set({ 'http.route': routeOf(key.split('?', 1)[0] ?? '') ?? '{unknown}' });
      return render(key, variant);
    });

export interface SitePress extends ReaderCookies {
  readonly press: Press;
  readonly keyOf: KeyOf;
  /** The SQLite file of the stored pages. */
  readonly file: string;
  /** Adds reads counted by another process, by page name (`nameOf`). */
  addReads(reads: readonly (readonly [name: string, count: number])[]): void;
  /** Keys of the pages that earlier builds have left and this one hasn't rendered yet, the most read first. */
  earlierKeys(): string[];
  /** Whether this build has been finished (`Press.finishBuild`), by this process or an earlier one. */
  isFinished(): boolean;
  /** Whether the CDN was purged for this build, and no other build has run since. */
  isPurged(): boolean;
  /** Records that the CDN was purged for this build. */
  markPurged(): void;
  /** Renders these before all others when they change. */
  prioritize(keys: Iterable<string>): void;
  /** Calls `listener` with every page that was stored or removed. */
  onFresh(listener: (page: FreshPage) => void): void;
  /** Calls `listener` with the milliseconds of every render. */
  onRender(listener: (ms: number) => void): void;
  close(): Promise<void>;
}

export interface SitePressOptions
  extends Pick<PressOptions, 'log' | 'onReplaced' | 'encoder' | 'concurrency' | 'storeTogether'> {
  readonly config: Config;
  readonly app: Pick<Composition, 'locals' | 'services'>;
  readonly render: RenderPage;
  readonly security: SecurityHeaders;
  /** Default: none. */
  readonly dictionary?: SharedDictionary | null;
  /** Name of the build (`lib/build-name.server.ts`). */
  readonly build: string;
  /** Whether a page store of another version is replaced (default), see `ComposeOptions`. */
  readonly upgrades?: boolean;
  /** Pages of the other nodes of a cluster, by the name of the build. */
  readonly shareOf?: ((build: string) => PageShare) | undefined;
}

/**
 * The name under which pages are stored: the build, and the settings that pages depend on, such as whether billing is on. Pages
 * rendered with other settings are treated like those of another build: they are served until they are rendered again.
 */
export function pagesName(
  build: string,
  config: Pick<Config, 'zephrUrl' | 'zephr' | 'thirdParties' | 'consentPlatform' | 'vitalsShare' | 'geo'>,
  { features, accounts }: Pick<Services, 'features' | 'accounts'>,
): string {
  const on = Object.entries(features).map(([name, feature]) => [name, feature.on]);
  const shown = [
    on.sort(),
    accounts?.providers ?? [],
    config.zephrUrl !== null,
    config.zephr.codeKey,
    config.thirdParties,
    config.consentPlatform,
    config.vitalsShare,
    config.geo.countryHeader !== null,
  ];
  return `${build}-${createHash('sha256').update(JSON.stringify(shown)).digest('hex').slice(0, 6)}`;
}

/** Folder of the page store. */
const pagesDir = (config: Config): string => join(config.dataDir, 'pages');

/** Pages contain the site's address, so each SITE_URL has its own store, and pages of another one are never served. */
const storeName = (config: Config): string =>
  `pages-${createHash('sha256').update(config.siteUrl).digest('hex').slice(0, 8)}.sqlite`;

/** Deletes pages that were rendered for another SITE_URL; only for the serving process. */
export function forgetOtherSites(config: Config): void {
  const own = storeName(config);
  mkdirSync(pagesDir(config), { recursive: true });
  for (const name of readdirSync(pagesDir(config))) {
    if (/^pages-[0-9a-f]{8}\.sqlite/.test(name) && !name.startsWith(own)) rmSync(join(pagesDir(config), name));
  }
}

/** @throws Error with a sentence for the operator when a key, the list of redirects or the data folder is invalid */
export function openSitePress(options: SitePressOptions): SitePress {
  const { config, app, security, dictionary = null, log } = options;
  const build = pagesName(options.build, config, app.services);
  const { content } = app.services;
  const redirects = config.redirectsFile ? readRedirects(config.redirectsFile) : [];
  const keyOf = pageKeys(content.reader, redirects, ({ from }) => {
    log.warn({ from }, 'A redirect of REDIRECTS_FILE is ignored, because the site itself uses this address');
  });
  const file = join(pagesDir(config), storeName(config));
  const store: PageStore = openStore({ file, build, log, upgrades: options.upgrades });
  /** Pages that are rendered first: withdrawn ones, and those that an editor waits for. */
  const prioritized = createBoundedMap<true>(5000);
  const freshListeners: ((page: FreshPage) => void)[] = [];
  const renderListeners: ((ms: number) => void)[] = [];
  const press = openPress({
    store,
    memoryBytes: config.pressMemoryBytes,
    render: withSpan(
      createPressRender(
        options.render,
        config.siteUrl,
        app.locals,
        content.revision,
        (key) => isUnknownDocument(content.reader(), key),
        (key, reader) => formerPage(reader, key),
      ),
    ),
    headersOf: pageHeaders(security, config, dictionary?.link),
    dictionary,
    choices: headlineChoices,
    encoder: options.encoder,
    log,
    everything: tag.site,
    share: options.shareOf?.(build),
    onDemand: isOnDemand,
    onReplaced: options.onReplaced,
    ...(options.concurrency !== undefined && { concurrency: options.concurrency }),
    ...(options.storeTogether !== undefined && { storeTogether: options.storeTogether }),
    priority: ({ key }) => {
      if (key === '/') return 0;
      return prioritized.get(key) ? 1 : 100;
    },
    onFresh: (page) => {
      prioritized.delete(page.key);
      for (const listener of freshListeners) listener(page);
    },
    onRender(ms) {
      for (const listener of renderListeners) listener(ms);
    },
  });
  return {
    press,
    keyOf,
    ...openReaderCookies(config),
    file,
    addReads(reads) {
      const counted = new Map(reads.map(([name, count]) => [name, { ref: refOf(name), count }]));
      try {
        store.addReads(counted);
      } catch (error) {
        log.debug({ err: error }, "Reads of pages couldn't be stored");
      }
    },
    earlierKeys: store.earlierKeys,
    isFinished: store.isWarm,
    isPurged: store.isPurged,
    markPurged() {
      try {
        store.markPurged();
      } catch (error) {
        log.debug({ err: error }, "The purge of the CDN couldn't be recorded; it is repeated after the next start");
      }
    },
    prioritize(keys) {
      for (const key of keys) prioritized.set(key, true);
    },
    onFresh: (listener) => void freshListeners.push(listener),
    onRender: (listener) => void renderListeners.push(listener),
    async close() {
      await press.close();
      store.close();
    },
  };
}
