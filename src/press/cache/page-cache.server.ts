/**
 * Memory and store as one: pages are found in memory first, and what the store cannot take just now (a full disk) is kept
 * in memory until it can. Readers notice neither a full disk nor a damaged file.
 */
import type { Logger } from '../../lib/logging.ts';
import type { Affected, Change, PageStore } from '../store/page-store.server.ts';
import { StoreUnavailable } from '../store/sqlite-file.server.ts';
import {
  type Bodies,
  type Encoding,
  nameOf,
  type PageRef,
  refOf,
  type StoredPage,
  type Variant,
} from '../store/stored-page.ts';
import { createEntry, type Dress, type Entry, type Ready, readyIn } from './cached-page.ts';
import type { Memory } from './lru.ts';
import type { Changes } from './tag-changes.ts';

export interface ShelfOptions {
  readonly store: PageStore;
  readonly memory: Memory;
  readonly changes: Changes;
  readonly dress: Dress;
  readonly log: Logger;
  readonly now: () => number;
  /** The tag that stands for every page. */
  readonly everything: string | null;
  /** Bytes of unwritten pages that are kept; beyond them the oldest are rendered again on demand. */
  readonly unwrittenBytes: number;
}

export interface Shelf {
  /** Whether something waits for the store to take it. */
  readonly troubled: boolean;
  /** Whether every change is in the store: what is not would be forgotten with this process, and old pages come back. */
  readonly noted: boolean;
  readonly unwritten: number;
  find(key: string, variant: Variant): Entry | undefined;
  /** The same without the store. */
  inMemory(key: string, variant: Variant, name?: string): Entry | undefined;
  /** A page that is made on demand and is out of date, as long as nothing was withdrawn since. */
  findOutdated(key: string, variant: Variant): Entry | undefined;
  /** Whether this build's own rendering is there, and is not one made on demand that is out of date. */
  has(ref: PageRef): boolean;
  ready(entry: Entry, encoding: Encoding): Ready | undefined;
  /** Puts a rendering on the shelf; `undefined` when it was outdated before it got there. */
  put(page: StoredPage, bodies: Bodies, began: number, interim: boolean): Entry | undefined;
  /** Takes other tags for the same bytes; `false` when that was too late. */
  retag(entry: Entry, tags: readonly string[], began: number): boolean;
  remove(refs: readonly PageRef[]): void;
  /** Notes a change; withdrawn pages are gone when this returns. */
  change(tags: readonly string[], withdrawn: readonly string[]): Change;
  mark(refs: readonly PageRef[], seq: number): void;
  /** Tries again what the store did not take, and looks whether another process wrote. Call it every second or so. */
  tend(): void;
  flushReads(): void;
  clear(): void;
}

/** Milliseconds between two log lines about a store that does not take anything. */
const quiet = 60_000;
/** Changes kept for a store that does not take them; every one of them is a set of tags. */
const mostUnnoted = 10_000;

