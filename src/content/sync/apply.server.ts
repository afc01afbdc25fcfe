/**
 * Writes responses of WordPress to the content store: ingest, one transaction for all of them, then one notification of the changes. A
 * document that fails validation is recorded with its address, field and value; the others are stored.
 */
import { randomUUID } from 'node:crypto';
import { type DocumentType, tag } from '../../lib/content/model.ts';
import type { Logger } from '../../lib/logging.ts';
import { IngestClosed, type Ingester } from '../ingest/ingester.server.ts';
import type { ContentChange } from '../service.ts';
import { storeComment, withdrawComment } from '../store/comments.server.ts';
import { type ContentStore, isDamage } from '../store/content-store.server.ts';
import { storeTopStories } from '../store/navigation.server.ts';
import { type Fetched, type StoredChange, storeDocument, withdrawDocument } from '../store/write.server.ts';
import type { Client } from '../wire/client.server.ts';
import { instantOf, type Rejection } from '../wire/values.ts';

export interface Applied {
  readonly stored: number;
  readonly withdrawn: number;
  readonly rejected: number;
  /** The paths that the listener refreshed, or the paths that most likely show the change. */
  readonly refreshed: readonly string[];
}

export interface Applier {
  /**
   * @param raws documents as received, all of one type
   * @param alongside further writes in the same transaction, such as a cursor
   */
  documents(type: DocumentType, raws: readonly unknown[], fetched: Fetched, alongside?: () => void): Promise<Applied>;
  comments(raws: readonly unknown[], alongside?: () => void): Promise<Applied>;
  /** Removes documents that WordPress no longer shows. */
  withdraw(type: DocumentType, ids: readonly number[], fetched: Fetched): Promise<Applied>;
  withdrawComments(ids: readonly number[]): Promise<Applied>;
  /** Any other write: sections, menus. `work` returns the tags that it changes. */
  write(work: () => ReadonlySet<string>): Promise<Applied>;
  /** Records a document that couldn't even be fetched. */
  reject(rejection: Rejection): void;
  /** Notifies the listener of committed changes that it didn't finish processing. It runs once. */
  replay(): void;
  /** Counts of documents since the start. */
  readonly counts: { stored: number; withdrawn: number; rejected: number };
}

export interface ApplierOptions {
  readonly store: ContentStore;
  readonly client: Client;
  readonly ingester: Ingester;
  readonly log: Logger;
  readonly now: () => number;
  readonly onChange?: ((change: ContentChange) => unknown) | undefined;
  readonly isKept?: (() => boolean) | undefined;
  /** Called after every write. */
  readonly afterCommit?: (() => void) | undefined;
}

const isPaid = (facts: string | undefined): boolean =>
  facts !== undefined && /"access":"(?:registered|subscriber)"/u.test(facts);

/** Whether a stored page must stop being served at once: its document was withdrawn, or is no longer free. */
const mustBeWithdrawn = ({ status, before, after }: StoredChange): boolean =>
  status === 'withdrawn' || (before !== null && after !== null && !isPaid(before.facts) && isPaid(after.facts));

/** Longest body, characters. A newspaper's longest stories have a tenth of it, and a thread must be able to hold it as a tree. */
const longestBody = 2_000_000;

function tooLong(raw: unknown): Promise<never> | null {
  const content = (raw as { content?: { rendered?: unknown } } | null)?.content?.rendered;
  const length = typeof content === 'string' ? content.length : 0;
  return length > longestBody
    ? Promise.reject(new Error(`the body has ${length} characters, ${longestBody} is the limit`))
    : null;
}

interface ApplyState extends ApplierOptions {
  readonly counts: Applier['counts'];
  /** Notifications that the listener is processing. */
  readonly notifications: Set<Promise<readonly string[]>>;
  /** Keys of change records that the listener has processed; they are deleted once the listener's own record is durable. */
  readonly processedRecords: Set<string>;
  replayed: boolean;
}

