/**
 * The first filling of the content store: newest first, so that there is an edition to read early; what has come is committed with
 * the cursor that says so, so that it goes on after `kill -9` where it was.
 */

import type { DocumentType } from '../../lib/content/model.ts';
import { tag } from '../../lib/content/tags.ts';
import { storedTopStories } from '../store/navigation.server.ts';
import { describeFailure, type Failure } from '../wire/client.server.ts';
import { fetchList, fetchStatus, type ListAnswer, SyncProblem } from '../wire/fetch.server.ts';
import * as wire from '../wire/schemas.ts';
import type { Applied } from './apply.server.ts';
import { backfillCursor, documentTypes, readCursor, writeCursor } from './cursors.server.ts';
import { type Items, mayBeOneDocument, type SyncContext } from './refresh.server.ts';

type Kind = DocumentType | 'comments';
const kinds: readonly Kind[] = [...documentTypes, 'comments'];
/** Sizes of a request, tried in turn while one answer is broken, so that one bad document holds up no other. */
const sizes = [50, 20, 5, 1] as const;
const firstSize = 20;
const reportEveryMs = 5000;

interface Chunk extends ListAnswer {
  readonly size: number;
}

export interface Backfill {
  /** Fills what is missing; resolves when everything is in. Throws {@link SyncProblem}. */
  run(): Promise<void>;
  readonly complete: boolean;
  secondsLeft(): number | null;
}

