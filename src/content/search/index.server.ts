/**
 * Writes of the search index: one row of words for each story, with the numbers of its sections beside them, in the order of
 * publication. What is given is public text only; what lies behind a wall never comes here (content/store/access.server.ts).
 */
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
 * query holds: nobody can type it.
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
