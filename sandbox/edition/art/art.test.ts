import { expect, test } from 'vitest';
import { descriptions } from './descriptions.ts';
import { drawArt, motifs, palettes, renderArt } from './render.ts';

test('every motif can be described, and nothing else is', () => expect(Object.keys(descriptions).sort()).toEqual([...motifs].sort()));

test.each(motifs)('%s is drawn whole with any inks', (motif) => {
  for (const palette of palettes) {
    const svg = drawArt({ motif, seed: palette.accent, palette });
    expect(svg).not.toMatch(/NaN|undefined|Infinity/);
    expect(svg.match(/<g\b/g)?.length ?? 0).toBe(svg.match(/<\/g>/g)?.length ?? 0);
  }
});

test('one seed is one picture, another seed another', () => {
  expect(drawArt({ motif: 'harbor', seed: 'a' })).toBe(drawArt({ motif: 'harbor', seed: 'a' }));
  expect(drawArt({ motif: 'harbor', seed: 'a' })).not.toBe(drawArt({ motif: 'harbor', seed: 'b' }));
});

test('a plate is printed as JPEG, the same each time', async () => {
  const plate = await renderArt({ motif: 'portrait', seed: 'a', width: 320, height: 180 });
  expect(plate.subarray(0, 3)).toEqual(Buffer.from('ffd8ff', 'hex'));
  expect((await renderArt({ motif: 'portrait', seed: 'a', width: 320, height: 180 })).equals(plate)).toBe(true);
});

test('an unknown motif names the known ones', () => expect(() => drawArt({ motif: 'nothing', seed: 'a' })).toThrow(/Known: .*harbor/));
