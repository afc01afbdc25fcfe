/** Text around a match, as the search index gives it: the matches stand between U+0001 and U+0002. Pure. */

export interface SnippetPart {
  readonly text: string;
  readonly match: boolean;
}

/**
 * The text to show below a headline that was found. Where only the headline itself matched, the index gives it back as the
 * snippet, and nobody needs to read it twice.
 */
export function snippetOf(hit: { readonly title: string; readonly snippet: string; readonly excerpt: string }): string {
  const words = snippetParts(hit.snippet)
    .map((part) => part.text)
    .join('');
  return words === '' || words === hit.title ? hit.excerpt : hit.snippet;
}

/** Splits a snippet into what matched and what stands around it; empty parts and stray marks are left out. */
export function snippetParts(snippet: string): SnippetPart[] {
  const parts: SnippetPart[] = [];
  let match = false;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the index marks matches with these two characters
  for (const piece of snippet.split(/([\u0001\u0002])/u)) {
    if (piece === '\u0001') match = true;
    else if (piece === '\u0002') match = false;
    else if (piece !== '') parts.push({ text: piece, match });
  }
  return parts;
}