/** Makes the back-fill of one content store. */
export function createBackfill(context: SyncContext, items: Items, onReady: () => void): Backfill {
  const { store, client, applier, log, now, signal } = context;
  let began = 0;
  let doneAtStart = 0;
  let reported = 0;

  const sums = (): { done: number; total: number } => {
    let [done, total] = [0, 0];
    for (const kind of kinds) {
      const cursor = backfillCursor(store, kind);
      done += cursor.done ? cursor.total : cursor.offset;
      total += cursor.total;
    }
    return { done, total };
  };

  const secondsLeft = (): number | null => {
    const { done, total } = sums();
    const spent = now() - began;
    if (began === 0 || done >= total || done <= doneAtStart || spent < 200) return null;
    return Math.round((((total - done) / (done - doneAtStart)) * spent) / 1000);
  };

  const report = (kind: Kind): void => {
    if (now() - reported < reportEveryMs) return;
    reported = now();
    const { done, total } = sums();
    const left = secondsLeft();
    const percent = total === 0 ? 0 : Math.floor((done / total) * 100);
    log.info(
      { type: kind, done, total, percent, secondsLeft: left },
      `content: back-fill ${done} of ${total}${left === null ? '' : `, about ${left} s left`}`,
    );
  };

  const ask = (kind: Kind, offset: number, size: number): Promise<ListAnswer> => {
    const order = kind === 'comments' ? 'date_gmt' : 'date';
    const query = { per_page: size, offset, orderby: order, order: 'desc' };
    // A smaller request follows one that has failed with all its tries.
    return fetchList(client, `/wp/v2/${kind}`, query, { signal, tries: size < firstSize ? 1 : 4 });
  };

  /** A chunk; when WordPress breaks over it, a smaller one, down to the one document that is to blame. */
  const fetchChunk = async (kind: Kind, offset: number, most: number): Promise<Chunk> => {
    for (const size of sizes.filter((each) => each <= most)) {
      try {
        return { ...(await ask(kind, offset, size)), size };
      } catch (error) {
        const failure = error instanceof SyncProblem ? error.failure : null;
        if (!failure || !mayBeOneDocument(failure)) throw error;
        await fetchStatus(client, { tries: 1, signal });
        if (size === 1) return { ...(await setAside(kind, offset, failure)), size };
      }
    }
    throw new SyncProblem(`no size of request left for ${kind}`);
  };

  const setAside = async (kind: Kind, offset: number, failure: Failure): Promise<ListAnswer> => {
    const order = kind === 'comments' ? 'date_gmt' : 'date';
    const fields = kind === 'comments' ? 'id' : 'id,modified_gmt,slug,status';
    const query = { per_page: 1, offset, orderby: order, order: 'desc', _fields: fields };
    const list = await fetchList(client, `/wp/v2/${kind}`, query, { signal });
    const seen = wire.light.safeParse(list.items[0]);
    const id = Number((list.items[0] as { id?: unknown } | undefined)?.id) || 0;
    const modified = seen.success ? seen.data.modified_gmt : '';
    applier.reject({ type: kind, id, field: '(document)', value: '', problem: describeFailure(failure), modified });
    return { items: [], answer: list.answer };
  };

  const storeChunk = (kind: Kind, chunk: Chunk, offset: number): Promise<Applied> => {
    const { total } = chunk.answer;
    const next = offset + chunk.size;
    const ended = total === null ? chunk.items.length < chunk.size : next >= total;
    const cursor = { offset: next, total: total ?? next, done: ended };
    const alongside = (): void => {
      // The poll takes over from the moment at which the first answer was given.
      if (
        kind !== 'comments' &&
        readCursor<unknown>(store, `poll:${kind}`, null) === null &&
        chunk.answer.fetched.clock > 0
      ) {
        writeCursor(store, `poll:${kind}`, {
          high: `${new Date(chunk.answer.fetched.clock * 1000).toISOString().slice(0, 19)}Z`,
        });
      }
      writeCursor(store, `backfill:${kind}`, ended ? { ...cursor, offset: cursor.total } : cursor);
    };
    return kind === 'comments'
      ? applier.comments(chunk.items, alongside)
      : applier.documents(kind, chunk.items, chunk.answer.fetched, alongside);
  };

  /** One chunk, or all that are left; the next is on its way while one is being sanitized. */
  const fill = async (kind: Kind, onlyFirst: boolean): Promise<void> => {
    let cursor = backfillCursor(store, kind);
    if (cursor.done || (onlyFirst && cursor.offset > 0)) return;
    let prefetched: Promise<Chunk> | null = null;
    while (!cursor.done && !signal.aborted) {
      const chunk: Chunk = await (prefetched ?? fetchChunk(kind, cursor.offset, onlyFirst ? firstSize : sizes[0]));
      const next = cursor.offset + chunk.size;
      const more =
        !onlyFirst && (chunk.answer.total === null ? chunk.items.length === chunk.size : next < chunk.answer.total);
      prefetched = more ? fetchChunk(kind, next, sizes[0]) : null;
      // It is awaited on the next round; until then a failure must not count as unhandled.
      prefetched?.catch(() => {});
      await storeChunk(kind, chunk, cursor.offset);
      cursor = backfillCursor(store, kind);
      report(kind);
      if (onlyFirst) return;
    }
  };

  const fetchTopStories = async (): Promise<void> => {
    const wanted = storedTopStories(store)?.ids ?? [];
    const missing = wanted.filter((id) => !store.prepare('SELECT 1 FROM documents WHERE id = ?').get(id)).slice(0, 50);
    if (missing.length > 0) await items.several('articles', missing);
  };

  return {
    get complete() {
      return kinds.every((kind) => backfillCursor(store, kind).done);
    },
    secondsLeft,
    async run() {
      began = now();
      doneAtStart = sums().done;
      await items.sections();
      await items.menus();
      for (const type of documentTypes) await fill(type, true);
      if (store.getMeta('ready') !== '1') {
        await fetchTopStories();
        await applier.write(() => {
          store.setMeta('ready', '1');
          return new Set([tag.site]);
        });
        log.info(
          { seconds: Math.round((now() - began) / 1000) },
          'content: the edition can be read; older documents follow',
        );
        onReady();
      }
      for (const kind of ['articles', 'pages', 'authors', 'video', 'crosswords', 'comments'] as const)
        await fill(kind, false);
    },
  };
}
