/**
 * The words of the search index, with the number of stories that have them: they correct mistyped words and show which words are too
 * common to narrow a search. They are stored with the index and come from the same text, so they contain no restricted words.
 */
import { editDistance } from '../../lib/edit-distance.ts';
import type { ContentStore } from '../store/content-store.server.ts';

/** Most letters of a stored word; longer ones are addresses and the like. */
const longestWord = 24;

/** Shortest words that are corrected: with one mistake, and with two. */
const shortestForOneMistake = 4;
const shortestForTwoMistakes = 8;

/** Most words that may replace a mistyped one. */
const mostSuggestions = 3;

/** A word as it is compared: lower-case letters without accents. */
const foldWord = (word: string): string =>
  word
    .normalize('NFD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase();

/** The distinct words of texts. */
function wordsOf(texts: readonly string[]): Set<string> {
  const words = new Set<string>();
  for (const text of texts) {
    for (const [word] of foldWord(text).matchAll(/[\p{L}\p{N}]+/gu)) {
      if (word.length <= longestWord) words.add(word);
    }
  }
  return words;
}

/** Updates the counts for a story whose text changed from `before` to `after`; `null`: the story is new or removed. */
export function updateWordCounts(
  store: ContentStore,
  before: readonly string[] | null,
  after: readonly string[] | null,
): void {
  if (before && after?.every((text, at) => text === before[at])) return;
  // The body is by far the longest text and often stays the same: it is split into words once.
  const shared = wordsOf(after?.filter((text, at) => text === before?.[at]) ?? []);
  const changed = (texts: readonly string[] | null, others: readonly string[] | null): Set<string> =>
    wordsOf(texts?.filter((text, at) => text !== others?.[at]) ?? []);
  const old = changed(before, after);
  const now = changed(after, before);
  const add = store.prepare('INSERT INTO words VALUES (?, 1) ON CONFLICT (word) DO UPDATE SET docs = docs + 1');
  for (const word of now) if (!old.has(word) && !shared.has(word)) add.run(word);
  const less = store.prepare('UPDATE words SET docs = docs - 1 WHERE word = ?');
  const drop = store.prepare('DELETE FROM words WHERE word = ? AND docs <= 0');
  for (const word of old) {
    if (now.has(word) || shared.has(word)) continue;
    less.run(word);
    drop.run(word);
  }
}

interface IndexedWord {
  readonly word: string;
  readonly docs: number;
}

const indexedWord = (row: Record<string, unknown>): IndexedWord => ({ word: String(row.word), docs: Number(row.docs) });

/** How many stories have a word, exactly as typed. */
export const storiesWith = (store: Pick<ContentStore, 'prepare'>, word: string): number =>
  Number(store.prepare('SELECT docs FROM words WHERE word = ?').get(foldWord(word))?.docs ?? 0);

/**
 * Words of the archive that a mistyped one may have meant, the most frequent first: words one mistake away (a letter wrong, missing,
 * added, or two swapped), and for long words, if there are none, two mistakes away. No words if the typed word is as frequent itself.
 */
export function spellingSuggestions(store: Pick<ContentStore, 'prepare'>, typed: string): string[] {
  const word = foldWord(typed);
  if (word.length < shortestForOneMistake || word.length > longestWord || !/^\p{L}+$/u.test(word)) return [];
  const own = storiesWith(store, word);
  const isMoreFrequent = ({ docs }: IndexedWord): boolean => docs > own * 5;
  const near = store
    .prepare('SELECT w.word, w.docs FROM json_each(?) e CROSS JOIN words w ON w.word = e.value')
    .all(JSON.stringify(oneEditAway(word)))
    .map(indexedWord);
  const found = near.filter(isMoreFrequent);
  if (found.length > 0 || word.length < shortestForTwoMistakes) return mostFrequent(found);
  // Candidates share the first two letters, which readers rarely mistype, so that the query reads few words.
  const start = word.slice(0, 2);
  const far = store
    .prepare('SELECT word, docs FROM words WHERE word >= ? AND word < ? AND length(word) BETWEEN ? AND ?')
    .all(start, `${start}\u{10ffff}`, word.length - 2, word.length + 2)
    .map(indexedWord);
  return mostFrequent(
    far.filter((each) => isMoreFrequent(each) && each.word !== word && editDistance(word, each.word, 2) <= 2),
  );
}

const mostFrequent = (found: readonly IndexedWord[]): string[] => {
  const sorted = [...found].sort((a, b) => b.docs - a.docs);
  const most = sorted[0]?.docs ?? 0;
  // A rare word is unlikely to be what the reader meant if a frequent one fits.
  return sorted
    .filter(({ docs }) => docs * 20 >= most)
    .slice(0, mostSuggestions)
    .map(({ word }) => word);
};

const alphabet = [...'abcdefghijklmnopqrstuvwxyz'];

/** Every text one mistake away. Letters beyond a to z are tried if the word itself has them. */
function oneEditAway(word: string): string[] {
  const letters = [...word];
  const choice = [...new Set([...alphabet, ...letters])];
  const found = new Set<string>();
  const put = (start: number, between: string, end: number): void => {
    found.add(letters.slice(0, start).join('') + between + letters.slice(end).join(''));
  };
  for (let at = 0; at <= letters.length; at++) {
    for (const letter of choice) put(at, letter, at);
    if (at === letters.length) break;
    put(at, '', at + 1);
    for (const letter of choice) put(at, letter, at + 1);
    if (at + 1 < letters.length) put(at, `${letters[at + 1]}${letters[at]}`, at + 2);
  }
  found.delete(word);
  return [...found];
}

// Parses what a reader typed into queries that FTS5 accepts.

const maxTerms = 12;
/** Most words of all terms together: a quoted phrase is one term of any length. */
const maxWords = 12;

/** A term that must occur: one word, or several in a row. */
export interface Term {
  readonly words: readonly string[];
  /** Whether it was typed as a single word, without quotes and without punctuation inside. */
  readonly plain: boolean;
}

export interface Query {
  readonly terms: readonly Term[];
  /** Whether the last word may be a prefix: it isn't quoted, and it is long enough. */
  readonly lastMayBePrefix: boolean;
}

/** Quotation marks that phone keyboards type in place of straight ones. */
const curlyQuotes = /[\u201c-\u201f\u00ab\u00bb]/gu;

/** Shorter prefixes match too many words. */
const shortestPrefix = 3;

/**
 * All words must occur, and `"quoted words"` as a phrase. FTS5's operators have no effect.
 *
 * @returns `null` when no words remain
 */
export function readQuery(text: string): Query | null {
  const terms: Term[] = [];
  const pattern = /"([^"]*)"|([^\s"]+)/gu;
  let quoted = true;
  let wordsLeft = maxWords;
  const plain = text.toWellFormed().normalize('NFC').slice(0, 500).replace(curlyQuotes, '"');
  for (const found of plain.matchAll(pattern)) {
    const words = (found[1] ?? found[2] ?? '').match(/[\p{L}\p{N}\p{M}]+/gu)?.slice(0, wordsLeft);
    if (!words) continue;
    // A word with punctuation inside ("O'Brien", "long-term") is a phrase of its parts, because the index splits it.
    quoted = found[1] !== undefined;
    terms.push({ words, plain: !quoted && words.length === 1 });
    wordsLeft -= words.length;
    if (terms.length === maxTerms || wordsLeft === 0) break;
  }
  const last = terms.at(-1);
  if (!last) return null;
  return { terms, lastMayBePrefix: !quoted && last.words.join(' ').length >= shortestPrefix };
}

