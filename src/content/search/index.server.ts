/**
 * Writes of the search index: one row of words for each story, with the numbers of its sections beside them, in the order of
 * publication. What is given is public text only; what lies behind a wall never comes here (content/store/access.server.ts).
 */
import type { Logger } from '../../lib/logging.ts';
import type { ContentStore } from '../store/content-store.server.ts';
import { countWords } from './words.server.ts';

/** The words of a story by which it is found. */
export interface StoryText {
  readonly title: string;
  readonly standfirst: string;
  readonly author: string;
  readonly body: string;
}

export interface IndexedStory extends StoryText {
  readonly id: number;
  /** First published, UTC. */
  readonly date: string;
  /** Ids of category terms. */
  readonly terms: readonly number[];
}

/**
 * The word that stands for a section. It begins with a character of private use, which the index takes for a letter and which no
 * query holds: readers can’t type it.
 */
export const sectionWord = (term: number): string => `\ue000${term}`;

/** Keys a minute has; further stories of the same minute take those of the next ones. */
const perMinute = 64;
/** Nothing older is told apart. */
const beginning = Date.UTC(1800, 0, 1);

/** The first key of the minute of an instant. @param instant UTC, ISO 8601 */
export const keyOf = (instant: string): number =>
  Math.max(0, Math.floor((Date.parse(instant) - beginning) / 60_000)) * perMinute;

/** Keys rise with the date, so that the newest matches come first and a span of time is a span of keys. */
function freeKey(store: ContentStore, id: number, date: string): number {
  const first = keyOf(date);
  const taken = store.prepare('SELECT 1 FROM search_keys WHERE key = ?');
  // An archive that was moved may have thousands of stories of the same minute: the span grows quickly.
  for (let span = perMinute; ; span *= 4) {
    for (const seed of [1, 40_503, 2_654_435_761]) {
      const key = first + ((Math.imul(id, seed) >>> 0) % span);
      if (!taken.get(key)) return key;
    }
  }
}

const revisions = new WeakMap<ContentStore, number>();

/** Another number after every write, so that what was found before can be told from what would be found now. */
export const indexRevision = (store: ContentStore): string => `${store.generation}:${revisions.get(store) ?? 0}`;

const touched = (store: ContentStore): void => void revisions.set(store, (revisions.get(store) ?? 0) + 1);

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

/** Puts a story into the index, in the place of what was there of it. */
export function indexStory(store: ContentStore, story: IndexedStory): void {
  const old = storedKey(store, story.id);
  const before = old === null ? null : storedText(store, old);
  let key = old;
  if (old !== null) store.prepare('DELETE FROM search WHERE rowid = ?').run(old);
  const first = keyOf(story.date);
  if (old === null || old < first || old >= first + perMinute) {
    store.prepare('DELETE FROM search_keys WHERE id = ?').run(story.id);
    key = freeKey(store, story.id, story.date);
    store.prepare('INSERT INTO search_keys VALUES (?, ?)').run(story.id, key);
  }
  store
    .prepare(`INSERT INTO search (rowid, ${columns}, facets) VALUES (?, ?, ?, ?, ?, ?)`)
    .run(key, ...textsOf(story), [...new Set(story.terms)].map(sectionWord).join(' '));
  countWords(store, before && textsOf(before), textsOf(story));
  touched(store);
}

/** Takes a story out. */
export function unindexStory(store: ContentStore, id: number): void {
  const key = storedKey(store, id);
  if (key === null) return;
  const before = storedText(store, key);
  store.prepare('DELETE FROM search WHERE rowid = ?').run(key);
  store.prepare('DELETE FROM search_keys WHERE id = ?').run(id);
  countWords(store, before && textsOf(before), null);
  touched(store);
}

/** Changes some of a story's words; nothing happens to a story that is not in the index. */
export function rewordStory(store: ContentStore, id: number, part: Partial<StoryText>): void {
  const key = storedKey(store, id);
  const before = key === null ? null : storedText(store, key);
  if (key === null || !before) return;
  const after = { ...before, ...part };
  store
    .prepare('UPDATE search SET title = ?, standfirst = ?, author = ?, body = ? WHERE rowid = ?')
    .run(...textsOf(after), key);
  countWords(store, textsOf(before), textsOf(after));
  touched(store);
}

// Brings the search index in line with an author's new name, behind everything else: each of the author's stories has to be
// indexed anew, and an editor who renames an author with a thousand stories does not wait for that. The rest of the work is
// noted in the content store with the new name itself, so that it outlives the process.

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