/** Creates the applier of a content store. */
export function createApplier(options: ApplierOptions): Applier {
  const apply: ApplyState = {
    ...options,
    counts: { stored: 0, withdrawn: 0, rejected: 0 },
    notifications: new Set(),
    processedRecords: new Set(),
    replayed: false,
  };
  return {
    counts: apply.counts,
    reject: (rejection) => reject(apply, rejection),
    replay: () => replay(apply),
    documents: (type, raws, fetched, alongside) => documents(apply, type, raws, fetched, alongside),
    comments: (raws, alongside) => comments(apply, raws, alongside),
    withdraw: (type, ids, fetched) => withdraw(apply, type, ids, fetched),
    withdrawComments: (ids) => withdrawComments(apply, ids),
    write: (work) => commit(apply, () => ({ changes: [], tags: new Set(work()), rejected: 0 })),
  };
}

function reject(apply: ApplyState, rejection: Rejection): void {
  const url =
    rejection.id > 0
      ? apply.client.address(`/wp/v2/${rejection.type}/${rejection.id}`)
      : apply.client.address(`/wp/v2/${rejection.type}`);
  const { type, id, field, value, problem, modified } = rejection;
  apply.counts.rejected++;
  apply.log.warn({ url, field, value, problem }, 'content: document rejected as invalid');
  apply.store
    .prepare(
      `INSERT INTO rejected VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (type, id) DO UPDATE SET url = excluded.url,
        field = excluded.field, value = excluded.value, problem = excluded.problem, modified = excluded.modified, tried = excluded.tried`,
    )
    .run(type, id, url, field, value, problem, modified, apply.now());
}

/** Records a change until the listener has processed it. @returns the record's key */
function recordChange(apply: ApplyState, change: ContentChange): string {
  const key = `change:${apply.now()}:${randomUUID()}`;
  apply.store.setMeta(key, JSON.stringify({ ...change, tags: [...change.tags], published: [] }));
  return key;
}

/** @returns the paths that the listener refreshed */
function notifyListener(apply: ApplyState, change: ContentChange, recordKey: string): Promise<readonly string[]> {
  const notification = callListener(apply, change, recordKey).finally(() => apply.notifications.delete(notification));
  apply.notifications.add(notification);
  return notification;
}

/** A caller that finds nothing new may have come just after the change, so it waits until the listener has processed the change. */
async function waitForNotifications(apply: ApplyState): Promise<readonly string[]> {
  await Promise.allSettled([...apply.notifications]);
  return [];
}

async function callListener(apply: ApplyState, change: ContentChange, recordKey: string): Promise<readonly string[]> {
  let refreshed = change.paths ?? [];
  try {
    const answer = await apply.onChange?.(change);
    if (Array.isArray(answer) && answer.every((path) => typeof path === 'string')) refreshed = answer;
  } catch (error) {
    apply.log.error({ error: String(error) }, 'content: a listener failed on a change');
  }
  deleteRecord(apply, recordKey);
  return refreshed;
}

function deleteRecord(apply: ApplyState, recordKey: string): void {
  if (recordKey !== '') apply.processedRecords.add(recordKey);
  if (apply.isKept && !apply.isKept()) return;
  for (const key of apply.processedRecords) apply.store.prepare('DELETE FROM meta WHERE key = ?').run(key);
  apply.processedRecords.clear();
}

function replay(apply: ApplyState): void {
  if (apply.replayed) return;
  apply.replayed = true;
  const pending = apply.store.prepare("SELECT key, value FROM meta WHERE key LIKE 'change:%' ORDER BY key").all();
  for (const { key, value } of pending) {
    const { tags, ...rest } = JSON.parse(String(value)) as Omit<ContentChange, 'tags'> & { tags: string[] };
    void notifyListener(apply, { ...rest, tags: new Set(tags) }, String(key));
  }
}

