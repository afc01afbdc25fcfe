/**
 * Distributes a change of the content: the press renders first, then the CDN is purged, then search engines are notified. The CDN is
 * purged only after the new pages are stored, because it requests them again within milliseconds and stores the response; withdrawn
 * content is purged at once as well. A page whose render fails is purged again when it is fresh.
 */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ContentChange } from '../../content/service.ts';
import { isFree } from '../../lib/article/model.ts';
import type { Cdn } from '../../lib/cdn/cdn.server.ts';
import type { Card, DocumentType } from '../../lib/content/model.ts';
import type { ContentReader } from '../../lib/content/reader.ts';
import { tag } from '../../lib/content/tags.ts';
import type { IndexNow } from '../../lib/indexnow/indexnow.server.ts';
import { withTimeLimit } from '../../lib/jobs/tasks.ts';
import type { Logger } from '../../lib/logging.ts';
import type { Invalidated, Press } from '../../press/press.server.ts';
import type { FreshPage } from '../../press/scheduler/scheduler-state.ts';
import type { ArrivedChange } from '../cluster/purges.ts';

export interface PublishingOptions {
  readonly press: Pick<Press, 'invalidate' | 'resumed'>;
  /** Renders these pages before others. */
  readonly prioritize: (keys: Iterable<string>) => void;
  readonly cdn: Pick<Cdn, 'purge' | 'idle'>;
  readonly indexNow: Pick<IndexNow, 'announce'>;
  readonly reader: () => ContentReader;
  readonly log: Logger;
  /** Called for each change in a cluster: says when the other nodes show it, and what this node does then. */
  readonly arrived?: (() => ArrivedChange) | undefined;
  /** Resolves when no other process of this site serves replaced or removed pages (default: there is no other process). */
  readonly workersUpdated?: (() => Promise<void>) | undefined;
  /** Updates the banner on pages, see `AlertBanner.update`. */
  readonly updateAlert?: (() => Promise<void>) | undefined;
  /** Called with the milliseconds from a change until its last page was fresh. */
  readonly published: (ms: number) => void;
  readonly now?: () => number;
  /**
   * Milliseconds after which the response to a change lists the pages that are fresh so far (default 8,000: the plugin waits ten
   * seconds).
   */
  readonly timeoutMs?: number;
}

export interface Publishing {
  /** @returns addresses of the first 200 fresh pages, in the order in which they became fresh */
  changed(change: ContentChange): Promise<readonly string[]>;
  /** Purges what another node may not have purged. @param tags of all changes. @returns resolves when the CDN has confirmed it */
  purgeAgain(tags: readonly string[]): Promise<void>;
  /** Call it with every page that the press has refreshed, also late: the CDN is purged of those that failed before. */
  fresh(page: FreshPage): void;
}

const mostNamed = 200;
/** Older articles aren't news: they come from a first sync or a migrated archive. */
const newsMs = 48 * 3_600_000;

interface AnnouncedPage {
  readonly path: string;
  /** The document as it is published now; `null` if it isn't. */
  readonly shown: { readonly date: string; readonly access?: Card['access'] } | null;
}

/** Documents with a dated page of their own. Others, such as series and sections, have no date that tells news from a first sync. */
const announced: { readonly [Type in DocumentType]?: (content: ContentReader, slug: string) => AnnouncedPage } = {
  articles: (content, slug) => ({ path: `/article/${slug}`, shown: content.article(slug) }),
  video: (content, slug) => ({ path: `/media/${slug}`, shown: content.video(slug) }),
  crosswords: (content, slug) => ({ path: `/games/${slug}`, shown: content.crossword(slug) }),
};

/** Addresses that search engines should fetch again. */
function announcedAddresses(
  content: ContentReader,
  { published = [], withdrawn }: ContentChange,
  now: number,
): string[] {
  const fresh = published.flatMap(({ type, slug }) => {
    const found = announced[type]?.(content, slug);
    if (!found?.shown) return [];
    const { date, access = 'free' } = found.shown;
    return now - Date.parse(date) < newsMs && isFree(access) ? [found.path] : [];
  });
  // Search engines forget a withdrawn page when they find it gone. If a document with its address is published again, it isn't gone.
  const gone = withdrawn.flatMap(({ type, slug }) => {
    const found = announced[type]?.(content, slug);
    return found?.shown === null ? [found.path] : [];
  });
  return [...fresh, ...gone];
}

/** Pages whose render failed and is tried again, and the purge of the CDN's copies of them once they are fresh. */
function createLatePages({ press, cdn, log, workersUpdated }: PublishingOptions) {
  /** Keys of public pages, the only ones that a CDN stores, with the tags by which its copies of them are purged. */
  const late = new Map<string, Set<string>>();

  function remember(pages: Invalidated['late'], tags: readonly string[]): void {
    for (const { key, variant } of pages) {
      if (variant === 'public') late.set(key, new Set([...(late.get(key) ?? []), ...tags]));
    }
  }

  /** In a cluster every node purges its own late pages: the other nodes don't know about them. */
  async function purge(tags: readonly string[]): Promise<void> {
    await workersUpdated?.();
    cdn.purge(tags);
  }

  const failedPurge = (error: unknown): void => log.error({ err: error }, "Late pages couldn't be purged from the CDN");

  // Changes from before the start were purged while readers still got the old pages.
  press.resumed
    .then((result) => {
      remember(result.late, [tag.site]);
      return result.refreshed.length + result.failed > 0 ? purge([tag.site]) : undefined;
    })
    .catch(failedPurge);

  return {
    remember,
    fresh({ key, variant }: FreshPage): void {
      const waiting = variant === 'public' ? late.get(key) : undefined;
      if (waiting && late.delete(key)) purge([...waiting]).catch(failedPurge);
    },
  };
}

