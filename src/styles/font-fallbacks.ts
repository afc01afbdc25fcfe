/**
 * System fonts that are shown until the site's fonts load (fonts.ts), scaled so that a line holds the same words, so that nothing moves
 * when those load. Times New Roman and Arial are on desktops (Liberation on Linux has their widths), Noto Serif and Roboto on Android.
 */

/** A face: range of weights, style, names in the system, and `size-adjust` in percent. */
type Face = readonly [weights: string, style: 'normal' | 'italic', local: readonly string[], size: number];

interface Fallback {
  /** Ascent and descent of the site's font, in percent of its size. */
  readonly ascent: number;
  readonly descent: number;
  /** By the family names in fonts.ts. */
  readonly families: Readonly<Record<string, readonly Face[]>>;
}

const times = ['Times New Roman', 'Liberation Serif'];
const timesBold = ['Times New Roman Bold', 'Liberation Serif Bold'];
const timesItalic = ['Times New Roman Italic', 'Liberation Serif Italic'];
const arial = ['Arial', 'Liberation Sans'];
const arialBold = ['Arial Bold', 'Liberation Sans Bold'];

/**
 * `size-adjust` is the width of the demo edition's headlines (text: bodies) in the site's font divided by that in the system's, for the
 * most used weight in each range.
 */
const fallbacks: readonly Fallback[] = [
  {
    ascent: 73.5,
    descent: 26.5,
    families: {
      'headline-times': [
        ['400 549', 'normal', times, 106.37],
        ['550 700', 'normal', timesBold, 102.63],
        ['500', 'italic', timesItalic, 100.99],
      ],
      'headline-noto': [
        ['400 549', 'normal', ['Noto Serif'], 91.8],
        ['550 700', 'normal', ['Noto Serif Bold'], 88.87],
        ['500', 'italic', ['Noto Serif Italic'], 88.53],
      ],
    },
  },
  {
    ascent: 103.6,
    descent: 33.5,
    families: {
      'text-times': [
        ['200 549', 'normal', times, 117.64],
        ['550 900', 'normal', timesBold, 113.12],
        ['200 900', 'italic', timesItalic, 107.89],
      ],
      'text-noto': [
        ['200 549', 'normal', ['Noto Serif'], 99.13],
        ['550 900', 'normal', ['Noto Serif Bold'], 95.45],
        ['200 900', 'italic', ['Noto Serif Italic'], 93.71],
      ],
    },
  },
  {
    ascent: 96.6,
    descent: 24.6,
    families: {
      'label-arial': [
        ['100 449', 'normal', arial, 103.34],
        ['450 549', 'normal', arial, 104.34],
        ['550 649', 'normal', arialBold, 98.01],
        ['650 900', 'normal', arialBold, 99.03],
      ],
      'label-roboto': [
        ['100 449', 'normal', ['Roboto'], 103.78],
        ['450 549', 'normal', ['Roboto Medium'], 103.95],
        ['550 649', 'normal', ['Roboto Bold'], 104.4],
        ['650 900', 'normal', ['Roboto Bold'], 105.49],
      ],
    },
  },
  {
    ascent: 78.47,
    descent: 25.05,
    families: {
      'nameplate-times': [['400', 'normal', times, 107.51]],
      'nameplate-noto': [['400', 'normal', ['Noto Serif'], 93.43]],
    },
  },
];

/** The faces as styles, for the head of every page. */
export const fontFallbackStyle = fallbacks
  .flatMap(({ ascent, descent, families }) =>
    Object.entries(families).flatMap(([family, list]) =>
      list.map(
        ([weights, style, names, size]) =>
          `@font-face{font-family:${family};font-weight:${weights};font-style:${style};src:${names.map((name) => `local("${name}")`).join()};` +
          `size-adjust:${size}%;ascent-override:${((ascent / size) * 100).toFixed(2)}%;` +
          `descent-override:${((descent / size) * 100).toFixed(2)}%;line-gap-override:0%}`,
      ),
    ),
  )
  .join('\n');
