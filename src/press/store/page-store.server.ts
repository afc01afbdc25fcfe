/**
 * The page store: pages of several builds in one SQLite file, found by key, marked as stale by tag. Every row has a checksum; a row
 * that doesn't match is dropped, and its page rendered again.
 */
import type { Logger } from '../../lib/logging.ts';
import { hasCurrent, isCurrent, markedPages, markPages, pagesWith, recordChange } from './change-rows.server.ts';
import {
  decayedReads,
  findPage,
  isPurged,
  isWarm,
  markPurged,
  markWarm,
  namespaceOf,
  pruneSome,
  readBody,
  removeRows,
  retagPage,
  type StoreState,
  writePage,
} from './page-rows.server.ts';
import { openStoreFile, type StoreFile } from './sqlite-file.server.ts';
import type { Affected, Bodies, Change, PageRef, StoredEncoding, StoredPage, Variant } from './stored-page.ts';

export interface StoreOptions {
  readonly file: string;
  /** Name of the build whose pages are written; pages of the previous build are served until this build's own exist. */
  readonly build: string;
  readonly log: Logger;
  readonly now?: () => number;
  /** Another process writes the store, and has created it. */
  readonly readOnly?: boolean;
  /** Whether a file of another version is replaced (default). */
  readonly upgrades?: boolean | undefined;
  /** Wraps the file, for tests in which writing fails. */
  readonly wrap?: (file: StoreFile) => StoreFile;
}

export interface StoreSize {
  readonly pages: number;
  /** Compressed bytes. */
  readonly bytes: number;
  /** Bytes on disk, all builds together. */
  readonly fileBytes: number;
}

/** All methods may throw `StoreUnavailable`. */
export interface PageStore {
  readonly build: string;
  /** The page of this build, else the one of the build before it. */
  find(key: string, variant: Variant): StoredPage | undefined;
  /** Whether this build's own rendering is stored, and is current. */
  has(key: string, variant: Variant): boolean;
  /** Whether a page that is rendered on demand still shows the latest state; always `true` for a page that changes find by tag. */
  isCurrent(page: StoredPage): boolean;
  /** Whether anything at all was withdrawn since change number `seq`. */
  withdrewSince(seq: number): boolean;
  /** Bytes of one rendering; `undefined` when it has been replaced. */
  body(page: StoredPage, encoding: StoredEncoding): Buffer | undefined;
  /**
   * Writes a rendering in place of the previous one.
   *
   * @param seenChange number of the latest change that the rendering has seen: marks up to it are removed, later ones stay
   * @param interim stores it even though one of its tags has changed: readers would see an older page
   * @returns its version, or `null` when one of its tags changed in the meantime and it was not written
   */
  put(page: StoredPage, bodies: Bodies, seenChange: number, interim?: boolean): number | null;
  /** Runs calls of the other methods in one transaction. @param work may run twice */
  together(work: () => void): void;
  /** Replaces the tags of a rendering whose bytes did not change; removes marks as `put` does. */
  retag(page: StoredPage, seenChange: number): boolean;
  /** Removes pages of every build. */
  remove(refs: readonly PageRef[]): void;
  /**
   * Records a change, removes withdrawn pages and marks affected ones, in one transaction.
   *
   * @param floor the number of the change is above it
   */
  change(tags: readonly string[], withdrawn: readonly string[], everything: boolean, floor: number): Change;
  /** Marks single pages, whatever their tags. */
  mark(refs: readonly PageRef[], seq: number): void;
  /** All marked pages. */
  marked(): Affected[];
  /** Pages that have one of the tags; changes nothing. */
  tagged(tags: readonly string[], everything: boolean): (Affected & { readonly tags: readonly string[] })[];
  /** Keys of the pages that other builds have stored and this one hasn't, the most read first. */
  earlierKeys(): string[];
  /** Number of the latest change. */
  latest(): number;
  addReads(reads: ReadonlyMap<string, { readonly ref: PageRef; readonly count: number }>): void;
  /** Grows with every write of another process. */
  foreignWrites(): number;
  /** Records that this build is warm: pages of other builds are no longer served. */
  markWarm(): void;
  isWarm(): boolean;
  /** Records that the CDN has no pages of other builds any more; ends when another build opens the store. */
  markPurged(): void;
  isPurged(): boolean;
  /** Deletes some pages of other builds; `false` when none are left. @param which `replaced`: only those that this build has, too */
  pruneSome(which: 'all' | 'replaced'): boolean;
  size(): StoreSize;
  onReset(listener: () => void): void;
  close(): void;
}

