/**
 * The words of the search index, with the number of stories that have them: they correct mistyped words and show which words are too
 * common to narrow a search. They are stored with the index and come from the same text, so they contain no restricted words.
 */
import type { ContentStore } from '../store/content-store.server.ts';

/** Most letters of a stored word; longer ones are addresses and the like. */
const longest = 24;

/** Shortest words that are corrected: with one mistake, and with two. */
const oneSlip = 4;
const twoSlips = 8;

/** Most words that may replace a mistyped one. */
const mostInstead = 3;

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
      if (word.length <= longest) words.add(word);
    }
  }
  return words;
}

/** Updates the counts for a story whose text changed from `before` to `after`; `null`: the story is new or removed. */
export function countWords(
  store: ContentStore,
  before: readonly string[] | null,
  after: readonly string[] | null,
): void {
  if (before && after?.every((text, at) => text === before[at])) return;
  // The body is by far the longest text and often stays the same: it is taken apart once.
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

interface Known {
  readonly word: string;
  readonly docs: number;
}

const known = (row: Record<string, unknown>): Known => ({ word: String(row.word), docs: Number(row.docs) });

/** How many stories have a word, exactly as typed. */
export const docsOf = (store: Pick<ContentStore, 'prepare'>, word: string): number =>
  Number(store.prepare('SELECT docs FROM words WHERE word = ?').get(foldWord(word))?.docs ?? 0);

/**
 * Words of the archive that a mistyped one may have meant, the most frequent first: words one mistake away (a letter wrong, missing,
 * added, or two swapped), and for long words, if there are none, two mistakes away. No words if the typed word is as frequent itself.
 */
export function meantBy(store: Pick<ContentStore, 'prepare'>, typed: string): string[] {
  const word = foldWord(typed);
  if (word.length < oneSlip || word.length > longest || !/^\p{L}+$/u.test(word)) return [];
  const own = docsOf(store, word);
  const better = ({ docs }: Known): boolean => docs > own * 5;
  const near = store
    .prepare('SELECT w.word, w.docs FROM json_each(?) e CROSS JOIN words w ON w.word = e.value')
    .all(JSON.stringify(oneEditAway(word)))
    .map(known);
  const found = near.filter(better);
  if (found.length > 0 || word.length < twoSlips) return mostUsual(found);
  // Candidates share the first two letters, which readers rarely mistype, so that the query reads few words.
  const start = word.slice(0, 2);
  const far = store
    .prepare('SELECT word, docs FROM words WHERE word >= ? AND word < ? AND length(word) BETWEEN ? AND ?')
    .all(start, `${start}\u{10ffff}`, word.length - 2, word.length + 2)
    .map(known);
  return mostUsual(far.filter((each) => better(each) && each.word !== word && editDistance(word, each.word, 2) <= 2));
}

const mostUsual = (found: readonly Known[]): string[] => {
  const sorted = [...found].sort((a, b) => b.docs - a.docs);
  const most = sorted[0]?.docs ?? 0;
  // A rare word is unlikely to be what the reader meant if a frequent one fits.
  return sorted
    .filter(({ docs }) => docs * 20 >= most)
    .slice(0, mostInstead)
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

/** The number of mistakes between two words; two swapped letters are one. Counting stops above `most`. */
function editDistance(one: string, other: string, most: number): number {
  const [a, b] = [[...one], [...other]];
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, (before[j - 2] ?? 0) + 1);
      row.push(cost);
      least = Math.min(least, cost);
    }
    if (least > most) return most + 1;
    before = last;
    last = row;
  }
  return last[b.length] ?? 0;
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
  readonly open: boolean;
}

/** Keyboards of phones write these in place of straight ones. */
const curlyQuotes = /[\u201c-\u201f\u00ab\u00bb]/gu;

/** Shorter prefixes match too many words. */
const shortestBeginning = 3;

/**
 * All words must occur, and `"quoted words"` as a phrase. FTS5's operators have no effect.
 *
 * @returns `null` when no words remain
 */
export function readQuery(text: string): Query | null {
  const terms: Term[] = [];
  const pattern = /"([^"]*)"|([^\s"]+)/gu;
  let quoted = true;
  let left = maxWords;
  const plain = text.toWellFormed().normalize('NFC').slice(0, 500).replace(curlyQuotes, '"');
  for (const found of plain.matchAll(pattern)) {
    const words = (found[1] ?? found[2] ?? '').match(/[\p{L}\p{N}\p{M}]+/gu)?.slice(0, left);
    if (!words) continue;
    // A word with punctuation inside ("O'Brien", "long-term") is a phrase of its parts, because the index splits it.
    quoted = found[1] !== undefined;
    terms.push({ words, plain: !quoted && words.length === 1 });
    left -= words.length;
    if (terms.length === maxTerms || left === 0) break;
  }
  const last = terms.at(-1);
  if (!last) return null;
  return { terms, open: !quoted && last.words.join(' ').length >= shortestBeginning };
}

/** The query without some of its terms; without its last term, it no longer ends in a prefix. */
export function without({ terms, open }: Query, left: ReadonlySet<number>): Query {
  return { terms: terms.filter((_, index) => !left.has(index)), open: open && !left.has(terms.length - 1) };
}

export interface MatchOptions {
  /** Matches the last word as a prefix; only for a query that is `open`. */
  readonly beginning?: boolean;
  /** Words that may replace a term, by the term's number. */
  readonly instead?: ReadonlyMap<number, readonly string[]>;
}

const quote = (words: readonly string[]): string => `"${words.join(' ')}"`;

/** The query in FTS5's syntax. Every word is quoted, so that none is parsed as an operator. */
export function toMatch({ terms, open }: Query, { beginning = false, instead }: MatchOptions = {}): string {
  const parts = terms.map(({ words }, index) => {
    const begins = beginning && open && index === terms.length - 1;
    const own = begins ? `${quote(words)} *` : quote(words);
    const others = instead?.get(index) ?? [];
    return others.length === 0 ? own : `(${[own, ...others.map((word) => quote([word]))].join(' OR ')})`;
  });
  return parts.join(' AND ');
}
