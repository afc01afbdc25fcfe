/** Fetches and stores by name: one document, several, the sections, the menus. Webhooks, polls and walks use it. */
import type { z } from 'zod';
import { type Alert, longestAlert } from '../../lib/alerts/model.ts';
import type { DocumentType, MenuItem } from '../../lib/content/model.ts';
import { createKeyedMutex, type WithLock } from '../../lib/jobs/tasks.ts';
import type { Logger } from '../../lib/logging.ts';
import { linkTarget } from '../ingest/addresses.ts';
import type { IngestedSection } from '../ingest/document.ts';
import type { Ingester } from '../ingest/ingester.server.ts';
import { alertEntry } from '../store/alert.server.ts';
import type { ContentStore, CopiedType } from '../store/content-store.server.ts';
import type { ContentEntry } from '../store/entries.server.ts';
import { configuredSection, storedSections } from '../store/navigation.server.ts';
import type { Fetched } from '../store/write.server.ts';
import { type Client, describeFailure, type Failure, type GetOptions } from '../wire/client.server.ts';
import { fetchList, fetchOne, problemOf, requireBody, SyncProblem } from '../wire/fetch.server.ts';
import { pagesOf } from '../wire/list-pages.server.ts';
import * as wire from '../wire/schemas.ts';
import { idIn, rejectionOf } from '../wire/values.ts';
import type { Applied, Applier } from './apply.server.ts';

export interface SyncContext {
  readonly store: ContentStore;
  readonly client: Client;
  readonly applier: Applier;
  readonly ingester: Ingester;
  readonly log: Logger;
  readonly now: () => number;
  readonly siteUrl: string;
  readonly signal: AbortSignal;
}

export interface Refresh {
  /** Fetches one document again; whatever the order of deliveries, the content store ends with WordPress's latest state. */
  document(type: CopiedType, id: number, options?: GetOptions): Promise<Applied>;
  /** Fetches several documents again; a document that WordPress can't deliver is recorded as rejected, and the others continue. */
  documents(type: DocumentType, ids: readonly number[]): Promise<void>;
  sections(options?: GetOptions): Promise<Applied>;
  menus(options?: GetOptions): Promise<Applied>;
  /** Fetches the alert on every page; without the alert feature in the plugin nothing changes. */
  alert(options?: GetOptions): Promise<Applied>;
}

/** Failures that one broken document can cause, as opposed to an unavailable WordPress. */
export const mayBeOneDocument = ({ kind, status }: Failure): boolean =>
  kind === 'not-json' ||
  kind === 'too-large' ||
  kind === 'timeout' ||
  (kind === 'status' && status >= 500 && status !== 503);

export const nothingApplied: Applied = { stored: 0, withdrawn: 0, rejected: 0, refreshed: [] };
const batchSize = 20;

interface RefreshState extends SyncContext {
  /** One fetch of the same thing at a time until it is stored, so that an older response never overwrites a newer one. */
  readonly withLock: WithLock;
}

/** Creates the refreshes of one WordPress. */
export function createRefresh(context: SyncContext): Refresh {
  const state: RefreshState = { ...context, withLock: createKeyedMutex() };
  return {
    document: (type, id, options) => document(state, type, id, options),
    documents: (type, ids) => documents(state, type, ids),
    sections: (options) => state.withLock('sections', () => sections(state, options)),
    menus: (options) => state.withLock('menus', () => menus(state, options)),
    alert: (options) => state.withLock('alert', () => alert(state, options)),
  };
}

/** Runs `work` under a lock until it calls `stored`: a withdrawal must not wait until the pages of an earlier change are rendered. */
function lockedUntilStored<T>(state: RefreshState, key: string, work: (stored: () => void) => Promise<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const locked = () =>
    new Promise<void>((release) => {
      work(release).then(resolve, reject).finally(release);
    });
  void state.withLock(key, locked);
  return promise;
}

