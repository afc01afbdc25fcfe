/** From what a reader typed to queries that FTS5 accepts, whatever was typed. */

const maxTerms = 12;

export interface Match {
  /** Every word as it stands. */
  readonly exact: string;
  /** The same with the last word as the beginning of one, `null` when that makes no sense. */
  readonly beginning: string | null;
}

/**
 * Words must all occur, `"quoted words"` as a phrase. Operators of FTS5 have no meaning: every term is quoted. Returns
 * `null` when nothing is left to look for.
 */
export function toMatch(query: string): Match | null {
  const terms: string[] = [];
  const pattern = /"([^"]*)"|([^\s"]+)/gu;
  let last: 'word' | 'phrase' = 'phrase';
  for (const found of query.toWellFormed().normalize('NFC').slice(0, 500).matchAll(pattern)) {
    const words = (found[1] ?? found[2] ?? '').match(/[\p{L}\p{N}\p{M}]+/gu);
    if (!words) continue;
    // A word with punctuation inside ("O'Brien", "long-term") is a phrase of its parts, as the index holds it.
    terms.push(`"${words.join(' ')}"`);
    last = found[1] === undefined ? 'word' : 'phrase';
    if (terms.length === maxTerms) break;
  }
  const final = terms.at(-1);
  if (final === undefined) return null;
  const exact = terms.join(' AND ');
  // Shorter beginnings fit too many words to mean anything.
  return { exact, beginning: last === 'word' && final.length >= 5 ? `${exact} *` : null };
}
