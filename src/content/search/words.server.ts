/**
 * The words that the search index holds, with the number of stories that have them: what a mistyped word may have meant, and which
 * words are too common to tell stories apart. Kept with the index and of the same text, so that a word from behind a wall is not
 * among them.
 */
import type { ContentStore } from '../store/content-store.server.ts';

/** Letters of the longest words that are kept; longer ones are addresses and the like. */
const longest = 24;

/** Letters from which a word is taken for mistyped: one slip is forgiven, in a long word two. */
const oneSlip = 4;
const twoSlips = 8;

/** Words that may stand for a mistyped one. */
const mostInstead = 3;

/** A word as it is compared: small letters without accents. */
export const foldWord = (word: string): string =>
  word
    .normalize('NFD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase();

/** The different words of texts. */
export function wordsOf(texts: readonly string[]): Set<string> {
  const words = new Set<string>();
  for (const text of texts) {
    for (const [word] of foldWord(text).matchAll(/[\p{L}\p{N}]+/gu)) {
      if (word.length <= longest) words.add(word);
    }
  }
  return words;
}

/** Brings the counts in line with a story whose text was `before` and is `after`; `null`: it was or is not there. */
export function countWords(
  store: ContentStore,
  before: readonly string[] | null,
  after: readonly string[] | null,
): void {
  const old = before ? wordsOf(before) : new Set<string>();
  const now = after ? wordsOf(after) : new Set<string>();
  const add = store.prepare('INSERT INTO words VALUES (?, 1) ON CONFLICT (word) DO UPDATE SET docs = docs + 1');
  for (const word of now) if (!old.has(word)) add.run(word);
  const less = store.prepare('UPDATE words SET docs = docs - 1 WHERE word = ?');
  const drop = store.prepare('DELETE FROM words WHERE word = ? AND docs <= 0');
  for (const word of old) {
    if (now.has(word)) continue;
    less.run(word);
    drop.run(word);
  }
}

interface Known {
  readonly word: string;
  readonly docs: number;
}

const known = (row: Record<string, unknown>): Known => ({ word: String(row.word), docs: Number(row.docs) });

/** How many stories have a word, as it is typed and in no other form. */
export const docsOf = (store: Pick<ContentStore, 'prepare'>, word: string): number =>
  Number(store.prepare('SELECT docs FROM words WHERE word = ?').get(foldWord(word))?.docs ?? 0);

/**
 * Words of the paper that a mistyped one may have meant, the most usual first: those one slip away (a letter wrong, missing, too
 * many, or two in the wrong order), for long words without any two slips away. None where the word itself is as usual.
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
  // Hardly anybody mistypes the first two letters and one more; it keeps the walk short.
  const start = word.slice(0, 2);
  const far = store
    .prepare('SELECT word, docs FROM words WHERE word >= ? AND word < ? AND length(word) BETWEEN ? AND ?')
    .all(start, `${start}\u{10ffff}`, word.length - 2, word.length + 2)
    .map(known);
  return mostUsual(far.filter((each) => better(each) && each.word !== word && slips(word, each.word, 2) <= 2));
}

const mostUsual = (found: readonly Known[]): string[] => {
  const sorted = [...found].sort((a, b) => b.docs - a.docs);
  const most = sorted[0]?.docs ?? 0;
  // Beside a usual word a rare one is not what was meant.
  return sorted
    .filter(({ docs }) => docs * 20 >= most)
    .slice(0, mostInstead)
    .map(({ word }) => word);
};

const alphabet = [...'abcdefghijklmnopqrstuvwxyz'];

/** Every text one slip away. Letters beyond a to z are tried as far as the word itself has them. */
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

/** Slips between two words, neighbours in the wrong order being one; more than `most` are not counted to the end. */
export function slips(one: string, other: string, most: number): number {
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

// Turns what a reader typed into queries that FTS5 accepts.

const maxTerms = 12;
/** Words of all terms together: a quoted passage is one term, however long. */
const maxWords = 12;

/** What has to occur: one word, or several in a row. */
export interface Term {
  readonly words: readonly string[];
  /** Whether it was typed as a single word, without quotes and with nothing inside that parts it. */
  readonly plain: boolean;
}

export interface Query {
  readonly terms: readonly Term[];
  /** Whether the last word may be the beginning of one: it is no phrase, and long enough to mean something. */
  readonly open: boolean;
}

/** Shorter beginnings fit too many words to mean anything. */
const shortestBeginning = 3;

/**
 * Words must all occur, `"quoted words"` as a phrase. Operators of FTS5 have no meaning. Returns `null` when nothing is left to
 * look for.
 */
export function readQuery(text: string): Query | null {
  const terms: Term[] = [];
  const pattern = /"([^"]*)"|([^\s"]+)/gu;
  let quoted = true;
  let left = maxWords;
  for (const found of text.toWellFormed().normalize('NFC').slice(0, 500).matchAll(pattern)) {
    const words = (found[1] ?? found[2] ?? '').match(/[\p{L}\p{N}\p{M}]+/gu)?.slice(0, left);
    if (!words) continue;
    // A word with punctuation inside ("O'Brien", "long-term") is a phrase of its parts, as the index holds it.
    quoted = found[1] !== undefined;
    terms.push({ words, plain: !quoted && words.length === 1 });
    left -= words.length;
    if (terms.length === maxTerms || left === 0) break;
  }
  const last = terms.at(-1);
  if (!last) return null;
  return { terms, open: !quoted && last.words.join(' ').length >= shortestBeginning };
}

/** The query without some of its terms; what is left is whole words when the last one goes. */
export function without({ terms, open }: Query, left: ReadonlySet<number>): Query {
  return { terms: terms.filter((_, index) => !left.has(index)), open: open && !left.has(terms.length - 1) };
}

export interface MatchOptions {
  /** Takes the last word as the beginning of one; only for a query that is `open`. */
  readonly beginning?: boolean;
  /** Words that may stand in the place of a term, by its number. */
  readonly instead?: ReadonlyMap<number, readonly string[]>;
}

const quote = (words: readonly string[]): string => `"${words.join(' ')}"`;

/** The query in the language of FTS5. Every word is quoted, so that none of it is taken for an operator. */
export function toMatch({ terms, open }: Query, { beginning = false, instead }: MatchOptions = {}): string {
  const parts = terms.map(({ words }, index) => {
    const begins = beginning && open && index === terms.length - 1;
    const own = begins ? `${quote(words)} *` : quote(words);
    const others = instead?.get(index) ?? [];
    return others.length === 0 ? own : `(${[own, ...others.map((word) => quote([word]))].join(' OR ')})`;
  });
  return parts.join(' AND ');
}
