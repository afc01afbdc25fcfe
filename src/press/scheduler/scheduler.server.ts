/**
 * The desk: who renders what, and when. At most one render of a page at a time; readers of a missing page and changes that
 * touch it wait for the same one. A render that a change overtook is not shown to those who came after the change.
 */
import { backOff } from '../../lib/jobs/retry.ts';
import type { Logger } from '../../lib/logging.ts';
import { createEntry, type Dress, type Entry } from '../cache/cached-page.ts';
import type { Encode } from '../cache/compressor.server.ts';
import type { Shelf } from '../cache/page-cache.server.ts';
import type { Changes } from '../cache/tag-changes.ts';
import type { Figures, PressEvent } from '../stats.ts';
import { nameOf, type PageRef } from '../store/stored-page.ts';
import { createQueue } from './priority-queue.ts';
import { type Made, make, type Render } from './render.server.ts';

/** Too many readers wait for pages that are not stored: answer 503 with Retry-After. */
export class PressBusy extends Error {
  override readonly name = 'PressBusy';
}

export type Outcome = 'refreshed' | 'unchanged' | 'failed';

/** Whoever wants to know when a page is fresh. */
export interface Watcher {
  settled(ref: PageRef, outcome: Outcome): void;
}

/** A page that has just been put on the shelf, or taken off it. */
export interface FreshPage extends PageRef {
  readonly status: number;
  readonly tags: readonly string[];
}

/** Waits between attempts, milliseconds. */
export interface RetryWaits {
  readonly baseMs: number;
  readonly capMs: number;
}

export interface DeskOptions {
  readonly shelf: Shelf;
  readonly changes: Changes;
  readonly figures: Figures;
  readonly render: Render;
  readonly dress: Dress;
  readonly encode: Encode;
  readonly build: string;
  readonly log: Logger;
  readonly now: () => number;
  /** Renders for changes at a time, beside those for readers. */
  readonly concurrency: number;
  readonly readerConcurrency: number;
  /** Readers that may wait at a time. */
  readonly mostReaders: number;
  readonly timeoutMs: number;
  readonly retry: RetryWaits;
  readonly priority: (ref: PageRef) => number;
  readonly onDemand: (key: string) => boolean;
  readonly onFresh: (page: FreshPage) => void;
  /** Told of pages that do not exist. */
  readonly onMissing: (name: string, entry: Entry) => void;
  readonly onEvent: (event: PressEvent) => void;
}

export interface Desk {
  /** Pages that wait for a render or are being rendered. */
  readonly waiting: number;
  /** Waits for a page that is not on the shelf. @throws PressBusy, RenderFailed */
  ask(ref: PageRef): Promise<Entry>;
  /**
   * Has a page rendered after the others of its importance.
   *
   * @param wanted number of the change that the render must have seen; `0`: any render will do
   */
  refresh(ref: PageRef, wanted: number, reads: number, watcher?: Watcher, behind?: boolean): void;
  has(name: string): boolean;
  /** Lets running renders end and starts no more. */
  stop(): Promise<void>;
}

interface Work {
  readonly ref: PageRef;
  readonly name: string;
  place: 'queue' | 'readers' | 'delayed' | 'running';
  wanted: number;
  rank: number;
  reads: number;
  attempts: number;
  /** On the monotonic clock, milliseconds. */
  notBefore: number;
  readers: Reader[];
  watchers: { readonly wanted: number; readonly watcher: Watcher }[];
}

/** A place in a queue, as it was taken: the work itself may move on. */
type Turn = Readonly<Pick<Work, 'rank' | 'reads' | 'notBefore'>> & { readonly work: Work };

const turnOf = (work: Work): Turn => ({ work, rank: work.rank, reads: work.reads, notBefore: work.notBefore });

interface Reader {
  /** Number of the latest change when the reader came. */
  readonly arrived: number;
  resolve(entry: Entry): void;
  reject(error: unknown): void;
}

/** Rank of what nobody waits for: warming, and pages of the build before. */
const behindAll = 1e9;
/** After so many discarded renders in a row a page under constant change is shown as far as it got. */
const patience = 3;
/** Pages rendered for changes that may wait to be compressed, beside those that are being rendered. */
const compressedAhead = 4;

