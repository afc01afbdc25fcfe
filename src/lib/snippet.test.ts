import { describe, expect, it } from 'vitest';
import { snippetParts } from './snippet.ts';

describe('snippetParts', () => {
  it('tells matches from the text around them', () => {
    expect(snippetParts('of the \u0001bridge\u0002 and the \u0001bridges\u0002')).toEqual([
      { text: 'of the ', match: false },
      { text: 'bridge', match: true },
      { text: ' and the ', match: false },
      { text: 'bridges', match: true },
    ]);
  });

  it('bears an empty snippet and marks without a partner', () => {
    expect(snippetParts('')).toEqual([]);
    expect(snippetParts('\u0002a\u0001b')).toEqual([
      { text: 'a', match: false },
      { text: 'b', match: true },
    ]);
  });
});
