/**
 * Measures how fast this page is for its reader and sends the result when the reader leaves, without anything that identifies
 * the reader.
 */
import { type VitalName, type VitalsReport, vitalsPageOf, vitalsPath } from '../lib/vitals/model.ts';

interface Shift extends PerformanceEntry {
  readonly value: number;
  readonly hadRecentInput: boolean;
}
interface Interaction extends PerformanceEntry {
  readonly interactionId?: number;
}

const values: Partial<Record<VitalName, number>> = {};
const navigation = performance.getEntriesByType('navigation')[0] as
  | (PerformanceNavigationTiming & { readonly activationStart?: number })
  | undefined;
/** For a page that was prerendered, time starts when the page is shown. */
const begun = navigation?.activationStart ?? 0;
const since = (ms: number) => Math.max(0, ms - begun) / 1000;
if (navigation && navigation.responseStart > 0) values.ttfb = since(navigation.responseStart);

function watch<Entry extends PerformanceEntry>(type: string, take: (entry: Entry) => void, more = {}) {
  try {
    const observer = new PerformanceObserver((list) => (list.getEntries() as Entry[]).forEach(take));
    observer.observe({ type, buffered: true, ...more } as PerformanceObserverInit);
    return () => (observer.takeRecords() as Entry[]).forEach(take);
  } catch {
    // This browser can't measure it.
    return () => {};
  }
}

/** Shifts less than a second apart, within five seconds, form a group; the page's value is that of the worst group. */
let [group, first, last] = [0, 0, 0];
/** Longest events of the interactions, the slowest first. */
const slowest = new Map<number, number>();

const takeRest = [
  watch('largest-contentful-paint', ({ startTime }) => {
    values.lcp = since(startTime);
  }),
  watch<Shift>('layout-shift', ({ value, hadRecentInput, startTime }) => {
    if (hadRecentInput || startTime < begun) return;
    if (startTime - last > 1000 || startTime - first > 5000) [group, first] = [0, startTime];
    last = startTime;
    group += value;
    values.cls = Math.max(values.cls ?? 0, group);
  }),
  watch<Interaction>(
    'event',
    ({ interactionId, duration }) => {
      if (interactionId) slowest.set(interactionId, Math.max(slowest.get(interactionId) ?? 0, duration));
    },
    { durationThreshold: 16 },
  ),
];
if (PerformanceObserver.supportedEntryTypes?.includes('layout-shift')) values.cls ??= 0;

let sent = false;
function send() {
  if (sent || document.visibilityState !== 'hidden') return;
  sent = true;
  for (const take of takeRest) take();
  // The 98th percentile: one of every fifty interactions, the slowest, is ignored.
  const inp = [...slowest.values()].sort((a, b) => b - a)[Math.floor(slowest.size / 50)];
  if (inp !== undefined) values.inp = inp / 1000;
  const device = innerWidth < 768 ? 'phone' : 'desktop';
  const report: VitalsReport = { page: vitalsPageOf(location.pathname), device, values };
  navigator.sendBeacon(vitalsPath, JSON.stringify(report));
}
addEventListener('visibilitychange', send);
addEventListener('pagehide', send);
