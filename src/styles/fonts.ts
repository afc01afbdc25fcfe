/**
 * The four font families, self-hosted from their npm packages and ready for Astro's font pipeline.
 *
 * Newsreader is a variable font with an optical-size axis (132 kB roman, 147 kB italic). The paper sets it in headlines
 * only, so it is cut at build time to one display size, the weights in use and the Latin characters: 39 kB and 24 kB.
 * The other families are served as published; their licences (public/fonts) reserve their names for unmodified files.
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join, resolve } from 'node:path';
import { fontProviders } from 'astro/config';
import subsetFont from 'subset-font';

const require = createRequire(import.meta.url);

/** Characters of the headline faces: Basic Latin, Latin-1, and the punctuation and letters English copy borrows. */
const headlineCharacters = [
  ...range(0x20, 0x7e),
  ...range(0xa0, 0xff),
  ...'ıŁłŒœŠšŽžŸĀāĒēĪīŌōŪūĆćČčĐđĞğŃńŚśŞşŻżŹź',
  ...'‐‑–—‘’‚“”„†‡•…‰′″‹›⁄€™−',
].join('');

function range(from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, index) => String.fromCodePoint(from + index));
}

type Axes = Record<string, number | { min: number; max: number }>;

/**
 * Path of a cut of `source`, made unless it is there from an earlier build.
 *
 * @param directory where cuts are kept between builds
 */
async function cut(source: string, axes: Axes, directory: string): Promise<string> {
  const original = await readFile(source);
  const key = createHash('sha256').update(original).update(JSON.stringify(axes)).update(headlineCharacters);
  const name = `${basename(source, '.woff2')}-${key.digest('hex').slice(0, 12)}.woff2`;
  const target = join(resolve(directory), name);
  if (await stat(target).catch(() => null)) return target;
  const result = await subsetFont(original, headlineCharacters, { targetFormat: 'woff2', variationAxes: axes });
  await mkdir(directory, { recursive: true });
  // Two builds may cut at once: a finished file appears in one step.
  const partial = `${target}.${process.pid}`;
  await writeFile(partial, result);
  await rename(partial, target);
  return target;
}

type Variant = { weight: number | string; style: 'normal' | 'italic'; src: [string] };

/** @param fallbacks see font-fallbacks.ts; Astro's own know one weight, and no system but desktops */
function family(name: string, cssVariable: `--${string}`, fallbacks: string[], variants: [Variant, ...Variant[]]) {
  return {
    name,
    cssVariable,
    fallbacks,
    optimizedFallbacks: false,
    display: 'swap' as const,
    provider: fontProviders.local(),
    options: { variants },
  };
}

/** Absolute path of a file that a font package publishes. */
const published = (pkg: string, name: string): string => require.resolve(`${pkg}/files/${name}.woff2`);

/**
 * The `fonts` of astro.config.mjs.
 *
 * @param directory where cut files are kept, e.g. `.broadsheet/fonts`
 */
export async function paperFonts(directory: string) {
  const newsreader = '@fontsource-variable/newsreader';
  const [roman, italic] = await Promise.all([
    cut(published(newsreader, 'newsreader-latin-opsz-normal'), { opsz: 40, wght: { min: 400, max: 700 } }, directory),
    cut(published(newsreader, 'newsreader-latin-opsz-italic'), { opsz: 40, wght: 500 }, directory),
  ]);
  const serif = '@fontsource-variable/source-serif-4';
  return [
    family(
      'UnifrakturMaguntia',
      '--font-nameplate',
      ['nameplate-times', 'nameplate-noto', 'Georgia', 'serif'],
      [
        {
          weight: 400,
          style: 'normal',
          src: [published('@fontsource/unifrakturmaguntia', 'unifrakturmaguntia-latin-400-normal')],
        },
      ],
    ),
    family(
      'Newsreader',
      '--font-headline',
      ['headline-times', 'headline-noto', 'Georgia', 'serif'],
      [
        { weight: '400 700', style: 'normal', src: [roman] },
        { weight: 500, style: 'italic', src: [italic] },
      ],
    ),
    family(
      'Source Serif 4',
      '--font-text',
      ['text-times', 'text-noto', 'Georgia', 'serif'],
      [
        { weight: '200 900', style: 'normal', src: [published(serif, 'source-serif-4-latin-wght-normal')] },
        { weight: '200 900', style: 'italic', src: [published(serif, 'source-serif-4-latin-wght-italic')] },
      ],
    ),
    family(
      'Libre Franklin',
      '--font-label',
      ['label-arial', 'label-roboto', 'Arial', 'sans-serif'],
      [
        {
          weight: '100 900',
          style: 'normal',
          src: [published('@fontsource-variable/libre-franklin', 'libre-franklin-latin-wght-normal')],
        },
      ],
    ),
  ];
}
