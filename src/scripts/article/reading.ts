/**
 * Counts a reading, and starts the service worker; loaded at the first scroll. A reading counts (spec section 7) when the page has been
 * visible for some seconds, once for each article and browser (`trackedArticles`, spec section 3). Failures are ignored (spec section 8).
 */
import { readStored, writeStored } from '../../lib/browser-storage.ts';
import { parseTracked, withTracked } from '../../lib/most-read/model.ts';

/** Local storage key (spec section 3). */
const name = 'trackedArticles';
/** Seconds that a page must be visible. */
const countAfter = 5;

const tracked = (): readonly number[] => parseTracked(readStored(name));

async function count(article: number, section: string | undefined): Promise<void> {
  const query = section ? `?categoryId=${section}` : '';
  try {
    const path = `/api/v1/articles/popular/increment/${article}${query}`;
    const { ok } = await fetch(path, { method: 'POST', keepalive: true });
    if (ok) writeStored(name, JSON.stringify(withTracked(tracked(), article)));
  } catch {
    // If the reading isn't counted, the reader doesn't notice.
  }
}

const { id = '', section } = document.querySelector<HTMLElement>('.story')?.dataset ?? {};
const article = Number(id);
if (article > 0 && !tracked().includes(article)) {
  let seconds = 0;
  const timer = setInterval(() => {
    if (document.visibilityState === 'visible') seconds++;
    if (seconds < countAfter) return;
    clearInterval(timer);
    // Another tab may have counted it in the meantime.
    if (!tracked().includes(article)) void count(article, section);
  }, 1000);
}

const worker = document.querySelector('[data-tools][data-worker]');

/** Milliseconds before anything else is fetched: a reader who leaves at once doesn't pay for it. */
const startAfter = 2000;

setTimeout(() => {
  if (worker && 'serviceWorker' in navigator && import.meta.env.PROD) {
    void keepStories().catch(() => {});
  }
  if (document.documentElement.dataset.visitor && document.querySelector('[data-tool="save"]')) {
    void import('./story.ts').then(({ followReader }) => followReader()).catch(() => {});
  }
}, startAfter);

/** The files of this page that the service worker keeps. */
const files = (): string[] =>
  performance
    .getEntriesByType('resource')
    .map(({ name }) => name)
    .filter((name) => name.startsWith(`${location.origin}/_assets/`) || name.startsWith(`${location.origin}/image?`));

/** Whether the browser prefetched or prerendered this page. */
function wasPrefetched(): boolean {
  const [entry] = performance.getEntriesByType('navigation');
  const { activationStart = 0, deliveryType = '' } = entry as { activationStart?: number; deliveryType?: string };
  return activationStart > 0 || deliveryType === 'navigational-prefetch';
}

/** Starts the service worker, which keeps the last stories for reading offline (docs/decisions/0021). */
async function keepStories(): Promise<void> {
  const { serviceWorker } = navigator;
  await serviceWorker.register('/sw.js');
  // The first story was loaded before the worker started, and the worker ignores stories that were only prefetched, because
  // they weren't read then.
  if (serviceWorker.controller && !wasPrefetched()) return;
  const { active } = await serviceWorker.ready;
  active?.postMessage({ keep: location.href, files: files() });
}
