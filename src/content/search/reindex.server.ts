/**
 * Brings the search index in line with an author's new name, behind everything else: each of the author's stories has to be
 * indexed anew, and an editor who renames somebody with a thousand stories does not wait for that. What is left to do is
 * noted in the content store with the new name itself, so that it outlives the process.
 */
import type { Logger } from '../../lib/logging.ts';
import type { ContentStore } from '../store/content-store.server.ts';
import { rewordStory } from './index.server.ts';

const prefix = 'reindex:';

/** Notes that an author's stories are to be indexed anew; within the transaction that changes the name. */
export const markForReindex = (store: ContentStore, authorId: number): void =>
  store.setMeta(`${prefix}${authorId}`, '0');

/**
 * Indexes some stories anew.
 *
 * @param most how many at a time
 * @returns whether any are left
 */
export function reindexSome(store: ContentStore, most = 4): boolean {
  return store.transaction(() => {
    const note = store
      .prepare("SELECT key, value FROM meta WHERE key >= 'reindex:' AND key < 'reindex;' LIMIT 1")
      .get();
    if (!note) return false;
    const author = Number(String(note.key).slice(prefix.length));
    const name =
      store.prepare("SELECT title FROM documents WHERE id = ? AND type = 'authors'").get(author)?.title ?? '';
    const stories = store
      .prepare('SELECT id FROM listing WHERE list = ? AND id > ? ORDER BY id LIMIT ?')
      .all(`articles:author:${author}`, Number(note.value), most);
    for (const { id } of stories) rewordStory(store, Number(id), { author: String(name) });
    if (stories.length < most) store.prepare('DELETE FROM meta WHERE key = ?').run(String(note.key));
    else store.setMeta(String(note.key), String(stories.at(-1)?.id));
    return true;
  });
}

export interface Reindexer {
  /** A change was written: what is noted goes on once it has been quiet for a moment. */
  soon(): void;
  stop(): void;
}

/** Milliseconds between two steps: readers come first. */
const pause = 15;
/** Milliseconds without a change before it goes on, for editors come first, too. */
const calm = 1000;
/** Milliseconds for which changes can put it off, and between two steps while they never end. */
const longest = 300_000;
const trickle = 1000;

export function createReindexer(store: ContentStore, log: Logger): Reindexer {
  let timer: NodeJS.Timeout | undefined;
  /** When it was first put off, and when something changed last. */
  let since: number | undefined;
  let changed = Number.NEGATIVE_INFINITY;
  let stopped = false;

  function step(): void {
    timer = undefined;
    try {
      if (reindexSome(store)) after(performance.now() - changed >= calm ? pause : trickle);
      else since = undefined;
    } catch (error) {
      // It stays noted, and goes on with the next change.
      log.error({ err: error }, 'content: the search index could not be brought in line with an author’s name');
    }
  }

  function after(ms: number): void {
    if (stopped) return;
    clearTimeout(timer);
    timer = setTimeout(step, ms);
    timer.unref();
  }

  return {
    soon() {
      changed = performance.now();
      since ??= changed;
      if (changed - since < longest) after(calm);
      else if (!timer) after(trickle);
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
