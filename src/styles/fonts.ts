/**
 * The four font families, self-hosted and subset from their npm packages at build time, as the style sheet `virtual:fonts.css`.
 *
 * A first visit loads only what its text needs: each face is split into subsets of characters, and browsers load the files whose
 * `unicode-range` a page uses. The first has the letters and marks of English, the second the rest of Latin-1 with punctuation, the third
 * Latin Extended-A. Newsreader is reduced to one display size. Each weight of headlines and body text has a separate file, because most
 * pages show one or two of them; labels use five on every page, in one variable file.
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join, relative, resolve } from 'node:path';
import subsetFont from 'subset-font';
import type { Plugin } from 'vite';
import { publication } from '../publication.ts';

const require = createRequire(import.meta.url);

/** Characters as `unicode-range` names them: English words, prices, and punctuation. */
const english =
  'U+20-5b,U+5d,U+5f,U+61-7a,U+a0,U+a2-a3,U+a9,U+ad,U+b7,U+2013-2014,U+2018-2019,U+201c-201d,U+2026,U+203a,U+20ac,U+2212';
/** The same without characters that headlines hardly ever have, `"#*=@[]_`: with their kerning they are a twentieth of a file. */
const headlineEnglish =
  'U+20-21,U+24-29,U+2b-3c,U+3e-3f,U+41-5a,U+61-7a,U+a0,U+a2-a3,U+a9,U+ad,U+b7,U+2013-2014,U+2018-2019,U+201c-201d,U+2026,U+203a,U+20ac,U+2212';
const headlineRest = 'U+22-23,U+2a,U+3d,U+40,U+5b,U+5d,U+5f';
/** The other characters in the packages' files for Latin, and characters that only code uses. */
const latin =
  'U+5c,U+5e,U+60,U+7b-7e,U+a1,U+a4-a8,U+aa-ac,U+ae-b6,U+b8-ff,U+131,U+152-153,U+2c6,U+2da,U+2dc,U+2000-2012,U+2015-2017,' +
  'U+201a-201b,U+201e-2025,U+2027-2039,U+203b-206f,U+2122,U+2191,U+2193,U+2215';
/** Latin Extended-A, and the letters of Romanian and Welsh beyond it. */
const latinExtended = 'U+100-130,U+132-151,U+154-17f,U+218-21b,U+1e80-1e85,U+1e9e';

/** The characters of a `unicode-range`. */
function charactersOf(range: string): string {
  const found = [...range.matchAll(/U\+([\da-f]+)(?:-([\da-f]+))?/g)].flatMap(([, from = '', to = from]) => {
    const first = Number.parseInt(from, 16);
    return Array.from({ length: Number.parseInt(to, 16) - first + 1 }, (_, at) => String.fromCodePoint(first + at));
  });
  return found.join('');
}

/**
 * The words in italic headline type that nearly every page has, and those of components/plans/TierCard.astro: a file with only their
 * letters.
 */
const mottoWords = `${publication.motto}. By arrangement`;

/** OpenType features that texts here use; a family's others, such as small capitals, double its glyphs. */
const letterFeatures = ['kern', 'liga', 'clig', 'calt', 'ccmp', 'locl', 'mark', 'mkmk', 'rlig', 'rclt', 'rvrn'];
const allFeatures = [...letterFeatures, 'lnum', 'onum', 'tnum', 'pnum'];

type Axes = Record<string, number | { min: number; max: number }>;

/** A face as `@font-face` describes it, and the source files of its subsets. */
interface Face {
  readonly family: string;
  readonly weight: string;
  readonly style: 'normal' | 'italic';
  readonly axes: Axes;
  /** OpenType features; by default all that texts here use. */
  readonly features?: readonly string[];
  readonly subsets: readonly { readonly source: string; readonly characters: string; readonly range?: string }[];
}

/**
 * Names that licenses reserve for unmodified files, and their replacements in subset files, of the same length so that nothing else
 * changes.
 */
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
 * Path of a subset of `source`, created unless it exists from an earlier build.
 *
 * @param directory where subsets are kept between builds
 */
async function createSubset(
  source: string,
  characters: string,
  { axes, features = allFeatures }: Pick<Face, 'axes' | 'features'>,
  directory: string,
): Promise<string> {
  const keepFeatures = [...features];
  const original = await readFile(source);
  const settings = JSON.stringify([axes, characters, keepFeatures, reserved]);
  const key = createHash('sha256').update(original).update(settings).digest('hex').slice(0, 12);
  const target = join(resolve(directory), `${basename(source, '.woff2')}-${key}.woff2`);
  if (await stat(target).catch(() => null)) return target;
  // The package's types don't know `keepFeatures` yet.
  const first = { targetFormat: 'truetype', variationAxes: axes, keepFeatures } as const;
  const second = { targetFormat: 'woff2', keepFeatures } as const;
  const result = await subsetFont(renamed(await subsetFont(original, characters, first)), characters, second);
  await mkdir(directory, { recursive: true });
  // Two builds may create subsets at the same time: a finished file appears atomically.
  const partial = `${target}.${process.pid}`;
  await writeFile(partial, result);
  await rename(partial, target);
  return target;
}

