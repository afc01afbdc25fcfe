/**
 * `npm run bench:pages -- [--runs 3] [--only home,article] [--reports folder]`: Lighthouse, emulating a phone, on each kind of page, and
 * how many bytes of each type the page costs; reports can be kept, and opened in Lighthouse’s viewer. `--only bytes` runs no Lighthouse and
 * weighs the HTML of three pages by its parts (`bench/pages/bytes.ts`), and `--only journey` drives a reader's journey on a slow phone
 * (`bench/pages/journey.ts`). Runs against the built site with the edition of the sandbox, which is kept between runs. Ends with 1 when a
 * page misses a bound of `bench/pages/plan.ts`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Browser, chromium } from '@playwright/test';
import { ensureSandbox } from '../sandbox/setup.mjs';
import { browserVariable, ensureBrowser } from '../scripts/browser.ts';
import { Stop } from '../scripts/setup/explain.mjs';
import { root } from '../scripts/setup/places.mjs';
import { step } from '../scripts/setup/steps.mjs';
import { signIn } from '../tests/world/readers.ts';
import { startWorld, type World } from '../tests/world/world.ts';
import { weighPages } from './pages/bytes.ts';
import { driveJourney } from './pages/journey.ts';
import { openLighthouse } from './pages/lighthouse.ts';
import { measureNextStory, mostBytes, type NextStory } from './pages/next-story.ts';
import { categories, type PagePlan, plan } from './pages/plan.ts';
import { kinds, medianRun, missedBounds, type Run } from './pages/verdict.ts';
import { count, ms, printTable, wholeFlag } from './support/figures.ts';

/** The pages that were named, or all of them. @throws Stop when there is none of that name */
function chosen(only: string | undefined): readonly PagePlan[] {
  const names = only?.split(',').filter(Boolean) ?? [];
  const unknown = names.filter((name) => !plan.some((page) => page.name === name));
  if (unknown.length > 0)
    throw new Stop(`There is no page ${unknown.join(', ')}; there are ${plan.map(({ name }) => name).join(', ')}.`);
  return names.length === 0 ? plan : plan.filter(({ name }) => names.includes(name));
}

/** @returns exit code: 1 when a page misses a bound */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { runs: { type: 'string' }, only: { type: 'string' }, reports: { type: 'string' } },
  });
  const runs = wholeFlag('runs', values.runs, 3);
  if (runs < 1) throw new Stop('--runs must be at least 1.');
  const alone = values.only === 'bytes' || values.only === 'journey' ? values.only : null;
  // Pages for signed-in readers come last, so that no page for visitors is measured while signed in.
  const pages = chosen(alone ? undefined : values.only).toSorted((a, b) => Number(a.signedIn) - Number(b.signedIn));
  await step('Setting up the sandbox', () => ensureSandbox({ root, onProgress: () => {} }));
  if (values.reports) mkdirSync(values.reports, { recursive: true });
  const world: World = await step('Starting WordPress and the site', (progress) =>
    startWorld({ withSite: true, progress }),
  );
  const site = String(world.site);
  if (alone)
    return withBrowser(world, (browser) => (alone === 'bytes' ? weigh(browser, site) : journey(browser, site, runs)));
  const lighthouse = await openLighthouse(await ensureBrowser(process.env), site);
  const results: [PagePlan, Run][] = [];
  let next: NextStory;
  try {
    for (const page of pages) {
      const { name, path, signedIn } = page;
      if (signedIn) await signIn(lighthouse.context);
      await step(`Auditing ${name}`, async () => {
        // The first request for a page may have to wait for its render.
        await fetch(`${site}${path}`);
        const audits: Run[] = [];
        for (let turn = 0; turn < runs; turn++) {
          const { run: audit, report: whole } = await lighthouse.audit(`${site}${path}`, page);
          audits.push(audit);
          if (values.reports) writeFileSync(join(values.reports, `${name}-${turn + 1}.json`), whole);
        }
        results.push([page, medianRun(audits)]);
      });
    }
    next = await step('Measuring a next story', () => measureNextStory(site));
  } finally {
    await lighthouse.close();
    await world.stop();
  }
  return report(results, next, runs);
}

/** Measures with its own browser, and stops the world afterward. @param measure how many bounds are missed */
async function withBrowser(world: World, measure: (browser: Browser) => Promise<number>): Promise<number> {
  const found = await ensureBrowser(process.env);
  // The browser that prerenders is started by a module of the tests.
  process.env[browserVariable] = JSON.stringify(found);
  const { path, args } = found;
  const browser = await chromium.launch({ ...(path !== null && { executablePath: path }), args: [...args] });
  try {
    return (await measure(browser)) === 0 ? 0 : 1;
  } finally {
    await browser.close();
    await world.stop();
  }
}

const weigh = (browser: Browser, site: string): Promise<number> =>
  weighPages(site, async () => (await browser.newContext({ serviceWorkers: 'block' })).newPage());

const journey = (browser: Browser, site: string, runs: number): Promise<number> => driveJourney(browser, site, runs);

function report(results: readonly (readonly [PagePlan, Run])[], next: NextStory, runs: number): number {
  console.log(`\nLighthouse as a phone, medians of ${count(runs)}`);
  printTable([
    ['', ...categories, 'shift', 'largest paint ms', 'blocked ms'],
    ...results.map(([{ name }, { scores, layoutShift, largestPaint, blocked }]) => [
      name,
      ...categories.map((category) => String(scores[category])),
      layoutShift.toFixed(3),
      ms(largestPaint),
      ms(blocked),
    ]),
  ]);
  console.log('\nkB over the wire until the page was quiet');
  printTable([
    ['', ...kinds, 'all'],
    ...results.map(([{ name }, { bytes }]) => [
      name,
      ...[...kinds.map((kind) => bytes[kind]), kinds.reduce((sum, kind) => sum + bytes[kind], 0)].map((each) =>
        (each / 1000).toFixed(1),
      ),
    ]),
  ]);
  const kilo = (bytes: number): string => `${(bytes / 1000).toFixed(1)} kB`;
  const figures = `${kilo(next.withIt)} with the shared dictionary (${kilo(next.dictionary)}), ${kilo(next.without)} without it`;
  console.log(`\nHTML of a next story, median of ${next.stories}: ${figures}`);
  let failed = 0;
  if (next.withIt > mostBytes) {
    failed++;
    console.log(`It misses its bound of ${kilo(mostBytes)}.`);
  }
  for (const [page, all] of results) {
    const problems = missedBounds(page, all);
    if (problems.length === 0) continue;
    failed++;
    console.log(`\n${page.name} misses: ${problems.join('; ')}`);
    for (const fault of all.faults) console.log(`  ${fault}`);
  }
  console.log(failed === 0 ? '\nEvery bound holds.' : `\n${failed} of ${results.length + 1} figures miss a bound.`);
  return failed === 0 ? 0 : 1;
}
