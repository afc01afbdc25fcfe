/** Turns the injected render function's response into a page that can be stored. */
import type { WalledLevel } from '../../lib/content/model.ts';
import { backOff } from '../../lib/jobs/tasks.ts';
import { type CachedPage, createCachedPage } from '../cache/cached-page.ts';
import { type Encode, encodeNothing } from '../cache/compressor.server.ts';
import {
  type Bodies,
  hashOf,
  nameOf,
  type PageRef,
  type StoredPage,
  tidyTags,
  type Variant,
} from '../store/stored-page.ts';
import type { SharedPage } from './page-share.ts';
import { queued, type RenderJob, type RenderSlot, type SchedulerState, startJobs } from './scheduler-state.ts';

/** The render function's response. */
export interface Rendering {
  readonly status: number;
  /** Names in lower case, or a `Headers`. Headers of a connection or an encoding are dropped here. */
  readonly headers: Readonly<Record<string, string>> | Headers;
  readonly body: Buffer;
  /** Tags of the content that the page shows; a change of one of them renders the page again. */
  readonly tags: Iterable<string>;
  /** Access level of the page's full variant; the same in both variants. */
  readonly access?: WalledLevel | null;
  /** Whether the response may be stored; a stored page is served to everyone. */
  readonly storable: boolean;
}

/**
 * Renders one page in one variant. It gets no request, so the result can't depend on who is reading. It must read content after the
 * call, never before.
 */
export type Render = (key: string, variant: Variant) => Promise<Rendering>;

/** A render that failed: it threw, took too long, or answered with a status of 500 or above. */
export class RenderFailed extends Error {
  override readonly name = 'RenderFailed';
  /** The response, if there was one. */
  readonly rendering: Rendering | null;

  constructor(message: string, rendering: Rendering | null, cause?: unknown) {
    super(message, { cause });
    this.rendering = rendering;
  }
}

/** A page that is rendered, and not stored yet. */
export interface RenderedPage {
  readonly page: StoredPage;
  readonly bodies: Bodies;
  /** The stored page with the same bytes, headers and status: there is nothing to store. */
  readonly same: CachedPage | null;
  readonly storable: boolean;
}

/** Stored: pages, redirects and 410. A 404 isn't, so that unknown addresses don't fill the store. */
const storedStatuses: readonly number[] = [200, 301, 308, 410];

const notStored =
  /^(?:connection|keep-alive|transfer-encoding|content-length|content-encoding|etag|date|age|server-timing|trailer|upgrade)$/;

/**
 * Renders and compresses a page.
 *
 * @param current the page as it is stored now
 * @param asOf see `StoredPage.asOf`
 */
export async function renderPage(
  ref: PageRef,
  render: Render,
  current: () => CachedPage | undefined,
  asOf: number | null,
  options: {
    readonly build: string;
    readonly timeoutMs: number;
    readonly now: () => number;
    readonly encode: Encode;
    /** The page is rendered, and its compression has begun. */
    readonly onRendered?: () => void;
  },
): Promise<RenderedPage> {
  const began = performance.now();
  const rendering = await within(options.timeoutMs, render(ref.key, ref.variant));
  if (rendering.status >= 500) throw new RenderFailed(`The page answered with status ${rendering.status}.`, rendering);

  const headers: Record<string, string> = {};
  const given = rendering.headers instanceof Headers ? rendering.headers : Object.entries(rendering.headers);
  let cookies = false;
  for (const [name, value] of given) {
    const lower = name.toLowerCase();
    if (lower === 'set-cookie') cookies = true;
    else if (!notStored.test(lower)) headers[lower] = value;
  }
  // A cookie belongs to one reader: a response that sets one is never stored.
  const storable = rendering.storable && !cookies && storedStatuses.includes(rendering.status);
  const hash = hashOf(rendering.body);
  const base = {
    ...ref,
    version: 0,
    build: options.build,
    status: rendering.status,
    headers,
    access: rendering.access ?? null,
    hash,
    size: rendering.body.byteLength,
    tags: tidyTags(rendering.tags),
    renderedAt: options.now(),
    renderMs: performance.now() - began,
    asOf,
  };
  // A page that is rendered on demand is always written: that it is current is new, too.
  const same = storable && asOf === null ? sameAs(current(), base) : null;
  if (same) return { page: { ...base, etags: same.page.etags }, bodies: {}, same, storable };
  if (!storable) {
    const { bodies, etags } = encodeNothing(rendering.body);
    return { page: { ...base, etags }, bodies, same: null, storable };
  }
  const encoding = options.encode(rendering.body, headers['content-type'] ?? '');
  options.onRendered?.();
  const { bodies, etags } = await encoding;
  return { page: { ...base, etags }, bodies, same: null, storable };
}

