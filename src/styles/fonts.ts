/**
 * The four font families, self-hosted and cut from their npm packages at build time, as the style sheet `virtual:fonts.css`.
 *
 * A first visit loads what its words need: each face is cut by characters, and browsers load the files whose `unicode-range` a page uses. The
 * first has the letters and marks of English, another the rest of Latin-1 with the punctuation, another Latin Extended-A. Newsreader is cut
 * to one display size. Weights are cut to those in use; the text's regular weight, which is most of a page, has a file of its own.
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join, relative, resolve } from 'node:path';
import subsetFont from 'subset-font';
import type { Plugin } from 'vite';
import { publication } from '../publication.ts';

const require = createRequire(import.meta.url);

type Range = readonly [from: number, to: number];

/** English words, prices, and what stands between them. */
const english: readonly Range[] = [
  ...([
    [0x20, 0x7e],
    [0xa0, 0xa0],
    [0xa2, 0xa3],
    [0xa9, 0xa9],
    [0xad, 0xad],
    [0xb7, 0xb7],
    [0x2013, 0x2014],
  ] as const),
  ...([
    [0x2018, 0x2019],
    [0x201c, 0x201d],
    [0x2026, 0x2026],
    [0x2039, 0x203a],
    [0x20ac, 0x20ac],
    [0x2212, 0x2212],
  ] as const),
];
/** What else is in the packages' files for Latin. */
const latin: readonly Range[] = [
  ...([
    [0xa1, 0xa1],
    [0xa4, 0xa8],
    [0xaa, 0xac],
    [0xae, 0xb6],
    [0xb8, 0xff],
    [0x131, 0x131],
  ] as const),
  ...([
    [0x152, 0x153],
    [0x2c6, 0x2c6],
    [0x2da, 0x2da],
    [0x2dc, 0x2dc],
    [0x2000, 0x2012],
    [0x2015, 0x2017],
  ] as const),
  ...([
    [0x201a, 0x201b],
    [0x201e, 0x2025],
    [0x2027, 0x2038],
    [0x203b, 0x206f],
    [0x2122, 0x2122],
  ] as const),
  ...([
    [0x2191, 0x2191],
    [0x2193, 0x2193],
    [0x2215, 0x2215],
  ] as const),
];
/** Latin Extended-A, and the letters of Romanian and Welsh beyond it. */
const latinExtended: readonly Range[] = [
  ...([
    [0x100, 0x130],
    [0x132, 0x151],
    [0x154, 0x17f],
    [0x218, 0x21b],
    [0x1e80, 0x1e85],
    [0x1e9e, 0x1e9e],
  ] as const),
];

const charactersOf = (ranges: readonly Range[]): string =>
  ranges
    .flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, index) => String.fromCodePoint(from + index)))
    .join('');

const rangeText = (ranges: readonly Range[]): string =>
  ranges.map(([from, to]) => `U+${from.toString(16)}${from === to ? '' : `-${to.toString(16)}`}`).join();

/** Words in the headline's italics that nearly every page has: a file of their few letters. */
const mottoWords = [
  `${publication.motto}.`,
  // components/header/Masthead.astro, components/article/Credits.astro and components/plans/TierCard.astro.
  'The weekend edition, delivered to your door.',
  'Today’s crossword, and a year of others.',
  'By arrangement',
].join('');

/** OpenType features that texts here use; a family's others, such as small capitals, double its glyphs. */
const keepFeatures = [
  ...['kern', 'liga', 'clig', 'calt', 'ccmp', 'locl', 'mark', 'mkmk', 'rlig', 'rclt', 'rvrn'],
  ...['lnum', 'onum', 'tnum', 'pnum'],
];

type Axes = Record<string, number | { min: number; max: number }>;

/** A face as `@font-face` describes it, and the files that it is cut from. */
interface Face {
  readonly family: string;
  readonly weight: string;
  readonly style: 'normal' | 'italic';
  readonly axes: Axes;
  readonly cuts: readonly { readonly source: string; readonly characters: string; readonly range?: string }[];
}

/** Names that licenses reserve for unmodified files, and what a cut file has in their place: of the same length, so that nothing else changes. */
const reserved: readonly (readonly [string, string])[] = [
  ['UnifrakturMaguntia', 'NewspaperNameplate'],
  ['Source Serif', 'Running Text'],
  ['SourceSerif', 'RunningText'],
];

/** Replaces reserved names in a font's name table. */
function renamed(font: Buffer): Buffer {
  const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16();
  for (const [name, other] of reserved)
    for (const encode of [utf16, (text: string) => Buffer.from(text, 'latin1')])
      for (let at = font.indexOf(encode(name)); at >= 0; at = font.indexOf(encode(name), at + 1))
        encode(other).copy(font, at);
  return font;
}

/**
 * Path of a cut of `source`, made unless it is there from an earlier build.
 *
 * @param directory where cuts are kept between builds
 */
