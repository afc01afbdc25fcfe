/** A hash of a table's rows that doesn't depend on their order or on the engine. */
import { createHash } from 'node:crypto';

/** How values of a column compare across the engines. */
type ColumnKind = 'integer' | 'real' | 'boolean' | 'json' | 'bytes' | 'text';

const kinds: Readonly<Record<string, ColumnKind>> = {
  smallint: 'integer',
  integer: 'integer',
  bigint: 'integer',
  real: 'real',
  'double precision': 'real',
  boolean: 'boolean',
  json: 'json',
  jsonb: 'json',
  bytea: 'bytes',
  text: 'text',
};

/** @param type PostgreSQL's type @throws Error for a type that has no rule here */
export function kindOf(type: string): ColumnKind {
  const kind = kinds[type] ?? (/^character varying/.test(type) ? 'text' : undefined);
  if (!kind) throw new Error(`Columns of the type ${type} can't be moved yet: add the type to row-hash.ts.`);
  return kind;
}

/**
 * Converts a value to the text from which PostgreSQL reads it.
 *
 * @param value of SQLite, integers as bigints
 */
export function asText(value: unknown, kind: ColumnKind): string | null {
  if (value === null || value === undefined) return null;
  if (kind === 'boolean') return String(value) === '0' ? 'false' : 'true';
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`;
  return kind === 'bytes' ? `\\x${Buffer.from(String(value)).toString('hex')}` : String(value);
}

/** The canonical form of a value, from the text of either engine. */
function canonical(text: string | null, kind: ColumnKind): string | null {
  if (text === null) return null;
  if (kind === 'integer') return BigInt(text).toString();
  if (kind === 'real') return String(Number(text) + 0);
  if (kind === 'json') return JSON.stringify(sorted(JSON.parse(text)));
  return text;
}

/** The value with sorted object keys, because `jsonb` doesn't keep their order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, each]) => [key, sorted(each)]));
}

export interface TableHash {
  readonly rows: number;
  /** 64 hexadecimal digits. */
  readonly hash: string;
}

/** Adds up the hashes of rows. With a sum, equal rows don't cancel each other out, as they would with an exclusive or. */
export function createTableHash(columns: readonly ColumnKind[]) {
  let sum = 0n;
  let rows = 0;
  return {
    /** @param row texts, in the order of the columns */
    add(row: readonly (string | null)[]): void {
      const values = row.map((text, at) => canonical(text, columns[at] ?? 'text'));
      const hash = createHash('sha256').update(JSON.stringify(values)).digest('hex');
      sum = BigInt.asUintN(256, sum + BigInt(`0x${hash}`));
      rows += 1;
    },
    result: (): TableHash => ({ rows, hash: sum.toString(16).padStart(64, '0') }),
  };
}