function sameAs(current: CachedPage | undefined, rendered: Omit<StoredPage, 'etags'>): CachedPage | null {
  const page = current?.page;
  const same =
    page !== undefined &&
    page.hash === rendered.hash &&
    page.status === rendered.status &&
    page.access === rendered.access &&
    page.build === rendered.build &&
    JSON.stringify(page.headers) === JSON.stringify(rendered.headers);
  return same && current ? current : null;
}

function within<T>(ms: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new RenderFailed(`The page was not rendered within ${ms} ms.`, null)), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

// Runs one render job: renders until the page is current, stores it, and resolves all readers' promises.

/** After this many discarded renders in a row, a page under constant change is shown in its latest state. */
const mostDiscarded = 3;

/** Runs a job to its end; never rejects. */
export async function runJob(state: SchedulerState, job: RenderJob, slot: RenderSlot): Promise<void> {
  try {
    await renderUntilCurrent(state, job, slot);
  } catch (error) {
    fail(state, job, error);
  }
}

async function renderUntilCurrent(state: SchedulerState, job: RenderJob, slot: RenderSlot): Promise<void> {
  const { cache, changes, stats } = state.options;
  for (let round = 0; ; round++) {
    const began = changes.latest;
    const rendered = await renderOnce(state, job, slot, began);
    // Nothing is awaited from here until the page is stored, so that no change can come between the check and the write.
    const since = changes.after(rendered.page.tags, began);
    if (since === 'nothing' && job.minChange <= began) {
      const stored = store(state, job.ref, rendered, began, false);
      if (stored) return finish(state, job, stored, rendered);
    }
    stats.counters.discarded++;
    if (since !== 'withdrawn') answerEarlyReaders(state, job, rendered, began);
    const inCache = cache.has(job.ref);
    if (job.readers.length === 0 && job.watchers.length === 0 && !inCache && job.minChange === 0) {
      state.jobs.delete(job.name);
      return;
    }
    if (state.stopped) throw new Error('The press is stopping.');
    // The page is still outdated and marked, but newer than the one that readers see now.
    if (round >= mostDiscarded && inCache && since !== 'withdrawn') store(state, job.ref, rendered, began, true);
  }
}

async function renderOnce(
  state: SchedulerState,
  job: RenderJob,
  slot: RenderSlot,
  began: number,
): Promise<RenderedPage> {
  const { options } = state;
  const { ref } = job;
  const ticket = job.unshared ? null : ((await options.share?.take(ref)) ?? null);
  if (ticket?.shared) return takeShared(state, ref, ticket.shared, began);
  const started = performance.now();
  options.stats.counters.renders++;
  let isCompressing = false;
  const onRendered = (): void => {
    if (slot === 'readers') return;
    isCompressing = true;
    state.compressing++;
    startJobs(state);
  };
  const asOf = options.onDemand(ref.key) ? began : null;
  // Other nodes need the bytes even if they are the same as before.
  const current = () => (ticket ? undefined : options.cache.find(ref.key, ref.variant));
  const rendering = renderPage(ref, options.render, current, asOf, { ...options, onRendered });
  const rendered = await rendering
    .catch((error: unknown) => {
      ticket?.give(null);
      throw error;
    })
    .finally(() => {
      if (isCompressing) state.compressing--;
    });
  ticket?.give(rendered.storable ? rendered : null);
  const why = slot === 'readers' ? 'reader' : 'change';
  options.onEvent({ kind: 'render', ms: performance.now() - started, why });
  return rendered;
}

