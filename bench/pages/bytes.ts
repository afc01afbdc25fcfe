/** The bytes of pages by part, as `npm run bench:pages -- --only bytes` prints them. */
import type { Page } from '@playwright/test';
import { type PageWeight, weighPage, weighVisit } from '../../tests/world/page-weight.ts';
import { type Figure, printFigures } from '../support/bounds.ts';
import { printTable } from '../support/figures.ts';

/** The bound of one figure, in bytes. */
interface Bound {
  readonly name: string;
  readonly most: number;
  readonly read: (weight: Visit) => number;
}

type Visit = PageWeight & { readonly fonts: number; readonly styleSheets: number };

const scripts: Bound = { name: 'scripts', most: 1500, read: ({ of }) => of.scripts };
const fonts: Bound = { name: 'fonts', most: 60_000, read: (visit) => visit.fonts };
const whole = (most: number): Bound => ({ name: 'HTML', most, read: ({ all }) => all });

/** The pages that are weighed, and what they may cost a first visit. */
const plan: readonly (readonly [name: string, path: string, bounds: readonly Bound[]])[] = [
  [
    'article',
    '/article/crack-closes-mississippi-bridge',
    [{ name: 'HTML around the story', most: 6000, read: ({ shell }) => shell }, scripts, fonts],
  ],
  ['home', '/', [whole(22_000), scripts, fonts]],
  ['section', '/section/politics', [whole(14_000), scripts, fonts]],
  ['prices', '/pricing', [scripts, fonts]],
  ['video', '/media', [scripts, fonts]],
  ['form', '/contact', [scripts, fonts]],
  // Its text has words in italics and in bold type.
  ['static', '/about', [scripts, { ...fonts, most: 85_000 }]],
];

/**
 * Weighs the pages and prints what they cost.
 *
 * @param open a page of a browser with an empty cache
 * @returns how many bounds are missed
 */
export async function weighPages(site: string, open: () => Promise<Page>): Promise<number> {
  const visits: (readonly [string, Visit, readonly Bound[]])[] = [];
  for (const [name, path, bounds] of plan) {
    const html = await (await fetch(site + path)).text();
    const page = await open();
    const { fonts, styles } = await weighVisit(page, site + path);
    await page.context().close();
    visits.push([name, { ...weighPage(html), fonts, styleSheets: styles }, bounds]);
  }
  const parts = Object.keys(visits[0]?.[1].of ?? {}) as (keyof PageWeight['of'])[];
  console.log('\nBytes of a first visit; of a part, what leaving it out of the HTML saves (gzip 6)');
  printTable([
    ['', ...visits.map(([name]) => name)],
    ['HTML, gzip', ...visits.map(([, { all }]) => String(all))],
    ['HTML, brotli 5', ...visits.map(([, { brotli }]) => String(brotli))],
    ['without the story', ...visits.map(([, { shell }]) => String(shell))],
    ...parts.map((part) => [`  ${part}`, ...visits.map(([, { of }]) => String(of[part]))]),
    ['style sheets', ...visits.map(([, { styleSheets }]) => String(styleSheets))],
    ['fonts', ...visits.map(([, visit]) => String(visit.fonts))],
  ]);
  const figures = visits.flatMap(([page, visit, bounds]) =>
    bounds.map(({ name, most, read }): Figure => {
      const bytes = read(visit);
      return { what: `${page}: ${name}`, value: String(bytes), bound: String(most), holds: bytes <= most };
    }),
  );
  printFigures('Bytes', figures);
  return figures.filter(({ holds }) => !holds).length;
}
