import { expect, test } from 'vitest';
import { descriptions } from './descriptions.ts';
import { drawArt, motifs, palettes, renderArt } from './render.ts';

test('every motif has a description, and every description a motif', () => expect(Object.keys(descriptions).sort()).toEqual([...motifs].sort()));

test.each(motifs)('%s is drawn as well-formed SVG in every palette', (motif) => {
  for (const palette of palettes) {
    const svg = drawArt({ motif, seed: palette.accent, palette });
    expect(svg).not.toMatch(/NaN|undefined|Infinity/);
    expect(svg.match(/<g\b/g)?.length ?? 0).toBe(svg.match(/<\/g>/g)?.length ?? 0);
  }
});

test('the same seed draws the same picture, another seed a different one', () => {
  expect(drawArt({ motif: 'harbor', seed: 'a' })).toBe(drawArt({ motif: 'harbor', seed: 'a' }));
  expect(drawArt({ motif: 'harbor', seed: 'a' })).not.toBe(drawArt({ motif: 'harbor', seed: 'b' }));
});

test('a picture is rendered to the same JPEG each time', async () => {
  const plate = await renderArt({ motif: 'portrait', seed: 'a', width: 320, height: 180 });
  expect(plate.subarray(0, 3)).toEqual(Buffer.from('ffd8ff', 'hex'));
  expect((await renderArt({ motif: 'portrait', seed: 'a', width: 320, height: 180 })).equals(plate)).toBe(true);
});

test('an unknown motif is refused with a list of the known ones', () => expect(() => drawArt({ motif: 'nothing', seed: 'a' })).toThrow(/Known: .*harbor/));
