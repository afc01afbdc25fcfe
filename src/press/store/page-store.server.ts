/**
 * The page store: pages of several builds in one SQLite file, found by key, marked by tag. Every row carries a checksum;
 * one that does not match is dropped, and its page rendered anew.
 */
import { crc32 } from 'node:zlib';
import type { Logger } from '../../lib/logging.ts';
import { bodyId, checksumOf, checksumOfFields, columns, decayed, type Row, toPage, unique } from './rows.ts';
import { openStoreFile, type StoreFile } from './sqlite-file.server.ts';
import type { Bodies, Encoding, PageRef, StoredPage, Variant } from './stored-page.ts';

export interface StoreOptions {
  readonly file: string;
  /** Name of the build whose pages are written; pages of the build before it stand in until its own are there. */
  readonly build: string;
  readonly log: Logger;
  readonly now?: () => number;
  /** Wraps the file, for tests that let writing fail. */
  readonly wrap?: (file: StoreFile) => StoreFile;
}

/** A page that a change touches, with how much it was read. */
export interface Affected extends PageRef {
  readonly reads: number;
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
  /** Whether a page that is made on demand still shows the latest state; always so of a page that changes find. */
  isCurrent(page: StoredPage): boolean;
  /** Whether anything at all was withdrawn since change number `seq`. */
  withdrewSince(seq: number): boolean;
  /** Bytes of one rendering; `undefined` when it has been replaced. */
  body(page: StoredPage, encoding: Encoding): Buffer | undefined;
  /**
   * Writes a rendering in place of the one before.
   *
   * @param began number of the latest change when rendering began: marks up to it are removed, later ones stay
   * @returns its version, or `null` when one of its tags changed in the meantime and it was not written
   */
  put(page: StoredPage, bodies: Bodies, began: number, interim?: boolean): number | null;
  /** Takes the tags of a rendering whose bytes did not change; removes marks as `put` does. */
  retag(page: StoredPage, began: number): boolean;
  /** Removes pages of every build. */
  remove(refs: readonly PageRef[]): void;
  /**
   * Notes a change, removes what is withdrawn and marks what is affected, in one transaction.
   *
   * @param floor the number of the change is above it
   */
  change(tags: readonly string[], withdrawn: readonly string[], everything: boolean, floor: number): Change;
  /** Marks single pages, whatever their tags. */
  mark(refs: readonly PageRef[], seq: number): void;
  /** Pages that are marked. */
  marked(): Affected[];
  /** Pages that carry one of the tags, without changing anything. */
  tagged(tags: readonly string[], everything: boolean): (Affected & { readonly tags: readonly string[] })[];
  /** Keys of the pages that other builds have stored, the most read first. */
  earlierKeys(): string[];
  /** Number of the latest change. */
  latest(): number;
  addReads(reads: ReadonlyMap<string, { readonly ref: PageRef; readonly count: number }>): void;
  /** Grows with every write of another process. */
  foreignWrites(): number;
  /** Notes that this build is warm: pages of other builds are no longer asked for. */
  markWarm(): void;
  /** Deletes some pages of other builds; `false` when none are left. */
  pruneSome(): boolean;
  size(): StoreSize;
  /** Reads the whole file; says what is wrong, or `null`. Takes seconds on a large file: not for the serving process. */
  check(): string | null;
  onReset(listener: () => void): void;
  close(): void;
}

export interface Change {
  readonly seq: number;
  readonly withdrawn: readonly PageRef[];
  readonly affected: readonly Affected[];
}

/**
 * For how long changes are remembered, milliseconds: longer than any render may take, and as long as a page that is made on
 * demand may lie without being rendered again.
 */
const rememberChanges = 24 * 60 * 60 * 1000;
/** A clock that was set back makes pages of the future. */
const clockSlip = 60_000;

