/** Crosswords of the demo edition: their files, and where numbers and clues belong in a grid. */
import fs from 'node:fs';
import path from 'node:path';

export interface Puzzle {
  readonly slug: string;
  readonly title: string;
  /** Slug of an author of the edition. */
  readonly author: string;
  /** Hours before the import at which it was published. */
  readonly hours: number;
  /** Rows of letters; `#` is a black square. */
  readonly rows: readonly string[];
  /** A clue for every word of the grid. */
  readonly clues: Readonly<Record<string, string>>;
}

export interface Entry {
  readonly number: number;
  readonly clue: string;
  /** Indices of its squares, row by row from 0. */
  readonly cells: readonly number[];
}

/** Every puzzle of the edition, newest first. */
export const puzzles = (): Puzzle[] =>
  fs
    .readdirSync(import.meta.dirname)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(fs.readFileSync(path.join(import.meta.dirname, name), 'utf8')) as Puzzle)
    .sort((a, b) => a.hours - b.hours);

/**
 * Numbers a grid as crosswords do: row by row, each square where a word across or down begins.
 *
 * @throws Error naming the puzzle and the word when a clue is missing
 */
export function entries(puzzle: Puzzle): { across: Entry[]; down: Entry[] } {
  const width = puzzle.rows[0]?.length ?? 0;
  const letter = (row: number, column: number): string => puzzle.rows[row]?.[column] ?? '#';
  const across: Entry[] = [];
  const down: Entry[] = [];
  let number = 0;
  const read = (row: number, column: number, stepDown: number, stepAcross: number): Entry => {
    const cells: number[] = [];
    let word = '';
    for (let r = row, c = column; letter(r, c) !== '#'; r += stepDown, c += stepAcross) {
      cells.push(r * width + c);
      word += letter(r, c);
    }
    const clue = puzzle.clues[word];
    if (!clue) throw new Error(`The crossword ${puzzle.slug} has no clue for ${word}.`);
    return { number, clue, cells };
  };
  for (let row = 0; row < puzzle.rows.length; row += 1) {
    for (let column = 0; column < width; column += 1) {
      if (letter(row, column) === '#') continue;
      const startsAcross = letter(row, column - 1) === '#' && letter(row, column + 1) !== '#';
      const startsDown = letter(row - 1, column) === '#' && letter(row + 1, column) !== '#';
      if (startsAcross || startsDown) number += 1;
      if (startsAcross) across.push(read(row, column, 0, 1));
      if (startsDown) down.push(read(row, column, 1, 0));
    }
  }
  return { across, down };
}
