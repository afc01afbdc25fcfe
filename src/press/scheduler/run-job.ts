/** Runs one render job: renders until the page is current, stores it, and resolves all readers' promises. */
import { backOff } from '../../lib/jobs/tasks.ts';
import { type CachedPage, createCachedPage } from '../cache/cached-page.ts';
import { onlyForOneReader } from '../cache/insertions.server.ts';
import { nameOf, type PageRef } from '../store/stored-page.ts';
import type { SharedPage } from './page-share.ts';
import { type RenderedPage, renderPage, sameAs } from './render.server.ts';
import { queued, type RenderJob, type RenderSlot, type SchedulerState, startJobsSoon } from './scheduler-state.ts';

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
  const { cache, changes, batch } = state.options;
  for (let round = 0; ; round++) {
    // A number of a change and not a time: the render has seen all changes up to it.
    const seenChange = changes.latest;
    const rendered = await renderOnce(state, job, slot, seenChange);
    // Nothing is awaited within, so that no change can come between the check and the write.
    const storeIfCurrent = () => {
      const since = changes.after(rendered.page.tags, seenChange);
      const isCurrent = since === 'nothing' && job.minChange <= seenChange;
      return { since, stored: isCurrent ? store(state, job.ref, rendered, seenChange, false) : undefined };
    };
    const mayWait = batch && job.readers.length === 0;
    const { since, stored } = mayWait ? await batch.add(storeIfCurrent) : storeIfCurrent();
    // A change that arrived while the page waited to be written has its own render.
    if (stored && job.minChange <= seenChange) return finish(state, job, stored, rendered);
    if (since !== 'withdrawn') answerEarlyReaders(state, job, rendered, seenChange);
    const inCache = cache.has(job.ref);
    if (job.readers.length === 0 && job.watchers.length === 0 && !inCache && job.minChange === 0) {
      state.jobs.delete(job.name);
      return;
    }
    if (state.stopped) throw new Error('The press is stopping.');
    // The page is still outdated and marked, but newer than the one that readers see now.
    if (round >= mostDiscarded && inCache && since !== 'withdrawn') store(state, job.ref, rendered, seenChange, true);
  }
}

async function renderOnce(
  state: SchedulerState,
  job: RenderJob,
  slot: RenderSlot,
  seenChange: number,
): Promise<RenderedPage> {
  const { options } = state;
  const { ref } = job;
  const ticket = job.unshared || !options.share ? null : await options.share.take(ref);
  if (ticket?.shared) return takeShared(state, ref, ticket.shared, seenChange);
  const started = performance.now();
  options.stats.counters.renders++;
  let isCompressing = false;
  const onRendered = (): void => {
    if (slot === 'readers') return;
    isCompressing = true;
    state.compressing++;
    startJobsSoon(state);
  };
  const asOf = options.onDemand(ref.key) ? seenChange : null;
  // Other nodes need the bytes even if they are the same as before.
  const current = () => (ticket ? undefined : options.cache.find(ref.key, ref.variant));
  const rendered = await renderPage(ref, options.render, current, asOf, { ...options, onRendered })
    .catch((error: unknown) => {
      ticket?.give(null);
      throw error;
    })
    .finally(() => {
      if (isCompressing) state.compressing--;
    });
  ticket?.give(rendered.storable ? rendered : null);
  options.onRender(performance.now() - started);
  return rendered;
}

/** A page that another node has rendered. */
function takeShared(
  { options }: SchedulerState,
  ref: PageRef,
  { page, bodies }: SharedPage,
  seenChange: number,
): RenderedPage {
  const asOf = options.onDemand(ref.key) ? seenChange : null;
  // A page with a time in the future would count as outdated (change-rows.server.ts).
  const renderedAt = Math.min(page.renderedAt, options.now());
  const taken = { ...page, version: 0, asOf, renderedAt };
  const same = asOf === null ? sameAs(options.cache.find(ref.key, ref.variant), taken) : null;
  return { page: taken, bodies: same ? {} : bodies, same, storable: true };
}

/** An outdated page is good enough for readers who came before its render began: they could have got it then. */
function answerEarlyReaders(state: SchedulerState, job: RenderJob, rendered: RenderedPage, seenChange: number): void {
  const early = job.readers.filter((reader) => reader.changeAtArrival <= seenChange);
  if (early.length === 0) return;
  job.readers = job.readers.filter((reader) => reader.changeAtArrival > seenChange);
  state.waitingReaders -= early.length;
  const { same, bodies } = rendered;
  const page = createCachedPage(
    onlyForOneReader((same ?? rendered).page),
    state.options.headersOf,
    bodies,
    same?.epoch,
    same ?? undefined,
  );
  for (const reader of early) reader.resolve(page);
}

/**
 * Stores a page, or removes it.
 *
 * @param interim the page is outdated already, and stored because readers would see an older one
 * @returns `undefined` if the render came too late
 */
function store(
  { options }: SchedulerState,
  ref: PageRef,
  rendered: RenderedPage,
  seenChange: number,
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
    if (!cache.retag(current, rendered.page.tags, seenChange)) return undefined;
    return cache.find(ref.key, ref.variant) ?? current;
  }
  const stored = cache.put(rendered.page, rendered.bodies, seenChange, interim);
  // A page that has become free no longer has a full variant.
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
  for (const watcher of job.watchers) watcher(job.ref, rendered.same ? 'unchanged' : 'refreshed');
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
  for (const watcher of watchers) watcher(ref, 'failed');
}