/** A page that another node has rendered. */
function takeShared(
  { options }: SchedulerState,
  ref: PageRef,
  { page, bodies }: SharedPage,
  began: number,
): RenderedPage {
  const asOf = options.onDemand(ref.key) ? began : null;
  const taken = { ...page, version: 0, asOf };
  const same = asOf === null ? sameAs(options.cache.find(ref.key, ref.variant), taken) : null;
  return { page: taken, bodies: same ? {} : bodies, same, storable: true };
}

/** An outdated page is good enough for readers who came before its render began: they could have got it then. */
function answerEarlyReaders(state: SchedulerState, job: RenderJob, rendered: RenderedPage, began: number): void {
  const early = job.readers.filter((reader) => reader.arrived <= began);
  if (early.length === 0) return;
  job.readers = job.readers.filter((reader) => reader.arrived > began);
  state.waitingReaders -= early.length;
  const page = rendered.same ?? createCachedPage(rendered.page, state.options.headersOf, rendered.bodies);
  for (const reader of early) reader.resolve(page);
}

/** Stores a page, or removes it; `undefined`: the render came too late. */
function store(
  { options }: SchedulerState,
  ref: PageRef,
  rendered: RenderedPage,
  began: number,
  interim: boolean,
): CachedPage | undefined {
  const { cache, headersOf } = options;
  const full: PageRef = { key: ref.key, variant: 'full' };
  if (!rendered.storable) {
    if (interim) return undefined;
    cache.remove(ref.variant === 'public' ? [ref, full] : [ref]);
    const page = createCachedPage(rendered.page, headersOf, rendered.bodies);
    if (rendered.page.status === 404) options.onMissing(nameOf(ref.key, ref.variant), page);
    return page;
  }
  // Only a page with an access level has a full variant; for other pages it would be a second copy.
  if (ref.variant === 'full' && rendered.page.access === null) {
    cache.remove([ref]);
    return createCachedPage(rendered.page, headersOf, rendered.bodies);
  }
  if (rendered.same) {
    const current = cache.find(ref.key, ref.variant);
    if (current?.page.version !== rendered.same.page.version || interim) return undefined;
    if (!cache.retag(current, rendered.page.tags, began)) return undefined;
    return cache.find(ref.key, ref.variant) ?? current;
  }
  const stored = cache.put(rendered.page, rendered.bodies, began, interim);
  // A page that is free now has no full variant any more.
  if (stored && ref.variant === 'public' && rendered.page.access === null && cache.has(full)) cache.remove([full]);
  return stored;
}

function finish(state: SchedulerState, job: RenderJob, page: CachedPage, rendered: RenderedPage): void {
  const { options } = state;
  state.jobs.delete(job.name);
  if (rendered.same) options.stats.counters.unchanged++;
  else if (rendered.storable || job.minChange > 0)
    options.onFresh({ ...job.ref, status: rendered.page.status, tags: rendered.page.tags });
  state.waitingReaders -= job.readers.length;
  for (const reader of job.readers) reader.resolve(page);
  for (const watcher of job.watchers) watcher.settled(job.ref, rendered.same ? 'unchanged' : 'refreshed');
}

function fail(state: SchedulerState, job: RenderJob, error: unknown): void {
  const { options } = state;
  const { ref, readers, watchers } = job;
  const cause = error instanceof Error ? error.message : String(error);
  job.attempts++;
  job.readers = [];
  job.watchers = [];
  options.stats.counters.failures++;
  options.stats.failed({ at: options.now(), ...ref, cause, attempts: job.attempts });
  options.onEvent({ kind: 'failure', cause });
  state.waitingReaders -= readers.length;
  // Only an outdated page that readers see is worth another attempt; other pages are rendered on request.
  const retry = !state.stopped && options.cache.find(ref.key, ref.variant) !== undefined;
  const wait = backOff(job.attempts, options.retry.baseMs, options.retry.capMs);
  if (retry) {
    job.place = 'delayed';
    job.notBefore = performance.now() + wait;
    state.delayed.push(queued(job));
  } else {
    state.jobs.delete(job.name);
  }
  const context = { err: error, page: ref.key, variant: ref.variant, attempts: job.attempts };
  options.log.error(retry ? { ...context, againInMs: wait } : context, "A page couldn't be rendered");
  for (const reader of readers) reader.reject(error);
  for (const watcher of watchers) watcher.settled(ref, 'failed');
}
