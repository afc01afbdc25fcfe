/**
 * A reader's journey through the site on a slow phone, as `npm run bench:pages -- --only journey` drives it: the front page, a story,
 * back, a section, and a second story, with a press of each control on the way.
 */
import type { Browser, BrowserContext, CDPSession, Locator, Page } from '@playwright/test';
import { type PrerenderingBrowser, startPrerenderingBrowser } from '../../tests/world/prerendering.ts';
import { type Figure, printFigures } from '../support/bounds.ts';
import { median, ms } from '../support/figures.ts';
import { fixedWork, speedSentence, usualFixedWorkMs } from '../support/speed.ts';

/** Lighthouse's slow phone: 1.6 Mbit/s down, 750 kbit/s up, 150 ms, and a processor four times as slow as a usual machine's. */
const network = { offline: false, latency: 150, downloadThroughput: 204_800, uploadThroughput: 96_000 };
const phoneFixedWorkMs = 4 * usualFixedWorkMs;
/** Milliseconds that a finger stays on the glass, during which a browser prefetches the link. */
const pressMs = 80;

const phone = { viewport: { width: 390, height: 664 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };

/** Bounds, milliseconds and layout shift. */
const most = { secondStory: 300, press: 100, shift: 0.0005 };

/** What a page reports: milliseconds from the start of its visit, and the shift of its content. */
interface Seen {
  readonly largest: number;
  readonly shift: number;
}

interface Step extends Seen {
  readonly name: string;
}

interface Press {
  readonly name: string;
  /** From the touch to the next frame, the longest of its events. */
  readonly ms: number;
}

/**
 * Runs in a page once it is quiet, and collects what the browser has recorded until then and what it records from then on. Before, it
 * would be part of what is measured.
 */
function observe(): void {
  if ('seen' in window) return;
  const seen = { largest: 0, shift: 0, press: 0 };
  Object.assign(window, { seen });
  type Entry = PerformanceEntry & { value: number; hadRecentInput: boolean; interactionId: number };
  const on = (type: string, read: (entry: Entry) => void, more: object = {}): void => {
    const observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) read(entry as Entry);
    });
    observer.observe({ type, buffered: true, ...more });
  };
  on('largest-contentful-paint', ({ startTime }) => {
    seen.largest = startTime;
  });
  on('layout-shift', ({ value, hadRecentInput }) => {
    if (!hadRecentInput) seen.shift += value;
  });
  const press = ({ interactionId, duration }: Entry): void => {
    if (interactionId > 0) seen.press = Math.max(seen.press, duration);
  };
  on('event', press, { durationThreshold: 16 });
}

/** The popup would cover what is pressed. */
const withoutPopup = (site: string) => ({
  cookies: [],
  origins: [{ origin: new URL(site).origin, localStorage: [{ name: 'seen-welcome-modal', value: 'true' }] }],
});

/** Waits until two frames after the page is quiet: by then, everything that happened has been reported. */
async function quiet(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle');
  await page.evaluate(observe);
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)))),
  );
}

async function touch(session: CDPSession, target: Locator): Promise<void> {
  await target.scrollIntoViewIfNeeded();
  const box = await target.boundingBox();
  if (!box) throw new Error(`Nothing to press: ${target}`);
  const touchPoints = [{ x: box.x + box.width / 2, y: box.y + box.height / 2 }];
  await session.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints });
  await new Promise((done) => setTimeout(done, pressMs));
  await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
}

type Controls = readonly (readonly [name: string, control: (page: Page) => Locator])[];