/** Runs the transaction and notifies the listener. A listener that fails doesn't undo the change. */
async function commit(
  apply: ApplyState,
  work: () => { changes: StoredChange[]; tags: Set<string>; rejected: number },
): Promise<Applied> {
  let outcome: { rejected: number; stored: number; withdrawn: number; change: ContentChange | null; recordKey: string };
  try {
    outcome = apply.store.transaction(() => {
      const { changes, tags, rejected } = work();
      for (const change of changes) for (const each of change.tags) tags.add(each);
      const stored = changes.filter(({ status }) => status === 'created' || status === 'changed').length;
      const withdrawn = changes.filter(({ status }) => status === 'withdrawn').length;
      const change = tags.size > 0 ? changeOf(changes, tags) : null;
      // Written in the same transaction as the change: if the process dies before the listener has processed it, the next process
      // repeats it.
      return {
        rejected,
        stored,
        withdrawn,
        change,
        recordKey: change && apply.onChange ? recordChange(apply, change) : '',
      };
    });
  } catch (error) {
    if (isDamage(error)) apply.store.rebuild(String(error));
    throw error;
  }
  const { rejected, stored, withdrawn, change, recordKey } = outcome;
  apply.afterCommit?.();
  apply.counts.stored += stored;
  apply.counts.withdrawn += withdrawn;
  const refreshed = change ? await notifyListener(apply, change, recordKey) : await waitForNotifications(apply);
  return { stored, withdrawn, rejected, refreshed };
}

async function documents(
  apply: ApplyState,
  type: DocumentType,
  raws: readonly unknown[],
  fetched: Fetched,
  alongside: (() => void) | undefined,
): Promise<Applied> {
  const results = await Promise.all(
    raws.map((raw) =>
      (tooLong(raw) ?? apply.ingester.document(type, raw)).catch((error: unknown) => {
        if (error instanceof IngestClosed) throw error;
        const { id: number, modified_gmt } = (raw ?? {}) as { id?: unknown; modified_gmt?: unknown };
        const id = Number(number) || 0;
        const modified = instantOf(modified_gmt) ?? '';
        const problem = error instanceof Error ? error.message : String(error);
        return {
          kind: 'rejected' as const,
          rejection: { type, id, field: '(document)', value: '', problem, modified },
        };
      }),
    ),
  );
  return commit(apply, () => {
    const changes: StoredChange[] = [];
    const tags = new Set<string>();
    let rejected = 0;
    for (const result of results) {
      if (result.kind === 'rejected') {
        reject(apply, result.rejection);
        rejected++;
      } else if (result.kind === 'withheld') {
        changes.push(withdrawDocument(apply.store, result.id, fetched, type));
        forgetTopStories(apply.store, result.id, tags);
      } else if (result.document.topStories) {
        // The page with the front page's selection is a form for editors, not a page of the site.
        for (const each of storeTopStories(apply.store, result.document.topStories)) tags.add(each);
        apply.store.setMeta('top-stories-page', JSON.stringify([result.document.id, result.document.modified]));
        apply.store.prepare('DELETE FROM rejected WHERE type = ? AND id = ?').run(type, result.document.id);
      } else changes.push(storeDocument(apply.store, result.document, fetched));
    }
    alongside?.();
    return { changes, tags, rejected };
  });
}

async function comments(
  apply: ApplyState,
  raws: readonly unknown[],
  alongside: (() => void) | undefined,
): Promise<Applied> {
  const results = await Promise.all(raws.map((raw) => apply.ingester.comment(raw)));
  return commit(apply, () => {
    const tags = new Set<string>();
    let rejected = 0;
    for (const result of results) {
      if (result.kind === 'rejected') {
        reject(apply, result.rejection);
        rejected++;
      } else if (result.kind === 'withheld') {
        for (const each of withdrawComment(apply.store, result.id)) tags.add(each);
      } else {
        apply.store.prepare("DELETE FROM rejected WHERE type = 'comments' AND id = ?").run(result.document.id);
        for (const each of storeComment(apply.store, result.document)) tags.add(each);
      }
    }
    alongside?.();
    return { changes: [], tags, rejected };
  });
}

