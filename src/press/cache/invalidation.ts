/** Changes in the page cache: the pages that they affect, and changes that the store can't record. */
import { type Affected, type Change, type PageRef, refOf } from '../store/stored-page.ts';
import { type CacheState, forget, isEverything, nameOfRef, removePages, reportReplaced } from './cache-state.ts';

/** Most changes kept for the store, each with its tags; further ones are combined. */
const mostUnrecorded = 10_000;

/** Records a change. Withdrawn pages are removed when this returns. */
export function applyChange(state: CacheState, tags: readonly string[], withdrawn: readonly string[]): Change {
  const { access, store, changes } = state;
  const all = isEverything(state, tags);
  const recorded = isInOrder(state)
    ? access.attempt(() => store.change(tags, withdrawn, all, changes.latest))?.value
    : undefined;
  const change = recorded ?? changeWithoutStore(state, tags, withdrawn);
  if (recorded) changes.note(tags, withdrawn, recorded.seq);
  const gone = new Set([...change.withdrawn, ...unwrittenWith(state, withdrawn)].map(nameOfRef));
  for (const name of gone) forget(state, name);
  reportReplaced(state, recorded ? [...gone] : 'all');
  const affected = new Map(change.affected.map((page) => [nameOfRef(page), page]));
  for (const name of gone) affected.delete(name);
  for (const ref of unwrittenWith(state, tags)) affected.set(nameOfRef(ref), { ...ref, reads: 0 });
  return { seq: change.seq, withdrawn: [...gone].map(refOf), affected: [...affected.values()] };
}

/** Unwritten pages with one of the tags; the store doesn't know them. */
function unwrittenWith(state: CacheState, tags: readonly string[]): PageRef[] {
  const all = isEverything(state, tags);
  const found: PageRef[] = [];
  for (const [name, { page }] of state.unwritten) {
    if (page.page.asOf !== null) continue;
    if (all || page.page.tags.some((tag) => tags.includes(tag))) found.push(refOf(name));
  }
  return found;
}

/** Keeps a change until the store can record it. */
function keepForStore({ unrecorded }: CacheState, tags: readonly string[], withdrawn: readonly string[]): void {
  const last = unrecorded.length < mostUnrecorded ? undefined : unrecorded.pop();
  unrecorded.push({
    tags: [...new Set([...(last?.tags ?? []), ...tags])],
    withdrawn: [...new Set([...(last?.withdrawn ?? []), ...withdrawn])],
  });
}

/** While the store can't record a change, only pages in memory and rows that can still be read are found by tag. */
function changeWithoutStore(state: CacheState, tags: readonly string[], withdrawn: readonly string[]): Change {
  keepForStore(state, tags, withdrawn);
  const all = isEverything(state, tags);
  const gone: PageRef[] = [];
  const affected: Affected[] = [];
  for (const [name, { page, reads }] of state.lru.entries()) {
    if (page.asOf !== null) continue;
    if (page.tags.some((tag) => withdrawn.includes(tag))) gone.push(refOf(name));
    else if (all || page.tags.some((tag) => tags.includes(tag))) affected.push({ ...refOf(name), reads });
  }
  const stored = state.access.attempt(() => state.store.tagged([...tags, ...withdrawn], all))?.value;
  // The affected rows are unknown until the change is recorded, so no row of the store may be served until then.
  if (!stored) state.rowsUntrusted = true;
  for (const page of stored ?? []) {
    if (page.tags.some((tag) => withdrawn.includes(tag))) gone.push(page);
    else affected.push({ key: page.key, variant: page.variant, reads: page.reads });
  }
  for (const ref of gone) state.unusable.add(nameOfRef(ref));
  return { seq: state.changes.note(tags, withdrawn, null), withdrawn: gone, affected };
}

/** Writes what the store couldn't take before, and checks whether another process wrote. Call it about every second. */
export function catchUp(state: CacheState): void {
  catchUpWithStore(state);
  reportReplaced(state, []);
}

function catchUpWithStore(state: CacheState): void {
  const { access, store, lru, changes, unwritten, unusable } = state;
  const writes = access.attempt(() => store.foreignWrites())?.value;
  if (writes !== undefined && writes !== state.foreignWrites) {
    if (state.foreignWrites !== 0) {
      lru.epoch++;
      reportReplaced(state, 'all');
    }
    state.foreignWrites = writes;
    const latest = access.attempt(() => store.latest())?.value;
    if (latest !== undefined) changes.reach(latest);
  }
  if (unwritten.size + unusable.size + state.unrecorded.length === 0) {
    // Waiting pages may have been rendered again and written in the meantime.
    if (writes !== undefined) access.recovered();
    return;
  }
  if (!recordChanges(state) || !writePages(state)) return;
  const rest = [...unusable].map(refOf);
  if (rest.length > 0 && access.attempt(() => store.remove(rest))) unusable.clear();
  if (unwritten.size + unusable.size === 0) access.recovered();
}

/** Whether the store has recorded every change so far. If not, a withdrawal that is recorded later would also remove newer pages. */
export const isInOrder = (state: CacheState): boolean => state.unrecorded.length === 0 || recordChanges(state);

/** @returns `false` when the store still can't record one */
function recordChanges(state: CacheState): boolean {
  const { access, store, changes, unrecorded } = state;
  for (let next = unrecorded[0]; next; next = unrecorded[0]) {
    const { tags, withdrawn } = next;
    const recorded = access.attempt(() =>
      store.change(tags, withdrawn, isEverything(state, tags), changes.latest),
    )?.value;
    if (!recorded) return false;
    // These pages aren't in the scheduler's queue: each is rendered for its next reader.
    if (state.rowsUntrusted) removePages(state, [...recorded.withdrawn, ...recorded.affected]);
    unrecorded.shift();
  }
  state.rowsUntrusted = false;
  changes.reach(access.attempt(() => store.latest())?.value ?? 0);
  return true;
}

/** @returns `false` when the store still can't take one */
function writePages({ access, store, unwritten, unusable }: CacheState): boolean {
  for (const [name, { page, bodies }] of unwritten) {
    // Stored as an interim rendering, so that marks stay: a page that changed in the meantime is still in the scheduler's
    // queue.
    if (!access.attempt(() => store.put(page.page, bodies, 0, true))) return false;
    unwritten.drop(name);
    unusable.delete(name);
  }
  return true;
}