const closeButton = (page: Page): Locator => page.getByRole('dialog').getByRole('button', { name: 'Close' });
const onFront: Controls = [
  ['open the menu', (page) => page.locator('[data-open-menu]')],
  ['close the menu', (page) => page.locator('#site-menu').getByRole('button', { name: /close/i }).first()],
  ['unfold the subscribe bar', (page) => page.locator('[data-sticky-footer] summary')],
  ['fold the subscribe bar', (page) => page.locator('[data-sticky-footer] summary')],
  ['open the search', (page) => page.locator('.search-link')],
  ['close the search', closeButton],
  ['open the sign-in', (page) => page.locator('.site-header .sign-in')],
  ['close the sign-in', closeButton],
];
const onStory: Controls = [
  ['open the share menu', (page) => page.locator('[data-tool=share]')],
  ['close the share menu', (page) => page.locator('[data-tool=share]')],
  ['open the text sizes', (page) => page.locator('[data-tool=sizes]')],
  ['choose a text size', (page) => page.locator('[data-tool=size]').last()],
];

async function pressAll(page: Page, session: CDPSession, controls: Controls): Promise<Press[]> {
  const presses: Press[] = [];
  for (const [name, control] of controls) {
    await page.evaluate(() => {
      (window as unknown as { seen: { press: number } }).seen.press = 0;
    });
    await touch(session, control(page));
    await quiet(page);
    presses.push({
      name,
      ms: await page.evaluate(() => (window as unknown as { seen: { press: number } }).seen.press),
    });
  }
  return presses;
}

/**
 * Drives the journey once.
 *
 * @param context a browser that has kept nothing, see {@link phone}
 * @param slowdown how many times slower the processor becomes
 */
