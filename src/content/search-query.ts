/** From what a reader typed to a query that FTS5 accepts, whatever was typed. */

const maxTerms = 12;

/**
 * Words must all occur, `"quoted words"` as a phrase, and the last word may be the beginning of one (as somebody types).
 * Operators of FTS5 have no meaning: every term is quoted. Returns `null` when nothing is left to look for.
 */
export function toMatch(query: string): string | null {
  const terms: string[] = [];
  const pattern = /"([^"]*)"|([^\s"]+)/gu;
  let last: 'word' | 'phrase' = 'phrase';
  for (const found of query.normalize('NFC').slice(0, 500).matchAll(pattern)) {
    const words = (found[1] ?? found[2] ?? '').match(/[\p{L}\p{N}\p{M}]+/gu);
    if (!words) continue;
    // A word with punctuation inside ("O'Brien", "long-term") is a phrase of its parts, as the index holds it.
    terms.push(`"${words.join(' ')}"`);
    last = found[1] === undefined ? 'word' : 'phrase';
    if (terms.length === maxTerms) break;
  }
  if (terms.length === 0) return null;
  const typing = last === 'word' && /[\p{L}\p{N}\p{M}]$/u.test(query.trim()) && (terms.at(-1) ?? '').length > 3;
  return terms.join(' AND ') + (typing ? ' *' : '');
}
