import { describe, expect, it } from 'vitest';
import { snippetOf, snippetParts } from './text.ts';

describe('snippetParts', () => {
  it('separates matches from the text around them', () => {
    expect(snippetParts('of the \u0001bridge\u0002 and the \u0001bridges\u0002')).toEqual([
      { text: 'of the ', match: false },
      { text: 'bridge', match: true },
      { text: ' and the ', match: false },
      { text: 'bridges', match: true },
    ]);
  });

  it('accepts an empty snippet and unpaired marks', () => {
    expect(snippetParts('')).toEqual([]);
    expect(snippetParts('\u0002a\u0001b')).toEqual([
      { text: 'a', match: false },
      { text: 'b', match: true },
    ]);
  });
});

describe('snippetOf', () => {
  const hit = { title: 'Harbor Pilots Win', excerpt: 'An arbitrator rules.' };

  it('is the excerpt if only the headline matched', () => {
    expect(snippetOf({ ...hit, snippet: '\u0001Harbor\u0002 Pilots Win' })).toBe('An arbitrator rules.');
    expect(snippetOf({ ...hit, snippet: '' })).toBe('An arbitrator rules.');
  });

  it('is the text around the match otherwise', () => {
    expect(snippetOf({ ...hit, snippet: '…the \u0001harbor\u0002…' })).toBe('…the \u0001harbor\u0002…');
  });
});
