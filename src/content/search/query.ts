/** From what a reader typed to queries that FTS5 accepts, whatever was typed. */

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
