/**
 * Writes the search index: one row of text for each story, with the numbers of its sections, in the order of publication. Callers pass
 * public text only; restricted text never gets here (content/store/access.server.ts).
 */
import type { Logger } from '../../lib/logging.ts';
import { bylineNames } from '../store/bylines.server.ts';
import type { ContentStore } from '../store/content-store.server.ts';
import { authorIdOf, factsOf } from '../store/rows.server.ts';
import { updateWordCounts } from './words.server.ts';

/** The text of a story that search covers. */
export interface StoryText {
  readonly title: string;
  readonly standfirst: string;
  readonly author: string;
  readonly body: string;
}

export interface IndexedStory extends StoryText {
  readonly id: number;
  /** First publication, UTC. */
  readonly date: string;
  /** Ids of category terms. */
  readonly terms: readonly number[];
}

/**
 * The word by which the index finds the stories of a section. It starts with a private-use character, which the index
 * treats as a letter and which no query contains: readers can’t type it.
 */
export const sectionWord = (term: number): string => `\ue000${term}`;

/** Number of keys for each minute; further stories of the same minute get keys of the next minutes. */
const keysPerMinute = 64;
/** The earliest date that keys distinguish. */
const earliest = Date.UTC(1800, 0, 1);

/** The first key of an instant's minute. @param instant UTC, ISO 8601 */
export const keyOf = (instant: string): number =>
  Math.max(0, Math.floor((Date.parse(instant) - earliest) / 60_000)) * keysPerMinute;

/** Keys rise with the date, so that the newest matches come first and a range of dates is a range of keys. */
function freeKey(store: ContentStore, id: number, date: string): number {
  const first = keyOf(date);
  const taken = store.prepare('SELECT 1 FROM search_keys WHERE key = ?');
  // A migrated archive may have thousands of stories in the same minute, so the range grows quickly.
  for (let span = keysPerMinute; ; span *= 4) {
    for (const seed of [1, 40_503, 2_654_435_761]) {
      const key = first + ((Math.imul(id, seed) >>> 0) % span);
      if (!taken.get(key)) return key;
    }
  }
}

const revisions = new WeakMap<ContentStore, number>();

/** Changes with every write, so that cached results can be recognized as outdated. */
export const indexRevision = (store: ContentStore): string => `${store.generation}:${revisions.get(store) ?? 0}`;

const markChanged = (store: ContentStore): void => void revisions.set(store, (revisions.get(store) ?? 0) + 1);

const columns = 'title, standfirst, author, body';

function storedText(store: ContentStore, key: number): StoryText | null {
  const row = store.prepare(`SELECT ${columns} FROM search WHERE rowid = ?`).get(key);
  if (!row) return null;
  const { title, standfirst, author, body } = row;
  return { title: String(title), standfirst: String(standfirst), author: String(author), body: String(body) };
}

const textsOf = ({ title, standfirst, author, body }: StoryText): string[] => [title, standfirst, author, body];

function storedKey(store: ContentStore, id: number): number | null {
  const row = store.prepare('SELECT key FROM search_keys WHERE id = ?').get(id);
  return row ? Number(row.key) : null;
}

/** Adds a story to the index, or replaces it there. */
export function indexStory(store: ContentStore, story: IndexedStory): void {
  const old = storedKey(store, story.id);
  const before = old === null ? null : storedText(store, old);
  let key = old;
  if (old !== null) store.prepare('DELETE FROM search WHERE rowid = ?').run(old);
  const first = keyOf(story.date);
  if (old === null || old < first || old >= first + keysPerMinute) {
    store.prepare('DELETE FROM search_keys WHERE id = ?').run(story.id);
    key = freeKey(store, story.id, story.date);
    store.prepare('INSERT INTO search_keys VALUES (?, ?)').run(story.id, key);
  }
  store
    .prepare(`INSERT INTO search (rowid, ${columns}, facets) VALUES (?, ?, ?, ?, ?, ?)`)
    .run(key, ...textsOf(story), [...new Set(story.terms)].map(sectionWord).join(' '));
  updateWordCounts(store, before && textsOf(before), textsOf(story));
  markChanged(store);
}

/** Removes a story from the index. */
export function unindexStory(store: ContentStore, id: number): void {
  const key = storedKey(store, id);
  if (key === null) return;
  const before = storedText(store, key);
  store.prepare('DELETE FROM search WHERE rowid = ?').run(key);
  store.prepare('DELETE FROM search_keys WHERE id = ?').run(id);
  updateWordCounts(store, before && textsOf(before), null);
  markChanged(store);
}

