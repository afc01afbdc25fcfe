/** Rows of the page store: columns, checksums, and back to pages. */
import { crc32 } from 'node:zlib';
import { createBoundedMap } from '../cache/bounded-map.ts';
import { type Encoding, encodings, type PageRef, type StoredPage, type Variant } from './stored-page.ts';

/** Reads count half after a day. */
const halfLife = 24 * 60 * 60 * 1000;
export const columns = `id, ns, key, variant, version, status, headers, access, hash, size, tags, etags,
  rendered_at AS renderedAt, render_ms AS renderMs, as_of AS asOf, checksum`;

export type Row = Record<string, string | number | null> & { id: number; checksum: number };

export const bodyId = (version: number, encoding: Encoding): number => version * 4 + encodings.indexOf(encoding);

export const decayed = (score: number, at: number, now: number): number =>
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

/** Zero bytes stand between the fields; none of them holds one. */
export const checksumOfFields = (values: readonly unknown[]): number => crc32(values.join('\0'));
export const checksumOf = (row: Record<string, unknown>): number =>
  checksumOfFields(fieldNames.map((name) => row[name]));

/** Pages share their headers: parsed once, they take memory once. */
const parsedHeaders = createBoundedMap<StoredPage['headers']>(256);

function headersOf(json: string): StoredPage['headers'] {
  const known = parsedHeaders.get(json);
  if (known) return known;
  const headers = Object.freeze(JSON.parse(json));
  parsedHeaders.set(json, headers);
  return headers;
}

export const toPage = (row: Row, build: string): StoredPage => ({
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
