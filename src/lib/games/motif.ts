/** The decorative grid on a crossword's card, always the same for the same puzzle. */

/** Cells along one side, odd. */
const size = 9;

/**
 * Black squares of a grid with the rotational symmetry of American crosswords, row by row.
 *
 * @param seed the puzzle's id
 */
export function gridMotif(seed: number): boolean[][] {
  const grid = Array.from({ length: size }, () => Array.from({ length: size }, () => false));
  const set = (row: number, column: number) => {
    const line = grid[row];
    const opposite = grid[size - 1 - row];
    if (line) line[column] = true;
    if (opposite) opposite[size - 1 - column] = true;
  };
  // A linear congruential generator, so that the same puzzle always gets the same grid.
  let state = (Math.imul(seed + 1, 2_654_435_761) ^ 0x9e37_79b9) >>> 0;
  const next = (bound: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
  const half = (size - 1) / 2;
  for (let row = 0; row < half; row += 1) {
    const column = next(size - 2) + 1;
    set(row, column);
    if (row % 2 === 0 && next(3) > 0) set(row, (column + half) % size);
  }
  if (next(2) === 0) set(half, half);
  return grid;
}