const document = (state: RefreshState, type: CopiedType, id: number, options?: GetOptions): Promise<Applied> =>
  lockedUntilStored(state, `${type}:${id}`, async (stored) => {
    const found = await fetchOne(state.client, type, id, { signal: state.signal, ...options });
    if (found.kind === 'failed') throw problemOf(state.client, found.failure);
    if (type === 'comments') {
      return found.kind === 'gone'
        ? state.applier.write([{ kind: 'comment-withdrawal', id, fetched: found.fetched }], stored)
        : state.applier.comments([found.raw], found.answer.fetched, [], stored);
    }
    if (found.kind === 'gone') return state.applier.write([goneEntry(state, type, id, found.fetched)], stored);
    const returning = returningStories(state, type, [found.raw]);
    const applied = await state.applier.documents(type, [found.raw], found.answer.fetched, [], stored);
    await refreshComments(state, returning, options);
    return applied;
  });

/**
 * The entry for a document that WordPress doesn't have. If the document has another type now, it isn't withdrawn: in the content log, where
 * entries have no type in their names, the withdrawal would replace the document.
 */
function goneEntry({ store }: RefreshState, type: DocumentType, id: number, fetched: Fetched): ContentEntry {
  const other = store.prepare('SELECT 1 FROM documents WHERE id = ? AND type <> ?').get(id, type);
  return other ? { kind: 'rejection-end', type, id } : { kind: 'withdrawal', type, id, fetched };
}

/** Ids of the stories among WordPress's documents that were withdrawn and are published again. */
function returningStories({ store }: RefreshState, type: DocumentType, raws: readonly unknown[]): number[] {
  if (type !== 'articles') return [];
  return raws.flatMap((raw) => {
    const { id, status } = (raw ?? {}) as { id?: unknown; status?: unknown };
    if (status !== 'publish') return [];
    return store.prepare('SELECT 1 FROM withdrawn WHERE id = ?').get(Number(id)) ? [Number(id)] : [];
  });
}

/**
 * Fetches the comments of stories that are published again: WordPress withdraws and restores comments with their story without a webhook,
 * and the plugin reports none that was removed in the meantime. If they can't be read, the sync finds the new ones when it reads all
 * comments again.
 */
async function refreshComments(state: RefreshState, stories: readonly number[], options?: GetOptions): Promise<void> {
  for (const post of stories) {
    const list = { path: '/wp/v2/comments', orderby: 'date_gmt', order: 'desc', query: { post } } as const;
    const listed = new Set<number>();
    try {
      for await (const page of pagesOf(state, list, 100, { signal: state.signal, tries: 2, ...options })) {
        await state.applier.comments(page.items, page.answer.fetched);
        for (const raw of page.items) listed.add(idIn(raw));
      }
      await refreshUnlisted(state, post, listed, options);
    } catch (error) {
      if (!(error instanceof SyncProblem)) throw error;
      state.log.warn({ id: post, err: error }, "content: the comments of a story that came back couldn't be read");
    }
  }
}

/** Fetches the stored comments of a story that WordPress's list lacks, one by one: the list doesn't say when a comment was removed. */
async function refreshUnlisted(
  state: RefreshState,
  post: number,
  listed: ReadonlySet<number>,
  options?: GetOptions,
): Promise<void> {
  const stored = state.store.prepare('SELECT id FROM comments WHERE post = ?').all(post);
  for (const id of stored.map((row) => Number(row.id))) {
    if (listed.has(id)) continue;
    try {
      await document(state, 'comments', id, { tries: 2, ...options });
    } catch (error) {
      state.log.warn({ id, err: error }, "content: a comment of a story that came back couldn't be read");
    }
  }
}

const isResponding = async (state: RefreshState): Promise<boolean> =>
  (await state.client.get('/newsroom/v1/status', {}, { tries: 1, signal: state.signal })).ok;