/** The query without some of its terms; without its last term, it no longer ends in a prefix. */
export function withoutTerms({ terms, lastMayBePrefix }: Query, omitted: ReadonlySet<number>): Query {
  return {
    terms: terms.filter((_, index) => !omitted.has(index)),
    lastMayBePrefix: lastMayBePrefix && !omitted.has(terms.length - 1),
  };
}

export interface MatchOptions {
  /** Matches the last word as a prefix; only where `lastMayBePrefix` allows it. */
  readonly lastAsPrefix?: boolean;
  /** Words that may replace a term, by the term's number. */
  readonly alternatives?: ReadonlyMap<number, readonly string[]>;
}

const quote = (words: readonly string[]): string => `"${words.join(' ')}"`;

/** The query in FTS5's syntax. Every word is quoted, so that none is parsed as an operator. */
export function toMatch(
  { terms, lastMayBePrefix }: Query,
  { lastAsPrefix = false, alternatives }: MatchOptions = {},
): string {
  const parts = terms.map(({ words }, index) => {
    const isPrefix = lastAsPrefix && lastMayBePrefix && index === terms.length - 1;
    const own = isPrefix ? `${quote(words)} *` : quote(words);
    const others = alternatives?.get(index) ?? [];
    return others.length === 0 ? own : `(${[own, ...others.map((word) => quote([word]))].join(' OR ')})`;
  });
  return parts.join(' AND ');
}
