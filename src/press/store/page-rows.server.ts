/** Reading, writing and removing the rows of stored pages. All functions run inside `StoreFile.use` or `write`. */
import { crc32 } from 'node:zlib';
import { createBoundedMap } from '../../lib/bounded-map.ts';
import { encodings } from '../../lib/http/negotiation.server.ts';
import type { Logger } from '../../lib/logging.ts';
import type { StoreFile } from './sqlite-file.server.ts';
import type { Bodies, PageRef, StoredEncoding, StoredPage, Variant } from './stored-page.ts';

/** The page of this build, or else of the previous build. */
export function findPage(state: StoreState, key: string, variant: Variant): StoredPage | undefined {
  const own = readPage(state, key, variant, namespaceOf(state));
  return own ?? (state.previousNamespace === null ? undefined : readPage(state, key, variant, state.previousNamespace));
}

function readPage(state: StoreState, key: string, variant: Variant, namespace: number): StoredPage | undefined {
  const row = rowOf(state, key, variant, namespace);
  if (!row) return undefined;
  if (checksumOf(row) !== row.checksum || row.key !== key) {
    state.log.error({ key, variant }, "A stored page doesn't match its checksum; it is rendered again");
    state.file.write(() => dropRow(state, row.id));
    return undefined;
  }
  return toPage(row, buildOf(state, Number(row.ns)));
}

function rowOf({ file }: StoreState, key: string, variant: Variant, namespace: number): Row | undefined {
  const select = file.sql(`SELECT ${columns} FROM pages WHERE key = ? AND variant = ? AND ns = ?`);
  return select.get(key, variant, namespace) as Row | undefined;
}

/** Bytes of one rendering; `undefined` when it has been replaced. */
export function readBody(
  state: StoreState,
  { key, variant, version, etags }: StoredPage,
  encoding: StoredEncoding,
): Buffer | undefined {
  if (etags[encoding] === undefined) return undefined;
  const row = state.file.sql('SELECT checksum, bytes FROM bodies WHERE id = ?').get(bodyId(version, encoding));
  if (!row) {
    // The rendering was replaced in the meantime, which is normal; or only its bytes are missing, and then the page is damaged.
    const damaged = [namespaceOf(state), state.previousNamespace].some(
      (id) => id !== null && rowOf(state, key, variant, id)?.version === version,
    );
    if (damaged) dropDamaged(state, { key, variant });
    return undefined;
  }
  const { buffer, byteOffset, byteLength } = row.bytes as Uint8Array<ArrayBuffer>;
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  if (crc32(bytes, version >>> 0) === row.checksum) return bytes;
  dropDamaged(state, { key, variant });
  return undefined;
}

function dropDamaged(state: StoreState, ref: PageRef): void {
  state.log.error({ ...ref }, 'The bytes of a stored page are damaged; it is rendered again');
  state.file.write(() => removeRows(state, [ref]));
}

/**
 * Writes a rendering in place of the previous one.
 *
 * @returns its version, or `null` if one of its tags changed in the meantime and it wasn't written
 */