async function drive(
  context: BrowserContext,
  site: string,
  slowdown: number,
): Promise<{ steps: Step[]; presses: Press[] }> {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', network);
  await session.send('Emulation.setCPUThrottlingRate', { rate: slowdown });
  const steps: Step[] = [];
  const presses: Press[] = [];
  const record = async (name: string): Promise<void> => {
    const seen = await page.evaluate(() => (window as unknown as { seen: Seen }).seen);
    steps.push({ name, largest: seen.largest, shift: seen.shift });
  };
  /** Opens what a link leads to. The shift is read again before a page is left. */
  const open = async (name: string, link: Locator, path: RegExp): Promise<void> => {
    const arrived = page.waitForURL(path, { waitUntil: 'load' });
    await touch(session, link);
    await arrived;
    await quiet(page);
    await record(name);
  };

  await page.goto(site, { waitUntil: 'load' });
  await quiet(page);
  await record('front page');
  presses.push(...(await pressAll(page, session, onFront)));
  await open('story', page.locator('main article.card a[href^="/article/"]').nth(2), /\/article\//);
  presses.push(...(await pressAll(page, session, onStory)));
  await page.goBack({ waitUntil: 'load' });
  await quiet(page);
  await record('back');
  await open('section', page.locator('.section-nav a[href^="/section/"]').nth(1), /\/section\//);
  await open('second story', page.locator('main article.card a[href^="/article/"]').nth(1), /\/article\//);
  return { steps, presses };
}

/**
 * A second story that the browser prerenders. Chromium prerenders nothing in a page that Playwright drives, and an emulated phone doesn't
 * guess from what is in view, as Chrome on Android does.
 *
 * @param rested whether the pointer has rested on the card until the story was ready; otherwise the browser begins when the card is pressed
 * @returns milliseconds from the moment at which the story was opened to its largest paint; 0: it was painted before
 */
async function openPrerendered(
  browser: PrerenderingBrowser,
  site: string,
  slowdown: number,
  rested: boolean,
): Promise<number> {
  const { viewport, deviceScaleFactor, isMobile: mobile } = phone;
  const tab = await browser.open({}, [
    ['Emulation.setDeviceMetricsOverride', { ...viewport, deviceScaleFactor, mobile }],
    ['Network.emulateNetworkConditions', network],
    ['Emulation.setCPUThrottlingRate', { rate: slowdown }],
  ]);
  await tab.goto(`${site}/section/politics`);
  const stories = `[...document.querySelectorAll('main article.card a[href^="/article/"]')].map(({ href }) => href)`;
  const story = (await tab.evaluate<string[]>(stories))[1] ?? '';
  await tab.until(`performance.getEntriesByName(location.origin + '/speculation-rules.json').length > 0`);
  await tab.hover(`main article.card a[href="${new URL(story).pathname}"]`);
  if (rested) {
    await tab.prerendered(story);
    await tab.untilAhead(`performance.getEntriesByType('navigation')[0].loadEventEnd > 0`);
  }
  await tab.click(pressMs);
  await tab.until(`location.href === ${JSON.stringify(story)} && !document.prerendering`);
  await tab.until(`performance.getEntriesByType('navigation')[0].loadEventEnd > 0`);
  const largest = await tab.evaluate<number>(`new Promise((resolve) => {
    const start = performance.getEntriesByType('navigation')[0].activationStart;
    if (!(start > 0)) throw new Error('The story was not prerendered.');
    let largest = 0;
    new PerformanceObserver((list) => {
      largest = list.getEntries().at(-1).startTime;
    }).observe({ type: 'largest-contentful-paint', buffered: true });
    const report = () => resolve(Math.max(0, largest - start));
    // The last picture is painted and reported within two frames.
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(report)));
  })`);
  await tab.close();
  return largest;
}

/**
 * Drives the journey and prints it: medians of the runs, of a press the longest.
 *
 * @returns how many bounds are missed
 */
export async function driveJourney(browser: Browser, site: string, runs: number): Promise<number> {
  const speed = fixedWork();
  // A processor can't be made faster.
  const slowdown = Math.max(1, phoneFixedWorkMs / speed);
  const driven: Awaited<ReturnType<typeof drive>>[] = [];
  for (let run = 0; run < runs; run++) {
    const context = await browser.newContext({ ...phone, serviceWorkers: 'block', storageState: withoutPopup(site) });
    driven.push(await drive(context, site, slowdown));
    await context.close();
  }
  const prerendering = await startPrerenderingBrowser();
  const rested: number[] = [];
  const pressed: number[] = [];
  try {
    for (let run = 0; run < runs; run++) {
      rested.push(await openPrerendered(prerendering, site, slowdown, true));
      pressed.push(await openPrerendered(prerendering, site, slowdown, false));
    }
  } finally {
    await prerendering.close();
  }
  const steps = (driven[0]?.steps ?? []).map(({ name }, at) => ({
    name,
    bound: name === 'second story',
    largest: median(driven.map((each) => each.steps[at]?.largest ?? Number.NaN)),
    shift: Math.max(...driven.map((each) => each.steps[at]?.shift ?? Number.NaN)),
  }));
  const presses = (driven[0]?.presses ?? []).map(({ name }, at) => ({
    name,
    longest: Math.max(...driven.map((each) => each.presses[at]?.ms ?? Number.NaN)),
  }));
  const prerendered = [
    { name: 'second story, prerendered', largest: median(rested), bound: true },
    // On this network, the page and its picture alone take 600 ms.
    { name: 'second story, prerendered from the press on', largest: median(pressed), bound: false },
  ];
  const figures: Figure[] = [
    ...[...steps, ...prerendered].map(({ name, largest, bound }) => ({
      what: `${name}: largest paint ms`,
      value: ms(largest),
      bound: bound ? String(most.secondStory) : '',
      holds: !bound || largest <= most.secondStory,
    })),
    ...steps.map(({ name, shift }) => ({
      what: `${name}: shift`,
      value: shift.toFixed(3),
      bound: '0',
      holds: shift < most.shift,
    })),
    ...presses.map(({ name, longest }) => ({
      what: `${name} ms`,
      value: ms(longest),
      bound: String(most.press),
      holds: longest <= most.press,
    })),
  ];
  printFigures(`A journey on a slow phone, ${runs} runs: medians of paints, the worst of shifts and presses`, figures);
  console.log(`${speedSentence(speed)} The processor was slowed down ${slowdown.toFixed(1)} times.`);
  return figures.filter(({ holds }) => !holds).length;
}