export function createShelf(options: ShelfOptions): Shelf {
  const { store, memory, changes, dress, log, now, everything } = options;
  /** Pages that the store has not taken, complete. */
  const unwritten = new Map<string, { entry: Entry; bodies: Bodies }>();
  let unwrittenBytes = 0;
  /** Pages whose row in the store must not be used. */
  const voided = new Set<string>();
  const unnoted: { tags: readonly string[]; withdrawn: readonly string[] }[] = [];
  const reads = new Map<string, { ref: PageRef; count: number }>();
  /** Whether a change is unnoted whose pages could not be looked up in the store either. */
  let blind = false;
  let lastComplaint = Number.NEGATIVE_INFINITY;
  /** Whether the log's last word on the store is that it cannot be used. */
  let complained = false;
  let seen = 0;

  /** Runs work over the store; a store that cannot is a matter of the log and not of the caller. */
  function attempt<T>(work: () => T): { readonly value: T } | undefined {
    try {
      return { value: work() };
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      if (Math.abs(now() - lastComplaint) >= quiet) {
        lastComplaint = now();
        complained = true;
        log.error({ err: error }, 'The page store cannot be used; pages are served from memory until it can');
      }
      return undefined;
    }
  }

  function recovered(): void {
    if (complained) log.info({}, 'The page store takes pages again');
    complained = false;
  }

  function keepUnwritten(name: string, entry: Entry, bodies: Bodies): void {
    dropUnwritten(name);
    memory.delete(name);
    voided.add(name);
    unwritten.set(name, { entry, bodies });
    unwrittenBytes += entry.bytes;
    for (const [oldest, kept] of unwritten) {
      if (unwrittenBytes <= options.unwrittenBytes) break;
      unwritten.delete(oldest);
      unwrittenBytes -= kept.entry.bytes;
    }
  }

  function dropUnwritten(name: string): void {
    const kept = unwritten.get(name);
    if (!kept) return;
    unwritten.delete(name);
    unwrittenBytes -= kept.entry.bytes;
  }

  /** Whether a page that is made on demand shows the latest state; looked up once after each change. */
  function isCurrent(entry: Entry): boolean {
    if (entry.current >= changes.latest) return true;
    const { latest } = changes;
    const { tags, asOf } = entry.page;
    // Memory knows a change that the store could not take, the store one that was noted before the start.
    if (changes.after(tags, asOf ?? 0) !== 'nothing') return false;
    if (attempt(() => store.isCurrent(entry.page))?.value === false) return false;
    entry.current = latest;
    return true;
  }

  function inMemory(key: string, variant: Variant, name = nameOf(key, variant)): Entry | undefined {
    const entry = lookInMemory(key, variant, name);
    return entry === undefined || isCurrent(entry) ? entry : undefined;
  }

  function lookInMemory(key: string, variant: Variant, name: string): Entry | undefined {
    const entry = memory.get(name);
    if (entry) {
      if (entry.epoch === memory.epoch) return entry;
      const current = attempt(() => store.find(key, variant));
      if (!current) return entry;
      if (current.value?.version === entry.page.version) {
        entry.epoch = memory.epoch;
        return entry;
      }
      leave(name, entry);
      memory.delete(name);
    }
    return unwritten.size > 0 ? unwritten.get(name)?.entry : undefined;
  }

  /** What is on the shelf, current or not. */
  function look(key: string, variant: Variant): Entry | undefined {
    const name = nameOf(key, variant);
    const entry = lookInMemory(key, variant, name);
    if (entry) return entry;
    if (blind || (voided.size > 0 && voided.has(name))) return undefined;
    const page = attempt(() => store.find(key, variant))?.value;
    if (!page) return undefined;
    const found = createEntry(page, dress, {});
    memory.set(name, found);
    return found;
  }

  function leave(name: string, entry: Entry): void {
    if (entry.reads === 0) return;
    const known = reads.get(name);
    if (known) known.count += entry.reads;
    else reads.set(name, { ref: refOf(name), count: entry.reads });
    entry.reads = 0;
    if (reads.size > 5000) flushReads();
  }

  function flushReads(): void {
    for (const [name, entry] of memory.entries()) if (entry.reads > 0) leaveQuietly(name, entry);
    if (reads.size === 0) return;
    attempt(() => store.addReads(reads));
    // Counts that cannot be written are let go: they only set an order.
    reads.clear();
  }

  function leaveQuietly(name: string, entry: Entry): void {
    reads.set(name, { ref: refOf(name), count: (reads.get(name)?.count ?? 0) + entry.reads });
    entry.reads = 0;
  }

  function has(ref: PageRef): boolean {
    const name = nameOf(ref.key, ref.variant);
    if (unwritten.has(name)) return true;
    return !blind && !voided.has(name) && (attempt(() => store.has(ref.key, ref.variant))?.value ?? false);
  }

  function remove(refs: readonly PageRef[]): void {
    if (refs.length === 0) return;
    for (const ref of refs) {
      const name = nameOf(ref.key, ref.variant);
      memory.delete(name);
      dropUnwritten(name);
    }
    if (attempt(() => store.remove(refs))) for (const ref of refs) voided.delete(nameOf(ref.key, ref.variant));
    else for (const ref of refs) voided.add(nameOf(ref.key, ref.variant));
  }

  /** What a change touches among the pages that the store does not know. */
  function touched(tags: readonly string[]): PageRef[] {
    const all = everything !== null && tags.includes(everything);
    const found: PageRef[] = [];
    for (const [name, { entry }] of unwritten) {
      if (entry.page.asOf !== null) continue;
      if (all || entry.page.tags.some((tag) => tags.includes(tag))) found.push(refOf(name));
    }
    return found;
  }

  /** While the store cannot note a change, pages of memory are all that can still be found by tag. */
  function changeWithoutStore(tags: readonly string[], withdrawn: readonly string[]): Change {
    if (unnoted.length < mostUnnoted) unnoted.push({ tags, withdrawn });
    const all = everything !== null && tags.includes(everything);
    const gone: PageRef[] = [];
    const affected: Affected[] = [];
    // What lies in the store alone can be found by tag when reading it still works; a change needs writing.
    for (const [name, entry] of memory.entries()) {
      if (entry.page.asOf !== null) continue;
      if (entry.page.tags.some((tag) => withdrawn.includes(tag))) gone.push(refOf(name));
      else if (all || entry.page.tags.some((tag) => tags.includes(tag)))
        affected.push({ ...refOf(name), reads: entry.reads });
    }
    const stored = attempt(() => store.tagged([...tags, ...withdrawn], all))?.value;
    // Which of its pages show what was is not known until the change is in it: until then none of them is handed out.
    if (!stored) blind = true;
    for (const page of stored ?? []) {
      if (page.tags.some((tag) => withdrawn.includes(tag))) gone.push(page);
      else affected.push({ key: page.key, variant: page.variant, reads: page.reads });
    }
    for (const ref of gone) voided.add(nameOf(ref.key, ref.variant));
    return { seq: changes.note(tags, withdrawn, null), withdrawn: gone, affected };
  }

  store.onReset(() => {
    memory.clear();
    voided.clear();
  });

  return {
    get troubled() {
      return unwritten.size > 0 || voided.size > 0 || unnoted.length > 0;
    },
    get noted() {
      return unnoted.length === 0;
    },
    get unwritten() {
      return unwritten.size;
    },
    find(key, variant) {
      const entry = look(key, variant);
      return entry === undefined || isCurrent(entry) ? entry : undefined;
    },
    findOutdated(key, variant) {
      const entry = look(key, variant);
      if (!entry || entry.page.asOf === null) return undefined;
      const { asOf, tags } = entry.page;
      const withdrew = attempt(() => store.withdrewSince(asOf))?.value ?? true;
      return withdrew || changes.after(tags, asOf) === 'withdrawn' ? undefined : entry;
    },
    inMemory,
    has,
    ready(entry, encoding) {
      const made = entry.ready[encoding];
      if (made) return made;
      const name = nameOf(entry.page.key, entry.page.variant);
      const ready = memory.resize(name, entry, () =>
        readyIn(entry, encoding, dress, (page, wanted) => attempt(() => store.body(page, wanted))?.value),
      );
      // The rendering is no longer there: whoever looks again must not find it here.
      if (!ready && memory.get(name) === entry) memory.delete(name);
      return ready;
    },
    put(page, bodies, began, interim) {
      const name = nameOf(page.key, page.variant);
      const old = memory.get(name);
      if (old) leave(name, old);
      const written = attempt(() => store.put(page, bodies, began, interim));
      if (!written) {
        const entry = createEntry(page, dress, bodies);
        keepUnwritten(name, entry, bodies);
        return entry;
      }
      if (written.value === null) {
        // Another process noted a change: the next render begins after it.
        changes.reach(attempt(() => store.latest())?.value ?? 0);
        return undefined;
      }
      dropUnwritten(name);
      voided.delete(name);
      // Bytes of both encodings are at hand, but most pages are only ever asked for in one.
      const entry = createEntry({ ...page, version: written.value }, dress, {});
      memory.set(name, entry);
      return entry;
    },
    retag(entry, tags, began) {
      const { page } = entry;
      const name = nameOf(page.key, page.variant);
      const retagged = { ...page, tags };
      const kept = unwritten.get(name);
      if (kept) {
        unwritten.set(name, { ...kept, entry: { ...kept.entry, page: retagged } });
        return true;
      }
      const done = attempt(() => store.retag(retagged, began));
      if (done?.value === false) return false;
      if (page.tags.join() !== tags.join()) {
        memory.delete(name);
        // With its old tags in the store the page would not be found by the new ones.
        if (!done) voided.add(name);
      }
      return true;
    },
    remove,
    change(tags, withdrawn) {
      const all = everything !== null && tags.includes(everything);
      const noted = attempt(() => store.change(tags, withdrawn, all, changes.latest))?.value;
      const change = noted ?? changeWithoutStore(tags, withdrawn);
      if (noted) changes.note(tags, withdrawn, noted.seq);
      const gone = [...change.withdrawn, ...touched(withdrawn)];
      for (const ref of gone) {
        const name = nameOf(ref.key, ref.variant);
        memory.delete(name);
        dropUnwritten(name);
      }
      const affected = new Map(change.affected.map((one) => [nameOf(one.key, one.variant), one]));
      for (const ref of gone) affected.delete(nameOf(ref.key, ref.variant));
      for (const ref of touched(tags)) affected.set(nameOf(ref.key, ref.variant), { ...ref, reads: 0 });
      const names = new Set(gone.map((ref) => nameOf(ref.key, ref.variant)));
      return { seq: change.seq, withdrawn: [...names].map(refOf), affected: [...affected.values()] };
    },
    mark(refs, seq) {
      attempt(() => store.mark(refs, seq));
    },
    tend() {
      const writes = attempt(() => store.foreignWrites())?.value;
      if (writes !== undefined && writes !== seen) {
        if (seen !== 0) memory.epoch++;
        seen = writes;
        const latest = attempt(() => store.latest())?.value;
        if (latest !== undefined) changes.reach(latest);
      }
      if (unwritten.size + voided.size + unnoted.length === 0) {
        // What waited may have been made anew meanwhile, and been taken.
        if (writes !== undefined) recovered();
        return;
      }
      while (unnoted.length > 0) {
        const [{ tags, withdrawn } = { tags: [], withdrawn: [] }] = unnoted;
        const all = everything !== null && tags.includes(everything);
        const noted = attempt(() => store.change(tags, withdrawn, all, changes.latest))?.value;
        if (!noted) return;
        // Nobody has these in the queue: whoever asks next has them made.
        if (blind) remove([...noted.withdrawn, ...noted.affected]);
        unnoted.shift();
      }
      blind = false;
      changes.reach(attempt(() => store.latest())?.value ?? 0);
      for (const [name, { entry, bodies }] of unwritten) {
        // Marks stay: whatever changed since is still in the queue.
        const written = attempt(() => store.put(entry.page, bodies, 0, true));
        if (!written) return;
        dropUnwritten(name);
        voided.delete(name);
      }
      const rest = [...voided].map(refOf);
      if (rest.length > 0 && attempt(() => store.remove(rest))) voided.clear();
      if (unwritten.size + voided.size === 0) recovered();
    },
    flushReads,
    clear() {
      memory.clear();
    },
  };
}