async function cut(source: string, characters: string, axes: Axes, directory: string): Promise<string> {
  const original = await readFile(source);
  const settings = JSON.stringify([axes, characters, keepFeatures, reserved]);
  const key = createHash('sha256').update(original).update(settings).digest('hex').slice(0, 12);
  const target = join(resolve(directory), `${basename(source, '.woff2')}-${key}.woff2`);
  if (await stat(target).catch(() => null)) return target;
  const plain = await subsetFont(original, characters, { targetFormat: 'truetype', variationAxes: axes, keepFeatures });
  const result = await subsetFont(renamed(plain), characters, { targetFormat: 'woff2', keepFeatures });
  await mkdir(directory, { recursive: true });
  // Two builds may cut at once: a finished file appears in one step.
  const partial = `${target}.${process.pid}`;
  await writeFile(partial, result);
  await rename(partial, target);
  return target;
}

/** Absolute path of a file that a font package publishes. */
const published = (pkg: string, name: string): string => require.resolve(`${pkg}/files/${name}.woff2`);

/** The three cuts of a face, of the files of a package. @param name with `latin` where the files differ */
function byCharacters(pkg: string, name: string): Face['cuts'] {
  return [
    { source: published(pkg, name), ranges: english },
    { source: published(pkg, name), ranges: latin },
    { source: published(pkg, name.replace('latin', 'latin-ext')), ranges: latinExtended },
  ].map(({ source, ranges }) => ({ source, characters: charactersOf(ranges), range: rangeText(ranges) }));
}

function faces(): Face[] {
  const newsreader = '@fontsource-variable/newsreader';
  const serif = '@fontsource-variable/source-serif-4';
  const franklin = '@fontsource-variable/libre-franklin';
  const nameplate = published('@fontsource/unifrakturmaguntia', 'unifrakturmaguntia-latin-400-normal');
  const roman = byCharacters(serif, 'source-serif-4-latin-wght-normal');
  const italics = published(newsreader, 'newsreader-latin-opsz-italic');
  const upright = { style: 'normal' } as const;
  const italic = { style: 'italic' } as const;
  return [
    {
      ...upright,
      family: 'Nameplate',
      weight: '400',
      axes: {},
      cuts: [{ source: nameplate, characters: publication.name }],
    },
    {
      ...upright,
      family: 'Newsreader',
      weight: '400 700',
      axes: { opsz: 40, wght: { min: 400, max: 700 } },
      cuts: byCharacters(newsreader, 'newsreader-latin-opsz-normal'),
    },
    {
      ...italic,
      family: 'Newsreader',
      weight: '500',
      axes: { opsz: 40, wght: 500 },
      cuts: byCharacters(newsreader, 'newsreader-latin-opsz-italic'),
    },
    {
      ...italic,
      family: 'Motto',
      weight: '500',
      axes: { opsz: 40, wght: 500 },
      cuts: [{ source: italics, characters: mottoWords }],
    },
    { ...upright, family: 'Text', weight: '400', axes: { wght: 400 }, cuts: roman },
    { ...upright, family: 'Text', weight: '500 700', axes: { wght: { min: 500, max: 700 } }, cuts: roman },
    {
      ...italic,
      family: 'Text',
      weight: '400 700',
      axes: { wght: { min: 400, max: 700 } },
      cuts: byCharacters(serif, 'source-serif-4-latin-wght-italic'),
    },
    {
      ...upright,
      family: 'Libre Franklin',
      weight: '400 700',
      axes: { wght: { min: 400, max: 700 } },
      cuts: byCharacters(franklin, 'libre-franklin-latin-wght-normal'),
    },
  ];
}

/** The families by custom property; what follows the site's own is in font-fallbacks.ts. */
const families = {
  '--font-nameplate': 'Nameplate,nameplate-times,nameplate-noto,Georgia,serif',
  '--font-headline': 'Newsreader,headline-times,headline-noto,Georgia,serif',
  '--font-motto': 'Motto,headline-times,headline-noto,Georgia,serif',
  '--font-text': 'Text,text-times,text-noto,Georgia,serif',
  '--font-label': '"Libre Franklin",label-arial,label-roboto,Arial,sans-serif',
} as const;

const name = 'virtual:fonts.css';

/**
 * Makes the style sheet `virtual:fonts.css`.
 *
 * @param directory where cut files are kept, e.g. `.broadsheet/fonts`
 */
export function paperFonts(directory: string): Plugin {
  const file = join(import.meta.dirname, 'fonts.virtual.css');
  const css = async (): Promise<string> => {
    const rules: string[] = [];
    for (const { family, weight, style, axes, cuts } of faces())
      for (const { source, characters, range } of cuts) {
        const path = relative(import.meta.dirname, await cut(source, characters, axes, directory)).replaceAll(
          '\\',
          '/',
        );
        rules.push(
          // The policy of pages allows fonts of the site alone, and none within a style sheet.
          `@font-face{font-family:"${family}";src:url("${path}?no-inline") format("woff2");font-display:swap;` +
            `font-weight:${weight};font-style:${style};${range ? `unicode-range:${range}` : ''}}`,
        );
      }
    const properties = Object.entries(families).map(([property, value]) => `${property}:${value};`);
    return `${rules.join('\n')}\n:root{${properties.join('')}}`;
  };
  return {
    name: 'broadsheet:fonts',
    resolveId: (id) => (id === name ? file : null),
    load: (id) => (id === file ? css() : null),
  };
}