/** Opens the store. @throws StoreUnavailable */
export function openStore(options: StoreOptions): PageStore {
  const { build, log, now = Date.now } = options;
  const listeners: (() => void)[] = [];
  // The file may be replaced while it is opened, before there is a state.
  let state: StoreState | null = null;
  const opened = openStoreFile({
    file: options.file,
    log,
    now,
    readOnly: options.readOnly,
    upgrades: options.upgrades,
    onReset: () => {
      if (state) state.namespace = 0;
      for (const listener of listeners) listener();
    },
  });
  const file = options.wrap?.(opened) ?? opened;
  const readOnly = options.readOnly ?? false;
  state = { file, build, log, now, readOnly, namespace: 0, previousNamespace: null, lastChange: 0 };
  return methodsOver(state, listeners);
}

function methodsOver(state: StoreState, listeners: (() => void)[]): PageStore {
  const { file, build } = state;
  const { sql, use, write } = file;
  const latest = (): number => use(() => counterOf(state, 'seq'));
  state.lastChange = latest();
  use(() => namespaceOf(state));
  return {
    build,
    find: (key, variant) => use(() => findPage(state, key, variant)),
    has: (key, variant) => use(() => hasCurrent(state, { key, variant })),
    isCurrent: ({ asOf, tags, renderedAt }) =>
      asOf === null || use(() => isCurrent(state, asOf, JSON.stringify(tags), renderedAt)),
    withdrewSince: (seq) => use(() => counterOf(state, 'withdrawn') > seq),
    body: (page, encoding) => use(() => readBody(state, page, encoding)),
    put: (page, bodies, seenChange, interim = false) =>
      write(() => writePage(state, page, bodies, seenChange, interim)),
    together: (work) => write(work),
    retag: (page, seenChange) => write(() => retagPage(state, page, seenChange)),
    remove: (refs) => write(() => removeRows(state, refs)),
    change: (tags, withdrawn, everything, floor) =>
      write(() => recordChange(state, tags, withdrawn, everything, floor)),
    mark: (refs, seq) => write(() => markPages(state, refs, seq)),
    marked: () => use(() => markedPages(state, 0)),
    tagged: (tags, everything) => use(() => pagesWith(state, tags, everything)),
    earlierKeys: () => use(() => earlierKeys(state)),
    latest,
    addReads: (reads) => write(() => addReads(state, reads)),
    foreignWrites: () => use(() => Number(sql('PRAGMA data_version').get()?.data_version ?? 0)),
    markWarm: () => write(() => markWarm(state)),
    isWarm: () => use(() => isWarm(state)),
    markPurged: () => write(() => markPurged(state)),
    isPurged: () => use(() => isPurged(state)),
    pruneSome: (which) => write(() => pruneSome(state, which)),
    size: () => use(() => sizeOf(state)),
    onReset: (listener) => void listeners.push(listener),
    close: () => file.close(),
  };
}

const counterOf = ({ file }: StoreState, name: string): number =>
  Number(file.sql('SELECT value FROM meta WHERE name = ?').get(name)?.value ?? 0);

const earlierKeys = (state: StoreState): string[] =>
  state.file
    .sql(`SELECT p.key, max(coalesce(r.score, 0)) AS score FROM pages p
      LEFT JOIN reads r ON r.key = p.key AND r.variant = p.variant
      WHERE p.ns <> ?1
        AND NOT EXISTS (SELECT 1 FROM pages own WHERE own.key = p.key AND own.variant = p.variant AND own.ns = ?1)
      GROUP BY p.key ORDER BY score DESC`)
    .all(namespaceOf(state))
    .map((row) => String(row.key));

function addReads({ file, now }: StoreState, reads: Parameters<PageStore['addReads']>[0]): void {
  const at = now();
  for (const { ref, count } of reads.values()) {
    const old = file.sql('SELECT score, at FROM reads WHERE key = ? AND variant = ?').get(ref.key, ref.variant);
    const score = count + (old ? decayedReads(Number(old.score), Number(old.at), at) : 0);
    file.sql('INSERT OR REPLACE INTO reads VALUES (?, ?, ?, ?)').run(ref.key, ref.variant, score, at);
  }
}

function sizeOf(state: StoreState): StoreSize {
  const row = state.file.sql('SELECT pages, bytes FROM namespaces WHERE id = ?').get(namespaceOf(state));
  return { pages: Number(row?.pages ?? 0), bytes: Number(row?.bytes ?? 0), fileBytes: state.file.size() };
}
