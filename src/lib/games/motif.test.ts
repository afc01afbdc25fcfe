import { expect, test } from 'vitest';
import { gridMotif } from './motif.ts';

test('a puzzle’s grid is always drawn the same, and most puzzles differ', () => {
  expect(gridMotif(12)).toEqual(gridMotif(12));
  const drawn = new Set(Array.from({ length: 12 }, (_, id) => JSON.stringify(gridMotif(id))));
  expect(drawn.size).toBeGreaterThan(9);
});

test('every puzzle’s grid has rotational symmetry and mostly white squares', () => {
  for (let id = 0; id < 200; id += 1) {
    const grid = gridMotif(id);
    const turned = grid.map((row) => row.toReversed()).toReversed();
    expect(turned).toEqual(grid);
    const black = grid.flat().filter(Boolean).length;
    expect(black).toBeGreaterThanOrEqual(8);
    expect(black).toBeLessThan(27);
  }
});