/** Absolute path of a file that a font package publishes. */
const published = (pkg: string, name: string): string => require.resolve(`${pkg}/files/${name}.woff2`);

/**
 * The three subsets of a face, from the files of a package.
 *
 * @param name with `latin` where the files differ
 * @param first what the first has; what it lacks of English is in the second
 */
function byCharacters(pkg: string, name: string, first = english): Face['subsets'] {
  return [
    { source: published(pkg, name), range: first },
    { source: published(pkg, name), range: first === english ? latin : `${headlineRest},${latin}` },
    { source: published(pkg, name.replace('latin', 'latin-ext')), range: latinExtended },
  ].map(({ source, range }) => ({ source, characters: charactersOf(range), range }));
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
      subsets: [{ source: nameplate, characters: publication.name }],
    },
    // Headlines use lining figures, this family's default; other figure styles would add 20 glyphs.
    ...[
      { weight: '400 549', wght: 500 },
      { weight: '550 700', wght: 600 },
    ].map(({ weight, wght }) => ({
      ...upright,
      family: 'Newsreader',
      weight,
      axes: { opsz: 40, wght },
      features: letterFeatures,
      subsets: byCharacters(newsreader, 'newsreader-latin-opsz-normal', headlineEnglish),
    })),
    {
      ...italic,
      family: 'Newsreader',
      weight: '500',
      axes: { opsz: 40, wght: 500 },
      subsets: byCharacters(newsreader, 'newsreader-latin-opsz-italic', headlineEnglish),
    },
    {
      ...italic,
      family: 'Motto',
      weight: '500',
      axes: { opsz: 40, wght: 500 },
      subsets: [{ source: italics, characters: mottoWords }],
    },
    {
      ...upright,
      family: 'Ranks',
      weight: '400',
      axes: { opsz: 40, wght: 400 },
      features: letterFeatures,
      subsets: [{ source: published(newsreader, 'newsreader-latin-opsz-normal'), characters: '0123456789' }],
    },
    ...[
      { weight: '400 549', wght: 400 },
      { weight: '550 700', wght: 650 },
    ].flatMap(({ weight, wght }): Face[] => [
      { ...upright, family: 'Text', weight, axes: { wght }, subsets: roman },
      {
        ...italic,
        family: 'Text',
        weight,
        axes: { wght },
        subsets: byCharacters(serif, 'source-serif-4-latin-wght-italic'),
      },
    ]),
    {
      ...upright,
      family: 'Libre Franklin',
      weight: '400 700',
      axes: { wght: { min: 400, max: 700 } },
      subsets: byCharacters(franklin, 'libre-franklin-latin-wght-normal'),
    },
  ];
}

/** Number of letters in the name, by which the nameplate and the header's logo become narrower than usual. */
const nameplateLetters = (name: string): string => `--nameplate-letters:${[...name].length};`;

/** The families by custom property; the fallbacks after the site's own fonts are in font-fallbacks.ts. */
const families = {
  '--font-nameplate': 'Nameplate,nameplate-times,nameplate-noto,Georgia,serif',
  '--font-headline': 'Newsreader,headline-times,headline-noto,Georgia,serif',
  '--font-motto': 'Motto,headline-times,headline-noto,Georgia,serif',
  '--font-ranks': 'Ranks,headline-times,headline-noto,Georgia,serif',
  '--font-text': 'Text,text-times,text-noto,Georgia,serif',
  '--font-label': '"Libre Franklin",label-arial,label-roboto,Arial,sans-serif',
} as const;

const name = 'virtual:fonts.css';

/**
 * Makes the style sheet `virtual:fonts.css`.
 *
 * @param directory where subsets are kept, e.g. `.broadsheet/fonts`
 */
export function paperFonts(directory: string): Plugin {
  const file = join(import.meta.dirname, 'fonts.virtual.css');
  const css = async (): Promise<string> => {
    const rules: string[] = [];
    for (const face of faces()) {
      const { family, weight, style } = face;
      for (const { source, characters, range } of face.subsets) {
        const file = await createSubset(source, characters, face, directory);
        const path = relative(import.meta.dirname, file).replaceAll('\\', '/');
        rules.push(
          // The content security policy of pages allows only the site's own fonts, and none inside a style sheet.
          `@font-face{font-family:"${family}";src:url("${path}?no-inline") format("woff2");font-display:swap;` +
            `font-weight:${weight};font-style:${style};${range ? `unicode-range:${range}` : ''}}`,
        );
      }
    }
    const properties = Object.entries(families).map(([property, value]) => `${property}:${value};`);
    return `${rules.join('\n')}\n:root{${properties.join('')}${nameplateLetters(publication.name)}}`;
  };
  return {
    name: 'broadsheet:fonts',
    resolveId: (id) => (id === name ? file : null),
    load: (id) => (id === file ? css() : null),
  };
}