export function openStore(options: StoreOptions): PageStore {
  const { build, log, now = Date.now } = options;
  const listeners: (() => void)[] = [];
  let namespace = 0;
  let before: number | null = null;
  /** Numbers of changes go on from here when the file is begun anew. */
  let reached = 0;
  const opened = openStoreFile({
    file: options.file,
    log,
    now,
    onReset: () => {
      namespace = 0;
      for (const listener of listeners) listener();
    },
  });
  const file = options.wrap?.(opened) ?? opened;
  const { sql } = file;

  /** The number of this build's namespace, which a file that was begun anew does not have yet. */
  function ns(): number {
    if (namespace !== 0) return namespace;
    file.write(() => {
      sql('INSERT OR IGNORE INTO namespaces (build, begun_at) VALUES (?, ?)').run(build, now());
      sql("UPDATE meta SET value = max(value, ?) WHERE name = 'seq'").run(reached);
      const own = sql('SELECT id, warm_at FROM namespaces WHERE build = ?').get(build);
      const other = sql('SELECT id FROM namespaces WHERE build <> ? ORDER BY begun_at DESC, id DESC LIMIT 1').get(
        build,
      );
      before = other && own?.warm_at === null ? Number(other.id) : null;
      namespace = Number(own?.id);
    });
    return namespace;
  }

  function buildOf(id: number): string {
    return id === namespace ? build : String(sql('SELECT build FROM namespaces WHERE id = ?').get(id)?.build ?? '');
  }

  function read(key: string, variant: Variant, id: number): StoredPage | undefined {
    const row = rowOf(key, variant, id);
    if (!row) return undefined;
    if (checksumOf(row) !== row.checksum || row.key !== key) {
      log.error({ key, variant }, 'A stored page does not match its checksum; it is rendered anew');
      file.write(() => drop(row.id));
      return undefined;
    }
    return toPage(row, buildOf(Number(row.ns)));
  }

  function rowOf(key: string, variant: Variant, id: number): Row | undefined {
    return sql(`SELECT ${columns} FROM pages WHERE key = ? AND variant = ? AND ns = ?`).get(key, variant, id) as
      | Row
      | undefined;
  }

  function drop(id: number): void {
    const row = sql('SELECT ns, version, kept FROM pages WHERE id = ?').get(id);
    if (!row) return;
    deleteBodies(Number(row.version));
    sql('DELETE FROM page_tags WHERE page = ?').run(id);
    sql('DELETE FROM stale WHERE page = ?').run(id);
    sql('DELETE FROM pages WHERE id = ?').run(id);
    sql('UPDATE namespaces SET pages = pages - 1, bytes = bytes - ? WHERE id = ?').run(row.kept ?? 0, row.ns ?? 0);
  }

  function deleteBodies(version: number): void {
    sql('DELETE FROM bodies WHERE id BETWEEN ? AND ?').run(version * 4, version * 4 + 3);
  }

  /** Brings the tag index in line; most renderings of a page have the tags of the one before. */
  function index(page: number, old: readonly string[], tags: readonly string[]): void {
    const had = new Set(old);
    const has = new Set(tags);
    for (const tag of tags) {
      if (had.has(tag)) continue;
      sql('INSERT OR IGNORE INTO tags (name) VALUES (?)').run(tag);
      sql('INSERT OR IGNORE INTO page_tags (tag, page) SELECT id, ? FROM tags WHERE name = ?').run(page, tag);
    }
    for (const tag of old) {
      if (has.has(tag)) continue;
      sql('DELETE FROM page_tags WHERE page = ? AND tag = (SELECT id FROM tags WHERE name = ?)').run(page, tag);
    }
  }

  /** A page that is made on demand is found by its key alone. */
  const indexed = (page: Pick<StoredPage, 'tags' | 'asOf'>): readonly string[] => (page.asOf === null ? page.tags : []);

  function outdated(tags: string, began: number): boolean {
    const row = sql('SELECT 1 FROM changes WHERE seq > ? AND tag IN (SELECT value FROM json_each(?)) LIMIT 1');
    const all = sql("SELECT 1 FROM changes WHERE seq > ? AND tag = '' LIMIT 1");
    return row.get(began, tags) !== undefined || all.get(began) !== undefined;
  }

  function isCurrent(asOf: number, tags: string, renderedAt: number): boolean {
    const age = now() - renderedAt;
    return age <= rememberChanges && age >= -clockSlip && !outdated(tags, asOf);
  }

  function lose(key: string, variant: Variant): void {
    log.error({ key, variant }, 'The bytes of a stored page are damaged; it is rendered anew');
    store.remove([{ key, variant }]);
  }

  const store: PageStore = {
    build,
    find: (key, variant) =>
      file.use(() => {
        const own = read(key, variant, ns());
        return own ?? (before === null ? undefined : read(key, variant, before));
      }),
    has: (key, variant) =>
      file.use(() => {
        const row = sql(`SELECT as_of AS asOf, tags, rendered_at AS renderedAt FROM pages
          WHERE key = ? AND variant = ? AND ns = ?`).get(key, variant, ns());
        if (!row || row.asOf === null) return row !== undefined;
        return isCurrent(Number(row.asOf), String(row.tags), Number(row.renderedAt));
      }),
    isCurrent: ({ asOf, tags, renderedAt }) =>
      asOf === null || file.use(() => isCurrent(asOf, JSON.stringify(tags), renderedAt)),
    withdrewSince: (seq) =>
      file.use(() => Number(sql("SELECT value FROM meta WHERE name = 'withdrawn'").get()?.value ?? 0) > seq),
    body: ({ key, variant, version, etags }, encoding) =>
      file.use(() => {
        if (etags[encoding] === undefined) return undefined;
        const row = sql('SELECT checksum, bytes FROM bodies WHERE id = ?').get(bodyId(version, encoding));
        if (!row) {
          // Replaced in the meantime, which is nothing; or lost, and then the page is lost, too.
          const lost = [ns(), before].some((id) => id !== null && rowOf(key, variant, id)?.version === version);
          if (lost) lose(key, variant);
          return undefined;
        }
        const { buffer, byteOffset, byteLength } = row.bytes as Uint8Array<ArrayBuffer>;
        const bytes = Buffer.from(buffer, byteOffset, byteLength);
        if (crc32(bytes, version >>> 0) === row.checksum) return bytes;
        lose(key, variant);
        return undefined;
      }),
    put: (page, bodies, began, interim = false) =>
      file.write(() => {
        const id = ns();
        const tags = JSON.stringify(page.tags);
        if (!interim && outdated(tags, began)) return null;
        const old = sql(
          'SELECT id, version, kept, tags, as_of AS asOf FROM pages WHERE key = ? AND variant = ? AND ns = ?',
        ).get(page.key, page.variant, id);
        const version = Number(
          sql("UPDATE meta SET value = value + 1 WHERE name = 'version' RETURNING value").get()?.value,
        );
        const kept = Object.values(bodies).reduce((sum, bytes) => sum + bytes.byteLength, 0);
        const fields = [
          version,
          page.status,
          JSON.stringify(page.headers),
          page.access,
          page.hash,
          page.size,
          tags,
          JSON.stringify(page.etags),
          page.renderedAt,
          page.renderMs,
          page.asOf,
        ];
        const checksum = checksumOfFields([page.key, page.variant, ...fields]);
        let row = Number(old?.id ?? 0);
        if (old) {
          deleteBodies(Number(old.version));
          sql(`UPDATE pages SET version = ?, status = ?, headers = ?, access = ?, hash = ?, size = ?, tags = ?, etags = ?,
            rendered_at = ?, render_ms = ?, as_of = ?, checksum = ?, kept = ? WHERE id = ?`).run(
            ...fields,
            checksum,
            kept,
            row,
          );
          sql('DELETE FROM stale WHERE page = ? AND seq <= ?').run(row, began);
        } else {
          row = Number(
            sql(`INSERT INTO pages (version, status, headers, access, hash, size, tags, etags, rendered_at, render_ms,
              as_of, checksum, kept, key, variant, ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`).run(
              ...fields,
              checksum,
              kept,
              page.key,
              page.variant,
              id,
            ).lastInsertRowid,
          );
        }
        sql('UPDATE namespaces SET pages = pages + ?, bytes = bytes + ? WHERE id = ?').run(
          old ? 0 : 1,
          kept - Number(old?.kept ?? 0),
          id,
        );
        for (const [encoding, bytes] of Object.entries(bodies) as [Encoding, Buffer][]) {
          const sum = crc32(bytes, version >>> 0);
          sql('INSERT OR REPLACE INTO bodies VALUES (?, ?, ?)').run(bodyId(version, encoding), sum, bytes);
        }
        const before = old?.asOf === null ? (JSON.parse(String(old.tags)) as string[]) : [];
        index(row, before, indexed(page));
        return version;
      }),
    retag: (page, began) =>
      file.write(() => {
        const tags = JSON.stringify(page.tags);
        if (outdated(tags, began)) return false;
        const row = rowOf(page.key, page.variant, ns());
        if (row?.version !== page.version) return false;
        if (row.tags !== tags) {
          index(row.id, JSON.parse(String(row.tags)) as string[], page.tags);
          const checksum = checksumOf({ ...row, tags });
          sql('UPDATE pages SET tags = ?, checksum = ? WHERE id = ?').run(tags, checksum, row.id);
        }
        sql('DELETE FROM stale WHERE page = ? AND seq <= ?').run(row.id, began);
        return true;
      }),
    remove: (refs) =>
      file.write(() => {
        for (const { key, variant } of refs) {
          for (const row of sql('SELECT id FROM pages WHERE key = ? AND variant = ?').all(key, variant))
            drop(Number(row.id));
        }
      }),
    change: (tags, withdrawn, everything, floor) =>
      file.write(() => {
        ns();
        const seq = Number(
          sql("UPDATE meta SET value = max(value, ?) + 1 WHERE name = 'seq' RETURNING value").get(floor)?.value,
        );
        reached = seq;
        const at = now();
        const note = sql('INSERT OR REPLACE INTO changes (tag, seq, at) VALUES (?, ?, ?)');
        for (const tag of [...tags, ...withdrawn]) note.run(tag, seq, at);
        if (withdrawn.length > 0) sql("UPDATE meta SET value = ? WHERE name = 'withdrawn'").run(seq);
        if (everything) note.run('', seq, at);
        sql('DELETE FROM changes WHERE at < ?').run(at - rememberChanges);
        const gone = sql(`SELECT DISTINCT p.id, p.key, p.variant FROM tags t JOIN page_tags x ON x.tag = t.id
          JOIN pages p ON p.id = x.page WHERE t.name IN (SELECT value FROM json_each(?))`).all(
          JSON.stringify(withdrawn),
        );
        for (const row of gone) drop(Number(row.id));
        const touched = everything
          ? sql('INSERT OR REPLACE INTO stale (page, seq, since) SELECT id, ?, ? FROM pages WHERE as_of IS NULL')
          : sql(`INSERT OR REPLACE INTO stale (page, seq, since) SELECT DISTINCT x.page, ?, ? FROM tags t
              JOIN page_tags x ON x.tag = t.id WHERE t.name IN (SELECT value FROM json_each(?))`);
        if (everything) touched.run(seq, at);
        else touched.run(seq, at, JSON.stringify(tags));
        return { seq, withdrawn: unique(gone), affected: list(seq) };
      }),
    mark: (refs, seq) =>
      file.write(() => {
        for (const { key, variant } of refs) {
          sql(
            'INSERT OR REPLACE INTO stale (page, seq, since) SELECT id, ?, ? FROM pages WHERE key = ? AND variant = ?',
          ).run(seq, now(), key, variant);
        }
      }),
    marked: () =>
      file.use(() => {
        ns();
        return list(0);
      }),
    tagged: (tags, everything) =>
      file.use(() => {
        const rows = everything
          ? sql('SELECT key, variant, tags FROM pages WHERE as_of IS NULL').all()
          : sql(`SELECT DISTINCT p.key, p.variant, p.tags FROM tags t JOIN page_tags x ON x.tag = t.id
              JOIN pages p ON p.id = x.page WHERE t.name IN (SELECT value FROM json_each(?))`).all(
              JSON.stringify(tags),
            );
        return rows.map((row) => ({
          key: String(row.key),
          variant: row.variant as Variant,
          reads: 0,
          tags: JSON.parse(String(row.tags)) as string[],
        }));
      }),
    earlierKeys: () =>
      file.use(() =>
        sql(`SELECT p.key, max(coalesce(r.score, 0)) AS score FROM pages p
          LEFT JOIN reads r ON r.key = p.key AND r.variant = p.variant
          WHERE p.ns <> ? GROUP BY p.key ORDER BY score DESC`)
          .all(ns())
          .map((row) => String(row.key)),
      ),
    latest: () => file.use(() => Number(sql("SELECT value FROM meta WHERE name = 'seq'").get()?.value ?? 0)),
    addReads: (reads) =>
      file.write(() => {
        const at = now();
        for (const { ref, count } of reads.values()) {
          const old = sql('SELECT score, at FROM reads WHERE key = ? AND variant = ?').get(ref.key, ref.variant);
          const score = count + (old ? decayed(Number(old.score), Number(old.at), at) : 0);
          sql('INSERT OR REPLACE INTO reads VALUES (?, ?, ?, ?)').run(ref.key, ref.variant, score, at);
        }
      }),
    foreignWrites: () => file.use(() => Number(sql('PRAGMA data_version').get()?.data_version ?? 0)),
    markWarm: () =>
      file.write(() => {
        sql('UPDATE namespaces SET warm_at = ? WHERE id = ?').run(now(), ns());
        before = null;
      }),
    pruneSome: () =>
      file.write(() => {
        const rows = sql('SELECT id, key, variant FROM pages WHERE ns <> ? LIMIT 100').all(ns());
        for (const row of rows) drop(Number(row.id));
        if (rows.length > 0) return true;
        sql('DELETE FROM namespaces WHERE id <> ?').run(ns());
        sql('DELETE FROM tags WHERE NOT EXISTS (SELECT 1 FROM page_tags WHERE tag = tags.id)').run();
        sql(
          'DELETE FROM reads WHERE NOT EXISTS (SELECT 1 FROM pages p WHERE p.key = reads.key AND p.variant = reads.variant)',
        ).run();
        return false;
      }),
    size: () =>
      file.use(() => {
        const row = sql('SELECT pages, bytes FROM namespaces WHERE id = ?').get(ns());
        return { pages: Number(row?.pages ?? 0), bytes: Number(row?.bytes ?? 0), fileBytes: file.size() };
      }),
    check: () =>
      file.use(() => {
        const found = String(sql('PRAGMA quick_check(1)').get()?.quick_check ?? 'nothing was answered');
        return found === 'ok' ? null : found;
      }),
    onReset: (listener) => void listeners.push(listener),
    close: () => file.close(),
  };

  /** Marked pages of this build and of the one before it; `seq` 0 lists all. */
  function list(seq: number): Affected[] {
    const rows = sql(`SELECT p.key, p.variant, max(coalesce(r.score, 0)) AS score, max(coalesce(r.at, 0)) AS at
      FROM stale s JOIN pages p ON p.id = s.page LEFT JOIN reads r ON r.key = p.key AND r.variant = p.variant
      WHERE (s.seq = ? OR ? = 0) AND p.ns IN (?, ?) GROUP BY p.key, p.variant`).all(
      seq,
      seq,
      namespace,
      before ?? namespace,
    );
    const at = now();
    return rows.map((row) => ({
      key: String(row.key),
      variant: row.variant as Variant,
      reads: decayed(Number(row.score), Number(row.at), at),
    }));
  }

  file.use(() => {
    reached = store.latest();
    ns();
  });
  return store;
}
