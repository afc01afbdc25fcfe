import { describe, expect, test } from 'vitest';
import { crosswordPage } from './page.ts';
import { entries, puzzles } from './puzzle.ts';

test('the edition has twelve crosswords', () => expect(puzzles()).toHaveLength(12));

describe.each(puzzles().map((puzzle) => [puzzle.slug, puzzle] as const))('%s', (_slug, puzzle) => {
  const { across, down } = entries(puzzle);
  test('every white square belongs to a word, and there are as many clues as words', () => {
    const covered = new Set([...across, ...down].flatMap((entry) => entry.cells));
    expect(covered.size).toBe(puzzle.rows.join('').replaceAll('#', '').length);
    expect(across.length + down.length).toBe(Object.keys(puzzle.clues).length);
  });
  test('the page has a field for every white square and no answer in its visible markup', () => {
    const page = crosswordPage(puzzle);
    expect(page.match(/data-cell=/g)).toHaveLength(puzzle.rows.join('').replaceAll('#', '').length);
    expect(page.split('<script')[0]).not.toContain(`>${Object.keys(puzzle.clues)[1]}<`);
  });
});
