/** Runs Lighthouse in its mobile form on a page of a running site, in a browser that has readers' cookies. */
import { type BrowserContext, chromium } from '@playwright/test';
import lighthouse from 'lighthouse';
import type { Browser } from '../../scripts/browser.ts';
import { freePort } from '../../scripts/setup/ports.mjs';
import { categories, type PagePlan } from './plan.ts';
import { type Fetched, type Run, weigh } from './verdict.ts';

export interface LighthouseBrowser {
  /** Cookies that are set here are sent with the requests of the measured pages. */
  readonly context: BrowserContext;
  /** @returns what was seen, and the whole report, which Lighthouse’s viewer shows */
  audit(url: string, page: PagePlan): Promise<{ readonly run: Run; readonly report: string }>;
  close(): Promise<void>;
}

/** Attempts, because the browser of a busy machine can lose a recording, which says nothing about the page. */
const tries = 3;

type Report = NonNullable<Awaited<ReturnType<typeof lighthouse>>>['lhr'];

/** @param baseURL the site that readers of this browser sign in to */
export async function openLighthouse({ path, args }: Browser, baseURL: string): Promise<LighthouseBrowser> {
  const port = await freePort();
  // Lighthouse opens its pages in the browser's own context, so that is where cookies must be set.
  const context = await chromium.launchPersistentContext('', {
    baseURL,
    args: [...args, `--remote-debugging-port=${port}`],
    ...(path && { executablePath: path }),
  });
  return {
    context,
    async audit(url, { indexed }) {
      let trouble = 'nothing was said';
      for (let turn = 0; turn < tries; turn++) {
        const done = await lighthouse(
          url,
          { port, logLevel: 'silent', output: 'json', onlyCategories: [...categories] },
          { extends: 'lighthouse:default', settings: indexed ? {} : { skipAudits: ['is-crawlable'] } },
        );
        if (done && !done.lhr.runtimeError) return { run: readRun(done.lhr), report: String(done.report) };
        trouble = done?.lhr.runtimeError?.message ?? trouble;
      }
      throw new Error(`Lighthouse cannot look at ${url}: ${trouble}`);
    },
    close: () => context.close(),
  };
}

function readRun(report: Report): Run {
  const number = (audit: string): number => report.audits[audit]?.numericValue ?? Number.NaN;
  const requests = report.audits['network-requests']?.details;
  return {
    scores: Object.fromEntries(
      categories.map((name) => [name, Math.round((report.categories[name]?.score ?? Number.NaN) * 100)]),
    ) as Run['scores'],
    layoutShift: number('cumulative-layout-shift'),
    largestPaint: number('largest-contentful-paint'),
    blocked: number('total-blocking-time'),
    bytes: weigh(requests?.type === 'table' ? (requests.items as Fetched[]) : []),
    faults: faultsOf(report),
  };
}

/** Audits that count and lost points, each with the first item that it blames. */
function faultsOf(report: Report): string[] {
  return categories.flatMap((name) =>
    (report.categories[name]?.auditRefs ?? [])
      .filter(({ weight, id }) => weight > 0 && (report.audits[id]?.score ?? 1) < 0.9)
      .map(({ id }) => {
        const details = report.audits[id]?.details;
        const [first] = details?.type === 'table' ? details.items : [];
        return `${name}: ${id}${first ? ` (${blamed(first)})` : ''}`;
      }),
  );
}

/** What an item of an audit is about: an element or an address, else what it says. */
function blamed(item: object): string {
  const { node, url, description } = item as { node?: { snippet?: string }; url?: string; description?: string };
  return String(node?.snippet ?? url ?? description ?? JSON.stringify(item)).slice(0, 160);
}