export function writePage(
  state: StoreState,
  page: StoredPage,
  bodies: Bodies,
  seenChange: number,
  interim: boolean,
): number | null {
  const { sql } = state.file;
  const namespace = namespaceOf(state);
  if (!interim && isOutdated(state, JSON.stringify(page.tags), seenChange)) return null;
  const old = sql(
    'SELECT id, version, kept, tags, as_of AS asOf FROM pages WHERE key = ? AND variant = ? AND ns = ?',
  ).get(page.key, page.variant, namespace);
  const version = Number(sql("UPDATE meta SET value = value + 1 WHERE name = 'version' RETURNING value").get()?.value);
  const size = Object.values(bodies).reduce((sum, bytes) => sum + bytes.byteLength, 0);
  if (old) deleteBodies(state, Number(old.version));
  const row = writeRow(state, page, version, size, namespace, old ? Number(old.id) : null);
  if (old) sql('DELETE FROM stale WHERE page = ? AND seq <= ?').run(row, seenChange);
  sql('UPDATE namespaces SET pages = pages + ?, bytes = bytes + ? WHERE id = ?').run(
    old ? 0 : 1,
    size - Number(old?.kept ?? 0),
    namespace,
  );
  for (const [encoding, bytes] of Object.entries(bodies) as [StoredEncoding, Buffer][]) {
    const checksum = crc32(bytes, version >>> 0);
    sql('INSERT OR REPLACE INTO bodies VALUES (?, ?, ?)').run(bodyId(version, encoding), checksum, bytes);
  }
  const oldTags = old?.asOf === null ? (JSON.parse(String(old.tags)) as string[]) : [];
  // A page that is rendered on demand is found only by its key.
  updateTagIndex(state, row, oldTags, page.asOf === null ? page.tags : []);
  return version;
}