const withdraw = (apply: ApplyState, type: DocumentType, ids: readonly number[], fetched: Fetched): Promise<Applied> =>
  commit(apply, () => {
    const tags = new Set<string>();
    for (const id of ids) forgetTopStories(apply.store, id, tags);
    return { changes: ids.map((id) => withdrawDocument(apply.store, id, fetched, type)), tags, rejected: 0 };
  });

const withdrawComments = (apply: ApplyState, ids: readonly number[]): Promise<Applied> =>
  commit(apply, () => ({
    changes: [],
    tags: new Set(ids.flatMap((id) => [...withdrawComment(apply.store, id)])),
    rejected: 0,
  }));

function changeOf(changes: readonly StoredChange[], tags: ReadonlySet<string>): ContentChange {
  return {
    tags,
    paths: [...new Set([...changes.flatMap(ownPaths), ...pathsOfTags(tags)])],
    withdrawn: changes
      .filter(mustBeWithdrawn)
      .flatMap(({ type, slugs }) => (slugs[0] === null ? [] : [{ type, slug: slugs[0] }])),
    withdrawnTags: changes.filter(mustBeWithdrawn).flatMap(pageTag),
    published: changes.flatMap(({ status, type, slugs }) =>
      status === 'created' && slugs[1] !== null ? [{ type, slug: slugs[1] }] : [],
    ),
  };
}

/** Tag of the pages that show the document whole. An author's profile isn't included: every article of theirs shows it, and those aren't withdrawn. */
function pageTag({ type, id, slugs }: StoredChange): string[] {
  if (type === 'articles') return [tag.article(id)];
  if (type === 'video') return [tag.video(id)];
  if (type === 'crosswords') return [tag.crossword(id)];
  return type === 'pages' && slugs[0] !== null ? [tag.page(slugs[0])] : [];
}

const ownPaths = ({ type, slugs, tags }: StoredChange): string[] =>
  tags.size === 0 ? [] : slugs.flatMap((slug) => (slug === null ? [] : [pathOf(type, slug)]));

/** Id and `modified` of the page `top-stories-2`; `null` while there is none. */
export function topStoriesPage(store: ContentStore): { id: number; modified: string } | null {
  const value = store.getMeta('top-stories-page');
  if (value === null || value === 'null') return null;
  const [id, modified] = JSON.parse(value) as [number, string];
  return { id, modified };
}

function forgetTopStories(store: ContentStore, id: number, tags: Set<string>): void {
  if (topStoriesPage(store)?.id !== id) return;
  store.setMeta('top-stories-page', 'null');
  for (const each of storeTopStories(store, null)) tags.add(each);
}

// Paths of the site that show a document, for logs and the response to the webhook.

/** Path of a document's own page. */
export function pathOf(type: DocumentType, slug: string): string {
  switch (type) {
    case 'articles':
      return `/article/${slug}`;
    case 'video':
      return `/media/${slug}`;
    case 'authors':
      return `/author/${slug}`;
    case 'crosswords':
      return '/games';
    case 'pages':
      return `/${slug}`;
  }
}

/** The paths that tags name. */
export function pathsOfTags(tags: ReadonlySet<string>): string[] {
  const paths: string[] = [];
  for (const tag of tags) {
    if (tag.startsWith('section:')) paths.push(`/section/${tag.slice(8)}`, '/');
    else if (tag === 'latest') paths.push('/latest', '/');
    else if (tag === 'videos') paths.push('/media');
    else if (tag === 'crosswords') paths.push('/games');
    else if (tag === 'top-stories' || tag === 'navigation' || tag.startsWith('card:')) paths.push('/');
  }
  return paths;
}