async function oneByOne(state: RefreshState, type: DocumentType, ids: readonly number[]): Promise<void> {
  for (const id of ids) {
    try {
      await document(state, type, id, { tries: 2 });
    } catch (error) {
      const failure = (error as { failure?: Failure | null }).failure;
      if (!failure || !mayBeOneDocument(failure) || !(await isResponding(state))) throw error;
      const problem = describeFailure(failure);
      await state.applier.reject({ type, id, field: '(document)', value: '', problem, modified: '' });
    }
  }
}

async function documents(state: RefreshState, type: DocumentType, ids: readonly number[]): Promise<void> {
  for (let start = 0; start < ids.length; start += batchSize) {
    const part = ids.slice(start, start + batchSize);
    const query = { include: part, per_page: part.length, orderby: 'include' };
    const result = await state.client.get(`/wp/v2/${type}`, query, { signal: state.signal });
    if (!result.ok) {
      if (!mayBeOneDocument(result)) throw problemOf(state.client, result);
      await oneByOne(state, type, part);
      continue;
    }
    const raws = Array.isArray(result.data) ? (result.data as unknown[]) : [];
    const returning = returningStories(state, type, raws);
    await state.applier.documents(type, raws, result.fetched);
    await refreshComments(state, returning);
    const received = new Set(raws.map(idIn));
    await oneByOne(
      state,
      type,
      part.filter((id) => !received.has(id)),
    );
  }
}

async function sections(state: RefreshState, options: GetOptions | undefined): Promise<Applied> {
  const { raws, fetched } = await fetchCategories(state, { signal: state.signal, ...options });
  const { sections, rejected } = await sectionsOf(raws, state);
  return state.applier.write([
    { kind: 'sections', sections, fetched },
    ...rejectionEnds(state, 'categories', rejected),
  ]);
}

/** Ends the rejections of documents that can be read now. @param rejected ids of what can't be read */
const rejectionEnds = ({ store }: SyncContext, type: string, rejected: readonly number[] = []): ContentEntry[] =>
  store
    .prepare('SELECT id FROM rejected WHERE type = ?')
    .all(type)
    .map(({ id }) => Number(id))
    .filter((id) => !rejected.includes(id))
    .map((id) => ({ kind: 'rejection-end', type, id }));

/** All category terms as received. @returns `fetched` of the first of the requests @throws SyncProblem */
export async function fetchCategories(
  context: Pick<SyncContext, 'client' | 'log'>,
  options: GetOptions,
): Promise<{ readonly raws: readonly unknown[]; readonly fetched: Fetched }> {
  const raws: unknown[] = [];
  const list = { path: '/wp/v2/categories', orderby: 'id', order: 'asc' } as const;
  let fetched: Fetched = { at: 0, clock: 0 };
  for await (const page of pagesOf(context, list, 100, options)) {
    requireBody(page.answer);
    if (raws.length === 0) fetched = page.answer.fetched;
    raws.push(...page.items);
  }
  return { raws, fetched };
}

/** A category's place in the navigation; `null` if it isn't a section. */
export function navigationPosition({ slug, newsroom }: z.infer<typeof wire.category>): number | null {
  return newsroom ? (newsroom.navigation_position ?? null) : (configuredSection(slug)?.navigationPosition ?? null);
}

