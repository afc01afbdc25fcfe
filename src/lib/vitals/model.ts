/**
 * How fast pages are for their readers: what a browser measures, and which values are good (web.dev, "Web Vitals"). Nothing in it is about
 * a person.
 */

/** Where browsers send what they measure. */
export const vitalsPath = '/-/vitals';

/** First segments of paths that are counted separately; any other path is `other`; the home page has an empty first segment. */
export const vitalsPages = ['home', 'article', 'section', 'author', 'media', 'search', 'dashboard', 'other'] as const;
export type VitalsPage = (typeof vitalsPages)[number];

/** A phone is narrower than 768 pixels. */
export const vitalsDevices = ['phone', 'desktop'] as const;
export type VitalsDevice = (typeof vitalsDevices)[number];

/** The kind of a page by its path. */
export function vitalsPageOf(pathname: string): VitalsPage {
  const [, first = ''] = pathname.split('/');
  if (first === '') return 'home';
  return vitalsPages.find((page) => page === first) ?? 'other';
}

export interface Vital {
  /** Its name in metrics, with the unit. */
  readonly metric: string;
  readonly name: string;
  /** Upper bounds of the histogram's buckets. */
  readonly buckets: readonly number[];
  /** Upper limits of "good" and of "needs improvement", measured at the 75th percentile. */
  readonly good: number;
  readonly poor: number;
  /** Larger values are browser errors or forged. */
  readonly most: number;
}

/** Times are in seconds; a layout shift has no unit. */
export const vitals = {
  lcp: {
    metric: 'broadsheet_page_lcp_seconds',
    name: 'Largest Contentful Paint',
    buckets: [0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 4, 6, 10],
    good: 2.5,
    poor: 4,
    most: 60,
  },
  inp: {
    metric: 'broadsheet_page_inp_seconds',
    name: 'Interaction to Next Paint',
    buckets: [0.025, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1, 2],
    good: 0.2,
    poor: 0.5,
    most: 60,
  },
  cls: {
    metric: 'broadsheet_page_layout_shift',
    name: 'Cumulative Layout Shift',
    buckets: [0.001, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1],
    good: 0.1,
    poor: 0.25,
    most: 100,
  },
  ttfb: {
    metric: 'broadsheet_page_ttfb_seconds',
    name: 'Time to First Byte',
    buckets: [0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.2, 1.8, 3, 6],
    good: 0.8,
    poor: 1.8,
    most: 60,
  },
} as const satisfies Readonly<Record<string, Vital>>;

export type VitalName = keyof typeof vitals;
export const vitalNames = Object.keys(vitals) as readonly VitalName[];

/** What one view of a page showed. */
export interface VitalsReport {
  readonly page: VitalsPage;
  readonly device: VitalsDevice;
  /** Each at most once; a browser that can't measure one leaves it out. */
  readonly values: Readonly<Partial<Record<VitalName, number>>>;
}

/** The 75th percentile of a measurement: three of four readers have this value or a better one. */
export interface VitalsFigure {
  readonly page: VitalsPage;
  readonly device: VitalsDevice;
  /** Views that were measured. */
  readonly views: number;
  /** `null`: no browser has measured it. */
  readonly p75: Readonly<Record<VitalName, number | null>>;
}