export function createDesk(options: DeskOptions): Desk {
  const { shelf, changes, figures, log } = options;
  const works = new Map<string, Work>();
  const queue = createQueue<Turn>((a, b) => a.rank < b.rank || (a.rank === b.rank && a.reads > b.reads));
  const delayed = createQueue<Turn>((a, b) => a.notBefore < b.notBefore);
  let readersFirst: Work[] = [];
  const running = { queue: 0, readers: 0 };
  /** Pages of the queue that are rendered, and wait for another thread to compress them. */
  let compressing = 0;
  let waitingReaders = 0;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let pumping = false;
  let onIdle: (() => void) | null = null;

  function open(ref: PageRef, name: string, rank: number, reads: number): Work {
    const work: Work = {
      ref,
      name,
      place: 'queue',
      wanted: 0,
      rank,
      reads,
      attempts: 0,
      notBefore: 0,
      readers: [],
      watchers: [],
    };
    works.set(name, work);
    return work;
  }

  /** Starts what may start. A work that moved leaves its old place behind; `place` says which one counts. */
  function pump(): void {
    if (stopped) return;
    const clock = performance.now();
    for (let next = delayed.peek(); next && next.notBefore <= clock; next = delayed.peek()) {
      delayed.pop();
      const { work } = next;
      if (work.place !== 'delayed' || works.get(work.name) !== work || work.notBefore > clock) continue;
      work.place = 'queue';
      queue.push(turnOf(work));
    }
    while (running.readers < options.readerConcurrency) {
      const work = readersFirst.shift();
      if (!work) break;
      if (work.place === 'readers') start(work, 'readers');
    }
    while (hasRoom() && queue.size > 0) {
      const work = queue.pop()?.work;
      if (work?.place === 'queue' && works.get(work.name) === work) start(work, 'queue');
    }
    const next = delayed.peek();
    clearTimeout(timer);
    if (next) {
      timer = setTimeout(pump, Math.max(1, next.notBefore - clock));
      timer.unref();
    }
  }

  /** A page that is compressed leaves the main thread to the next one; how many may wait for that is bounded, too. */
  const hasRoom = (): boolean =>
    running.queue - compressing < options.concurrency && running.queue < options.concurrency + compressedAhead;

  function start(work: Work, lane: 'queue' | 'readers'): void {
    work.place = 'running';
    running[lane]++;
    run(work, lane)
      .catch((error: unknown) => fail(work, error))
      .finally(() => {
        running[lane]--;
        pump();
        if (running.queue + running.readers === 0) onIdle?.();
      });
  }

  async function run(work: Work, lane: 'queue' | 'readers'): Promise<void> {
    for (let round = 0; ; round++) {
      const began = changes.latest;
      const started = performance.now();
      figures.counters.renders++;
      const asOf = options.onDemand(work.ref.key) ? began : null;
      let isCompressing = false;
      const onRendered = (): void => {
        if (lane === 'readers') return;
        isCompressing = true;
        compressing++;
        pump();
      };
      const current = () => shelf.find(work.ref.key, work.ref.variant);
      const made = await make(work.ref, options.render, current, asOf, { ...options, onRendered }).finally(() => {
        if (isCompressing) compressing--;
      });
      options.onEvent({
        kind: 'render',
        ms: performance.now() - started,
        why: lane === 'readers' ? 'reader' : 'change',
      });
      // From here to the shelf nothing waits: no change can come between the look and the putting.
      const since = changes.after(made.page.tags, began);
      if (since === 'nothing' && work.wanted <= began) {
        const entry = keep(work.ref, made, began, false);
        if (entry) return finish(work, entry, made);
      }
      figures.counters.discarded++;
      if (since !== 'withdrawn') passOn(work, made, began);
      const shelved = shelf.has(work.ref);
      if (work.readers.length === 0 && work.watchers.length === 0 && !shelved && work.wanted === 0) {
        works.delete(work.name);
        return;
      }
      if (stopped) throw new Error('The press is stopping.');
      // Still out of date, still marked, but newer than what readers see now.
      if (round >= patience && shelved && since !== 'withdrawn') keep(work.ref, made, began, true);
    }
  }

  /** An outdated page is good enough for those who came before its render began, for they could have had it then. */
  function passOn(work: Work, made: Made, began: number): void {
    const early = work.readers.filter((reader) => reader.arrived <= began);
    if (early.length === 0) return;
    work.readers = work.readers.filter((reader) => reader.arrived > began);
    waitingReaders -= early.length;
    const entry = made.same ?? createEntry(made.page, options.dress, made.bodies);
    for (const reader of early) reader.resolve(entry);
  }

  /** Puts a page on the shelf, or takes it off; `undefined`: it came too late. */
  function keep(ref: PageRef, made: Made, began: number, interim: boolean): Entry | undefined {
    if (!made.storable) {
      if (interim) return undefined;
      shelf.remove(ref.variant === 'public' ? [ref, { ...ref, variant: 'full' }] : [ref]);
      const entry = createEntry(made.page, options.dress, made.bodies);
      if (made.page.status === 404) options.onMissing(nameOf(ref.key, ref.variant), entry);
      return entry;
    }
    // A full variant is for pages that ask for a level; of another page it would be a second copy.
    if (ref.variant === 'full' && made.page.access === null) {
      shelf.remove([ref]);
      return createEntry(made.page, options.dress, made.bodies);
    }
    if (made.same) {
      const current = shelf.find(ref.key, ref.variant);
      if (current?.page.version !== made.same.page.version || interim) return undefined;
      return shelf.retag(current, made.page.tags, began) ? (shelf.find(ref.key, ref.variant) ?? current) : undefined;
    }
    const entry = shelf.put(made.page, made.bodies, began, interim);
    // What is free for all has no full variant any more.
    if (entry && ref.variant === 'public' && made.page.access === null) {
      const full: PageRef = { key: ref.key, variant: 'full' };
      if (shelf.has(full)) shelf.remove([full]);
    }
    return entry;
  }

  function finish(work: Work, entry: Entry, made: Made): void {
    works.delete(work.name);
    if (made.same) figures.counters.unchanged++;
    else if (made.storable || work.wanted > 0)
      options.onFresh({ ...work.ref, status: made.page.status, tags: made.page.tags });
    waitingReaders -= work.readers.length;
    for (const reader of work.readers) reader.resolve(entry);
    for (const { watcher } of work.watchers) watcher.settled(work.ref, made.same ? 'unchanged' : 'refreshed');
  }

  function fail(work: Work, error: unknown): void {
    const cause = error instanceof Error ? error.message : String(error);
    work.attempts++;
    figures.counters.failures++;
    figures.failed({ at: options.now(), ...work.ref, cause, attempts: work.attempts });
    options.onEvent({ kind: 'failure', cause });
    const { readers, watchers } = work;
    work.readers = [];
    work.watchers = [];
    waitingReaders -= readers.length;
    // Only a page that readers see, and that is out of date, is worth trying again; another is rendered when it is asked for.
    const again = !stopped && shelf.find(work.ref.key, work.ref.variant) !== undefined;
    const wait = backOff(work.attempts, options.retry.baseMs, options.retry.capMs);
    if (again) {
      work.place = 'delayed';
      work.notBefore = performance.now() + wait;
      delayed.push(turnOf(work));
    } else {
      works.delete(work.name);
    }
    log.error(
      {
        err: error,
        page: work.ref.key,
        variant: work.ref.variant,
        attempts: work.attempts,
        ...(again && { againInMs: Math.round(wait) }),
      },
      'A page could not be rendered',
    );
    for (const reader of readers) reader.reject(error);
    for (const { watcher } of watchers) watcher.settled(work.ref, 'failed');
  }

  return {
    get waiting() {
      return works.size;
    },
    has: (name) => works.has(name),
    ask(ref) {
      if (stopped) return Promise.reject(new PressBusy('The press is stopping.'));
      if (waitingReaders >= options.mostReaders) {
        return Promise.reject(new PressBusy('Too many readers wait for pages that are not stored yet.'));
      }
      const name = nameOf(ref.key, ref.variant);
      const work = works.get(name) ?? open(ref, name, options.priority(ref), 0);
      if (work.place !== 'running' && work.place !== 'readers') {
        work.place = 'readers';
        readersFirst.push(work);
      }
      waitingReaders++;
      return new Promise((resolve, reject) => {
        work.readers.push({ arrived: changes.latest, resolve, reject });
        pump();
      });
    },
    refresh(ref, wanted, reads, watcher, behind = false) {
      const name = nameOf(ref.key, ref.variant);
      let work = works.get(name);
      if (!work) {
        work = open(ref, name, behind ? behindAll : options.priority(ref), reads);
        queue.push(turnOf(work));
      } else if (!behind && (work.place === 'delayed' || (work.place === 'queue' && work.rank === behindAll))) {
        // A new change may well have mended what made it fail; and it does not wait behind the warming.
        if (work.place === 'delayed') work.attempts = 0;
        work.place = 'queue';
        work.rank = options.priority(ref);
        work.reads = reads;
        queue.push(turnOf(work));
      }
      work.wanted = Math.max(work.wanted, wanted);
      if (watcher) work.watchers.push({ wanted, watcher });
      if (stopped) return;
      // Let a whole change get into the queue before its first page is chosen.
      if (!pumping) {
        pumping = true;
        setImmediate(() => {
          pumping = false;
          pump();
        });
      }
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      for (const work of [...works.values()]) {
        if (work.place === 'running') continue;
        works.delete(work.name);
        waitingReaders -= work.readers.length;
        for (const reader of work.readers) reader.reject(new PressBusy('The press is stopping.'));
        for (const { watcher } of work.watchers) watcher.settled(work.ref, 'failed');
      }
      readersFirst = [];
      if (running.queue + running.readers > 0) await new Promise<void>((resolve) => (onIdle = resolve));
    },
  };
}