async function menus(state: RefreshState, options: GetOptions | undefined): Promise<Applied> {
  const { items, answer } = await fetchList(
    state.client,
    '/newsroom/v1/menus',
    {},
    { signal: state.signal, ...options },
  );
  const parsed = wire.menus.safeParse(items);
  if (!parsed.success) {
    await state.applier.reject(rejectionOf('menus', items, parsed.error));
    return nothingApplied;
  }
  const addresses = { wordpress: state.client.url, site: state.siteUrl };
  const isPublic = state.store.getMeta('wordpress-public') === 'true';
  const menus = new Map<string, MenuItem[]>();
  for (const { location, items: entries } of parsed.data) {
    const titles = await state.ingester.lines(entries.map(({ title }) => title));
    const shown = entries.flatMap(({ url }, index) => {
      const target = linkTarget(url, addresses, `${state.client.url}/`);
      const title = titles[index] ?? '';
      // A draft, or a page that only WordPress has: readers can't follow a link to it.
      const isElsewhere = target?.kind === 'wordpress' && !target.href.startsWith('/') && !isPublic;
      return target && target.kind !== 'anchor' && title !== '' && !isElsewhere ? [{ title, href: target.href }] : [];
    });
    menus.set(location, shown);
  }
  return state.applier.write([
    { kind: 'menus', menus: [...menus], fetched: answer.fetched },
    ...rejectionEnds(state, 'menus'),
  ]);
}

async function alert(state: RefreshState, options: GetOptions | undefined): Promise<Applied> {
  const result = await state.client.get('/newsroom/v1/alert', {}, { signal: state.signal, ...options });
  if (!result.ok) {
    if (result.status === 404) return nothingApplied;
    throw problemOf(state.client, result);
  }
  const parsed = wire.alert.safeParse(result.data);
  if (!parsed.success) {
    await state.applier.reject(rejectionOf('alerts', result.data, parsed.error));
    return nothingApplied;
  }
  const entry = alertEntry(state.store, parsed.data.alert && (await shownAlert(state, parsed.data.alert)));
  return state.applier.write([...(entry ? [entry] : []), ...rejectionEnds(state, 'alerts')]);
}

/** @returns `null` for an alert without words */
async function shownAlert(
  { client, siteUrl, ingester }: SyncContext,
  { id, text, link = '', starts, until, mail = false, push = false }: NonNullable<z.infer<typeof wire.alert>['alert']>,
): Promise<Alert | null> {
  const [line = ''] = await ingester.lines([text]);
  const target = link === '' ? null : linkTarget(link, { wordpress: client.url, site: siteUrl }, `${siteUrl}/`);
  const href = target?.kind === 'anchor' || target?.kind === 'contact' ? null : (target?.href ?? null);
  const short = [...line].slice(0, longestAlert).join('').trim();
  return short === '' ? null : { id, text: short, href, starts, until, mail, push };
}

async function sectionsOf(
  raws: readonly unknown[],
  { applier, ingester, store }: SyncContext,
): Promise<{ readonly sections: readonly IngestedSection[]; readonly rejected: readonly number[] }> {
  const stored = new Map(storedSections(store).map((section) => [section.id, section]));
  const sections: IngestedSection[] = [];
  const rejected: number[] = [];
  for (const raw of raws) {
    const parsed = wire.category.safeParse(raw);
    if (!parsed.success) {
      const rejection = rejectionOf('categories', raw, parsed.error);
      await applier.reject(rejection);
      rejected.push(rejection.id);
      const before = stored.get(rejection.id);
      if (before) sections.push(before);
      continue;
    }
    const { id, slug, newsroom } = parsed.data;
    const configured = configuredSection(slug);
    const [name = slug, label = ''] = await ingester.lines([parsed.data.name, newsroom?.label ?? '']);
    sections.push({
      id,
      slug,
      name: name || slug,
      label: label || (newsroom ? '' : (configured?.label ?? '')) || name || slug,
      homepageCount: Math.max(
        0,
        Math.trunc(
          newsroom ? (newsroom.home_count ?? configured?.homepageCount ?? 4) : (configured?.homepageCount ?? 4),
        ),
      ),
      showInMedia: newsroom ? (newsroom.show_in_media ?? false) : (configured?.showInMedia ?? false),
      position: navigationPosition(parsed.data),
      color: (newsroom ? newsroom.color : configured?.color) === 'red' ? 'red' : 'default',
      ...(newsroom?.former_slugs?.length && { former: newsroom.former_slugs }),
    });
  }
  return { sections, rejected };
}