export function createPublishing(options: PublishingOptions): Publishing {
  const { press, cdn, indexNow, log, now = Date.now, timeoutMs = 8000 } = options;
  const { workersUpdated } = options;
  /** Changes that haven't been answered yet, each with the pages that became fresh since it arrived. */
  const unanswered = new Set<{ readonly tags: ReadonlySet<string>; readonly keys: Set<string> }>();
  const late = createLatePages(options);

  function purge(tags: ReadonlySet<string>, gone: readonly string[]): void {
    const goneTags = new Set(gone);
    cdn.purge([...tags].filter((each) => !goneTags.has(each)));
    // The CDN's copies of all pages lack the banner, or still have it.
    if (tags.has(tag.alert)) cdn.purge([tag.site], { withdrawn: true });
    // Purged again: the CDN may have fetched a page between the first purge and the page's render.
    if (gone.length > 0) cdn.purge(gone, { withdrawn: true });
  }

  function announce(change: ContentChange): void {
    const urls = announcedAddresses(options.reader(), change, now());
    if (urls.length > 0) indexNow.announce(urls);
  }

  /** Called when this node shows a change. */
  async function notify(arrived: ArrivedChange | undefined, change: ContentChange, gone: readonly string[]) {
    if (arrived && !(await arrived.freshEverywhere())) return;
    purge(change.tags, gone);
    // A node that joins the cluster has every story as a new one.
    if (arrived?.isHolder !== false) announce(change);
    await cdn.idle();
    arrived?.purged();
  }

  /** Rendering may take minutes, during which the CDN would keep serving withdrawn content. */
  async function purgeGone(arrived: ArrivedChange | undefined, gone: readonly string[]): Promise<void> {
    await workersUpdated?.();
    if (!arrived || (await arrived.goneEverywhere())) cdn.purge(gone, { withdrawn: true });
  }

  return {
    async changed(change) {
      const began = performance.now();
      const gone = change.withdrawnTags ?? [];
      const arrived = change.isOwn ? undefined : options.arrived?.();
      options.prioritize(change.paths ?? []);
      const mine = { tags: new Set([...change.tags, ...gone]), keys: new Set<string>() };
      unanswered.add(mine);
      // Nothing is awaited before this call, so withdrawn pages are gone when it returns.
      const invalidated = press.invalidate(change.tags, { withdrawn: gone, reason: reasonOf(change) });
      if (gone.length > 0) {
        purgeGone(arrived, gone).catch((error: unknown) =>
          log.error({ err: error }, "Withdrawn pages couldn't be purged early"),
        );
      }
      const alert = change.tags.has(tag.alert) ? options.updateAlert?.() : undefined;
      const pressing = invalidated.then(async (result) => {
        late.remember(result.late, [...mine.tags]);
        await alert;
        await workersUpdated?.();
        const ms = performance.now() - began;
        unanswered.delete(mine);
        // Not awaited: this node is fresh only when this promise has resolved.
        notify(arrived, change, gone).catch((error: unknown) =>
          log.error({ err: error }, "The CDN or search engines couldn't be notified of a change"),
        );
        if (result.refreshed.length > 0) options.published(ms);
        if (result.failed > 0) {
          log.warn({ failed: result.failed }, "Some pages couldn't be refreshed; they are retried");
        }
        return result.refreshed.map(({ key }) => key);
      });
      try {
        const all = await withTimeLimit(timeoutMs, pressing, () => null);
        // Also after a timeout, so that withdrawn content is gone in every process.
        if (!all) await workersUpdated?.();
        if (!all)
          pressing.catch((error: unknown) => log.error({ err: error }, "The pages of a change couldn't be refreshed"));
        return [...new Set(all ?? mine.keys)].slice(0, mostNamed);
      } finally {
        unanswered.delete(mine);
      }
    },
    async purgeAgain(tags) {
      // Any of them may be a withdrawal's.
      purge(new Set(tags), tags);
      await cdn.idle();
    },
    fresh(page) {
      const { key, tags } = page;
      late.fresh(page);
      for (const one of unanswered) {
        if (one.keys.size < mostNamed && tags.some((each) => one.tags.has(each))) one.keys.add(key);
      }
    },
  };
}

/** A short description of a change, for the operators' page. */
function reasonOf({ withdrawn, paths = [], tags }: ContentChange): string {
  const [first] = withdrawn;
  if (first) return `${first.type} “${first.slug}” withdrawn`;
  const [path] = paths;
  if (path) return paths.length > 1 ? `${path} and what shows it` : path;
  return [...tags].slice(0, 3).join(', ');
}

/** Closes the CDN; removes the mark if every purge was sent. */
export type CloseCdn = () => Promise<void>;

/**
 * Purges everything if the previous process didn't stop cleanly, because its last purges may not have reached the CDN. Sets a mark
 * while the process runs.
 */
export function markPurges(cdn: Cdn, dataDir: string): CloseCdn {
  if (cdn.stats().provider === null) return async () => void (await cdn.close());
  const mark = join(dataDir, 'cdn-purges-open');
  if (existsSync(mark)) cdn.purge([tag.site]);
  writeFileSync(mark, '');
  return async () => {
    if ((await cdn.close()) === 0) rmSync(mark, { force: true });
  };
}