/** @returns the row's id */
function writeRow(
  { file }: StoreState,
  page: StoredPage,
  version: number,
  kept: number,
  namespace: number,
  id: number | null,
): number {
  const fields = [
    version,
    page.status,
    JSON.stringify(page.headers),
    page.access,
    page.hash,
    page.size,
    JSON.stringify(page.tags),
    JSON.stringify(page.etags),
    page.renderedAt,
    page.renderMs,
    page.asOf,
  ];
  const checksum = checksumOfFields([page.key, page.variant, ...fields]);
  if (id !== null) {
    const update = file.sql(`UPDATE pages SET version = ?, status = ?, headers = ?, access = ?, hash = ?, size = ?,
      tags = ?, etags = ?, rendered_at = ?, render_ms = ?, as_of = ?, checksum = ?, kept = ? WHERE id = ?`);
    update.run(...fields, checksum, kept, id);
    return id;
  }
  const insert = file.sql(`INSERT INTO pages (version, status, headers, access, hash, size, tags, etags, rendered_at,
    render_ms, as_of, checksum, kept, key, variant, ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  return Number(insert.run(...fields, checksum, kept, page.key, page.variant, namespace).lastInsertRowid);
}

/** Replaces the tags of a rendering whose bytes didn't change; `false`: too late. */
export function retagPage(state: StoreState, page: StoredPage, seenChange: number): boolean {
  const { sql } = state.file;
  const tags = JSON.stringify(page.tags);
  if (isOutdated(state, tags, seenChange)) return false;
  const row = rowOf(state, page.key, page.variant, namespaceOf(state));
  if (row?.version !== page.version) return false;
  if (row.tags !== tags) {
    updateTagIndex(state, row.id, JSON.parse(String(row.tags)) as string[], page.tags);
    const checksum = checksumOf({ ...row, tags });
    sql('UPDATE pages SET tags = ?, checksum = ? WHERE id = ?').run(tags, checksum, row.id);
  }
  sql('DELETE FROM stale WHERE page = ? AND seq <= ?').run(row.id, seenChange);
  return true;
}

/** Updates the tag index; most renderings of a page have the tags of the previous one. */
function updateTagIndex({ file }: StoreState, page: number, old: readonly string[], tags: readonly string[]): void {
  const { sql } = file;
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

/** Removes pages of every build. */
export function removeRows(state: StoreState, refs: readonly PageRef[]): void {
  const select = state.file.sql('SELECT id FROM pages WHERE key = ? AND variant = ?');
  for (const { key, variant } of refs) for (const row of select.all(key, variant)) dropRow(state, Number(row.id));
}

/** Removes one row with its bytes, tags and mark. */
export function dropRow(state: StoreState, id: number): void {
  const { sql } = state.file;
  const row = sql('SELECT ns, version, kept FROM pages WHERE id = ?').get(id);
  if (!row) return;
  deleteBodies(state, Number(row.version));
  sql('DELETE FROM page_tags WHERE page = ?').run(id);
  sql('DELETE FROM stale WHERE page = ?').run(id);
  sql('DELETE FROM pages WHERE id = ?').run(id);
  sql('UPDATE namespaces SET pages = pages - 1, bytes = bytes - ? WHERE id = ?').run(row.kept ?? 0, row.ns ?? 0);
}

function deleteBodies({ file }: StoreState, version: number): void {
  file.sql('DELETE FROM bodies WHERE id BETWEEN ? AND ?').run(version * 4, version * 4 + 3);
}

const isReplaced = 'EXISTS (SELECT 1 FROM pages own WHERE own.key = p.key AND own.variant = p.variant AND own.ns = ?1)';

/** Deletes some pages of other builds; `false` when none are left. @param which `replaced`: only those that this build has, too */
export function pruneSome(state: StoreState, which: 'all' | 'replaced'): boolean {
  const { sql } = state.file;
  const namespace = namespaceOf(state);
  const others = which === 'all' ? 'p.ns <> ?1' : `p.ns <> ?1 AND ${isReplaced}`;
  const rows = sql(`SELECT p.id FROM pages p WHERE ${others} LIMIT 100`).all(namespace);
  for (const row of rows) dropRow(state, Number(row.id));
  if (rows.length > 0) return true;
  if (which === 'replaced') return false;
  sql('DELETE FROM namespaces WHERE id <> ?').run(namespace);
  sql('DELETE FROM tags WHERE NOT EXISTS (SELECT 1 FROM page_tags WHERE tag = tags.id)').run();
  sql(`DELETE FROM reads WHERE NOT EXISTS
    (SELECT 1 FROM pages p WHERE p.key = reads.key AND p.variant = reads.variant)`).run();
  return false;
}

// Columns and checksums of a row.

/** Milliseconds after which reads count half. */
const halfLife = 24 * 60 * 60 * 1000;
const columns = `id, ns, key, variant, version, status, headers, access, hash, size, tags, etags,
  rendered_at AS renderedAt, render_ms AS renderMs, as_of AS asOf, checksum`;

export type Row = Record<string, string | number | null> & { id: number; checksum: number };

const bodyId = (version: number, encoding: StoredEncoding): number => version * 4 + encodings.indexOf(encoding);

export const decayedReads = (score: number, at: number, now: number): number =>
  score * 2 ** (-Math.max(0, now - at) / halfLife);

export function unique(rows: readonly Record<string, unknown>[]): PageRef[] {
  const refs = new Map(rows.map((row) => [`${row.variant} ${row.key}`, row]));
  return [...refs.values()].map((row) => ({ key: String(row.key), variant: row.variant as Variant }));
}

const fieldNames = [
  'key',
  'variant',
  'version',
  'status',
  'headers',
  'access',
  'hash',
  'size',
  'tags',
  'etags',
  'renderedAt',
  'renderMs',
  'asOf',
];

/** Zero bytes separate the fields; no field contains one. */
const checksumOfFields = (values: readonly unknown[]): number => crc32(values.join('\0'));
const checksumOf = (row: Record<string, unknown>): number => checksumOfFields(fieldNames.map((name) => row[name]));

/** Pages share their headers: cached by text, equal headers are parsed and in memory once. */
const parsedHeaders = createBoundedMap<StoredPage['headers']>(256);

function headersOf(json: string): StoredPage['headers'] {
  const known = parsedHeaders.get(json);
  if (known) return known;
  const headers = Object.freeze(JSON.parse(json));
  parsedHeaders.set(json, headers);
  return headers;
}

const toPage = (row: Row, build: string): StoredPage => ({
  key: String(row.key),
  variant: row.variant as Variant,
  version: Number(row.version),
  build,
  status: Number(row.status),
  headers: headersOf(String(row.headers)),
  access: row.access as StoredPage['access'],
  hash: String(row.hash),
  size: Number(row.size),
  tags: JSON.parse(String(row.tags)),
  renderedAt: Number(row.renderedAt),
  renderMs: Number(row.renderMs),
  asOf: row.asOf === null ? null : Number(row.asOf),
  etags: JSON.parse(String(row.etags)),
});

export interface StoreState {
  readonly file: StoreFile;
  readonly build: string;
  readonly log: Logger;
  readonly now: () => number;
  readonly readOnly: boolean;
  /** Row of this build in `namespaces`; 0: not looked up yet, or the file was replaced. */
  namespace: number;
  /** Row of the previous build, whose pages are served until this build's own exist. */
  previousNamespace: number | null;
  /** Numbers of changes continue from here when the file is replaced. */
  lastChange: number;
}

/**
 * Milliseconds for which changes are remembered: longer than any render may take, and as long as a page that is rendered on demand may
 * be served without being rendered again.
 */
export const rememberChangesMs = 24 * 60 * 60 * 1000;

/** The namespace of this build, created when the file doesn't have it yet. */
export function namespaceOf(state: StoreState): number {
  if (state.namespace !== 0) return state.namespace;
  const { file, build, now } = state;
  const { sql } = file;
  if (state.readOnly) {
    state.namespace = Number(sql('SELECT id FROM namespaces WHERE build = ?').get(build)?.id ?? 0);
    return state.namespace;
  }
  file.write(() => {
    sql('INSERT OR IGNORE INTO namespaces (build, begun_at) VALUES (?, ?)').run(build, now());
    sql("UPDATE meta SET value = max(value, ?) WHERE name = 'seq'").run(state.lastChange);
    const own = sql('SELECT id, warm_at FROM namespaces WHERE build = ?').get(build);
    const other = sql('SELECT id FROM namespaces WHERE build <> ? ORDER BY begun_at DESC, id DESC LIMIT 1').get(build);
    state.previousNamespace = other && own?.warm_at === null ? Number(other.id) : null;
    sql("UPDATE meta SET value = 0 WHERE name = 'purged' AND value <> ?").run(Number(own?.id));
    state.namespace = Number(own?.id);
  });
  return state.namespace;
}

function buildOf({ namespace, build, file }: StoreState, id: number): string {
  return id === namespace ? build : String(file.sql('SELECT build FROM namespaces WHERE id = ?').get(id)?.build ?? '');
}

/** Records that this build is warm: pages of other builds are no longer served. */
export function markWarm(state: StoreState): void {
  const id = namespaceOf(state);
  state.file.sql('UPDATE namespaces SET warm_at = ? WHERE id = ?').run(state.now(), id);
  state.previousNamespace = null;
}

/** Whether {@link markWarm} was called for this build, by this process or an earlier one. */
export function isWarm(state: StoreState): boolean {
  const row = state.file.sql('SELECT warm_at FROM namespaces WHERE id = ?').get(namespaceOf(state));
  return typeof row?.warm_at === 'number';
}

/** Records that other builds' pages were purged from the CDN while this build serves; ends when another build opens the store. */
export function markPurged(state: StoreState): void {
  state.file.sql("INSERT OR REPLACE INTO meta VALUES ('purged', ?)").run(namespaceOf(state));
}

/** Whether {@link markPurged} was called for this build, and no other build has opened the store since. */
export function isPurged(state: StoreState): boolean {
  const row = state.file.sql("SELECT value FROM meta WHERE name = 'purged'").get();
  return row?.value === namespaceOf(state);
}

/** Whether one of the tags (a JSON array) changed after change number `since`. */
export function isOutdated({ file }: StoreState, tags: string, since: number): boolean {
  const some = file.sql('SELECT 1 FROM changes WHERE seq > ? AND tag IN (SELECT value FROM json_each(?)) LIMIT 1');
  const everything = file.sql("SELECT 1 FROM changes WHERE seq > ? AND tag = '' LIMIT 1");
  return some.get(since, tags) !== undefined || everything.get(since) !== undefined;
}
