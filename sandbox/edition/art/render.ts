/** Illustrations of the demo edition: drawn from shapes in few inks, printed as JPEG with the grain of newsprint. */
import sharp from 'sharp';
import { fills, height, type Palette, type Scene, seededRandom, width } from './primitives.ts';
import { cityScenes } from './scenes-city.ts';
import { landScenes } from './scenes-land.ts';
import { thingScenes } from './scenes-things.ts';

const scenes: Readonly<Record<string, Scene>> = { ...cityScenes, ...landScenes, ...thingScenes };

/** Names that a story's `motif` may have. */
export const motifs: readonly string[] = Object.keys(scenes);

/** Sets of inks; each story draws one by its seed. */
export const palettes: readonly Palette[] = [
  { paper: '#f3ead6', light: '#e3cfa2', mid: '#b9824a', dark: '#3f4a4f', ink: '#1d242b', accent: '#d99a2b' },
  { paper: '#edefe9', light: '#b9cbd0', mid: '#5f8799', dark: '#2c4a5e', ink: '#14232f', accent: '#e0a034' },
  { paper: '#f0efdf', light: '#c3cda4', mid: '#7d9a6a', dark: '#38563f', ink: '#17271f', accent: '#dba63a' },
  { paper: '#f6e9df', light: '#e6bba0', mid: '#c0593f', dark: '#57302f', ink: '#251618', accent: '#e6aa3c' },
  { paper: '#f2e6de', light: '#d9b3ac', mid: '#99687b', dark: '#453655', ink: '#1d1930', accent: '#eab656' },
  { paper: '#efede6', light: '#cfc8b8', mid: '#8c8577', dark: '#45433f', ink: '#1b1a18', accent: '#c9972b' },
  { paper: '#f4efdd', light: '#9fc4bd', mid: '#3f8f8b', dark: '#1f4f57', ink: '#10292f', accent: '#e2803a' },
];

export interface ArtOptions {
  readonly motif: string;
  /** A value of this story alone, such as its slug. */
  readonly seed: string;
  /** Pixels; 1600 by 900 unless given. Another shape is cut from the middle. */
  readonly width?: number;
  readonly height?: number;
  readonly palette?: Palette;
}

/** The illustration as SVG, without grain. @throws RangeError for an unknown motif, naming the known ones */
export function drawArt(options: ArtOptions): string {
  const scene = scenes[options.motif];
  if (!scene) throw new RangeError(`There is no motif "${options.motif}". Known: ${motifs.join(', ')}.`);
  const random = seededRandom(`${options.motif} ${options.seed}`);
  const palette = options.palette ?? random.pick(palettes);
  const inner = scene(palette, random);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${options.width ?? width}" height="${options.height ?? height}" preserveAspectRatio="xMidYMid slice">${fills(palette)}${inner}</svg>`;
}

let grain: Promise<Buffer> | undefined;

/** Faint noise that is laid over every plate; made once. */
const grainTile = (): Promise<Buffer> => {
  const size = 120;
  const random = seededRandom('newsprint');
  const pixels = Buffer.alloc(size * size * 4);
  for (let i = 0; i < pixels.length; i += 4) {
    const bright = random.chance(0.5) ? 255 : 0;
    pixels.fill(bright, i, i + 3);
    pixels[i + 3] = Math.floor(random.between(0, 26));
  }
  return sharp(pixels, { raw: { width: size, height: size, channels: 4 } }).png().toBuffer();
};

/** The illustration as JPEG, the same for the same options on every machine. */
export async function renderArt(options: ArtOptions): Promise<Buffer> {
  grain ??= grainTile();
  return sharp(Buffer.from(drawArt(options)))
    .flatten({ background: '#f9f9f5' })
    .composite([{ input: await grain, tile: true }])
    .jpeg({ quality: 84 })
    .toBuffer();
}