/** Changes some of a story's text; does nothing for a story that isn't in the index. */
export function updateStoryText(store: ContentStore, id: number, part: Partial<StoryText>): void {
  const key = storedKey(store, id);
  const before = key === null ? null : storedText(store, key);
  if (key === null || !before) return;
  const after = { ...before, ...part };
  store
    .prepare('UPDATE search SET title = ?, standfirst = ?, author = ?, body = ? WHERE rowid = ?')
    .run(...textsOf(after), key);
  updateWordCounts(store, textsOf(before), textsOf(after));
  markChanged(store);
}

// Updates the search index with an author's new name, in the background: each of the author's stories has to be indexed again, and an
// editor who renames an author with a thousand stories doesn't wait for that. The transaction that stores the new name also stores the
// remaining work, so that it survives a restart.

const prefix = 'reindex:';

/** Records that an author's stories have to be indexed again; part of the transaction that changes the name. */
export function markForReindex(store: ContentStore, authorId: number): void {
  const hasStories = store
    .prepare('SELECT 1 FROM list_counts WHERE list = ? AND n > 0')
    .get(`articles:author:${authorId}`);
  if (hasStories) store.setMeta(`${prefix}${authorId}`, '0');
}

/**
 * Indexes some stories again.
 *
 * @param most number of stories in one call
 * @returns whether there may be more
 */
export function reindexSome(store: ContentStore, most = 4): boolean {
  return store.transaction(() => {
    const note = store
      .prepare("SELECT key, value FROM meta WHERE key >= 'reindex:' AND key < 'reindex;' LIMIT 1")
      .get();
    if (!note) return false;
    const author = Number(String(note.key).slice(prefix.length));
    const stories = store
      .prepare(
        `SELECT d.id, d.author_id, d.facts FROM listing l JOIN documents d ON d.id = l.id
        WHERE l.list = ? AND l.id > ? ORDER BY l.id LIMIT ?`,
      )
      .all(`articles:author:${author}`, Number(note.value), most);
    for (const row of stories) {
      const author = bylineNames(store, { authorId: authorIdOf(row), facts: factsOf(row) });
      updateStoryText(store, Number(row.id), { author });
    }
    if (stories.length < most) store.prepare('DELETE FROM meta WHERE key = ?').run(String(note.key));
    else store.setMeta(String(note.key), String(stories.at(-1)?.id));
    return true;
  });
}

/** Pages of the index that one step of {@link mergeSome} writes: half a millisecond's work. */
const mergePages = 16;

/**
 * Joins some pieces of the index: a search looks for its words in each. FTS5 would do it within the transactions that write stories, of
 * which one in a hundred would then take twenty milliseconds.
 *
 * @returns whether there may be more
 */
export function mergeSome(store: ContentStore): boolean {
  const written = (): number => Number(store.prepare('SELECT total_changes() AS n').get()?.n);
  const before = written();
  store.prepare(`INSERT INTO search (search, rank) VALUES ('merge', ${mergePages})`).run();
  // FTS5 counts one change for the statement itself.
  return written() - before > 1;
}

/** Background work on the index, which waits while editors make changes. */
export interface IndexWork {
  /** Call it after a change: the work continues once there has been no change for a moment. */
  postpone(): void;
  stop(): void;
}

/** Milliseconds between two steps: readers' requests come first. */
const pauseMs = 15;
/** Longest time for which changes can postpone the work; after it, the work continues with longer pauses. */
const longestPostponementMs = 300_000;
const longPauseMs = 1000;

/**
 * @param doSome does a part of the work and returns whether there may be more
 * @param quietMs milliseconds without a change before the work continues: editors' changes come first, too
 */
export function createIndexWork(log: Logger, doSome: () => boolean, quietMs: number): IndexWork {
  let timer: NodeJS.Timeout | undefined;
  let postponedSince: number | undefined;
  let lastChange = Number.NEGATIVE_INFINITY;
  let stopped = false;

  function step(): void {
    timer = undefined;
    try {
      if (doSome()) schedule(performance.now() - lastChange >= quietMs ? pauseMs : longPauseMs);
      else postponedSince = undefined;
    } catch (error) {
      // Nothing is lost: the work continues after the next change.
      log.error({ err: error }, "content: the search index couldn't be updated in the background");
    }
  }

  function schedule(ms: number): void {
    if (stopped) return;
    clearTimeout(timer);
    timer = setTimeout(step, ms);
    timer.unref();
  }

  return {
    postpone() {
      lastChange = performance.now();
      postponedSince ??= lastChange;
      if (lastChange - postponedSince < longestPostponementMs) schedule(quietMs);
      else if (!timer) schedule(longPauseMs);
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
