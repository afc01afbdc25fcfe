/**
 * Values in the forms in which WordPress, PHP and Advanced Custom Fields are known to send them: numbers and booleans as text, `false`
 * or `[]` for "none", lists as objects with numbered keys, ids or whole posts. Each schema's error says what it expected.
 */
import { z } from 'zod';
import { instantAt } from '../../lib/instants.ts';
import { encodeSegment } from '../../lib/text.ts';

type Read<T> = { readonly value: T } | null;

/** A schema from a function that reads the value, or returns `null` when it can't. */
export const reading = <T>(wanted: string, read: (value: unknown) => Read<T>) =>
  z.unknown().transform((input, context): T => {
    const result = read(input);
    if (result) return result.value;
    context.issues.push({ code: 'custom', message: `expected ${wanted}`, input });
    return z.NEVER;
  });

/** Every form of "none". */
export const isNone = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === false ||
  value === '' ||
  (Array.isArray(value) && value.length === 0);

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function wholeNumber(value: unknown): number | null {
  const number = typeof value === 'string' && /^\s*-?\d+(?:\.0+)?\s*$/u.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : null;
}

/** Id of a post or term: a whole number above 0, or the same as text. */
export const id = reading('an id', (value) => {
  const number = wholeNumber(value);
  return number !== null && number > 0 ? { value: number } : null;
});

/** A whole number that may be 0; "none" is 0. */
export const count = reading('a whole number', (value) => {
  if (isNone(value)) return { value: 0 };
  const number = wholeNumber(value);
  return number !== null && number >= 0 ? { value: number } : null;
});

/** Pixels; `null` for anything else, because a picture can be measured. */
export const pixels = z.unknown().transform((value): number | null => {
  const number = wholeNumber(value);
  return number !== null && number > 0 && number < 100_000 ? number : null;
});

/** A number that may be missing. */
export const optionalNumber = reading('a number or null', (value) => {
  if (isNone(value)) return { value: null as number | null };
  const number = typeof value === 'string' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? { value: number } : null;
});

/** A boolean in PHP's many forms. */
export const flag = reading('a yes or no', (value) => {
  if (isNone(value) || value === 0 || value === '0' || value === 'false' || value === 'no') return { value: false };
  if (value === true || value === 1 || value === '1' || value === 'true' || value === 'yes' || value === 'on')
    return { value: true };
  return null;
});

/** Text; "none" and numbers become text, too. */
export const text = reading('a text', (value) => {
  if (isNone(value)) return { value: '' };
  if (typeof value === 'string') return { value };
  return typeof value === 'number' ? { value: String(value) } : null;
});

export const requiredText = z.string({ error: 'expected a text' });

export const slugText = requiredText
  .min(1, { error: 'expected a slug' })
  .max(400, { error: 'expected a slug of at most 400 characters' });

/** `{rendered}`, a bare text, or none. */
export const rendered = reading('{"rendered": text}', (value) => {
  if (isNone(value)) return { value: { rendered: '' } };
  if (typeof value === 'string') return { value: { rendered: value } };
  if (!isObject(value) || !(typeof value.rendered === 'string' || isNone(value.rendered))) return null;
  return { value: { rendered: typeof value.rendered === 'string' ? value.rendered : '' } };
});

export const requiredRendered = reading('{"rendered": text}', (value) => {
  if (typeof value === 'string') return { value: { rendered: value } };
  if (!isObject(value) || typeof value.rendered !== 'string') return null;
  return { value: { rendered: value.rendered } };
});

/** An instant as `YYYY-MM-DDTHH:MM:SSZ`, from WordPress's forms; without a zone it is UTC (fields `…_gmt`). `null` when it isn't a date. */
export function instantOf(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const match = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.\d+)?(Z|[+-]\d\d:?\d\d)?$/u.exec(value.trim());
  if (!match || match[1]?.startsWith('0000')) return null;
  const time = Date.parse(`${match[1]}T${match[2]}${match[3] ?? 'Z'}`);
  // Date.parse turns 30 February into March; if the result differs from the input, the date was invalid.
  if (Number.isNaN(time)) return null;
  const result = instantAt(time);
  const zoned = match[3] !== undefined && match[3] !== 'Z';
  return zoned || result === `${match[1]}T${match[2]}Z` ? result : null;
}

export const instant = reading('a UTC date and time', (value) => {
  const result = instantOf(value);
  return result === null ? null : { value: result };
});

/** A text that isn't empty, or `null`. */
export const textIn = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** Members of a list, of an object with numbered keys (PHP lists with gaps), or the single value itself. */
export function members(value: unknown): unknown[] {
  if (isNone(value)) return [];
  if (Array.isArray(value)) return value;
  if (isObject(value) && Object.keys(value).length > 0 && Object.keys(value).every((key) => /^\d+$/u.test(key))) {
    return Object.values(value);
  }
  return [value];
}

/** The id in an id, a post, a term, or an expanded object. */
export function idOf(value: unknown): number | null {
  const direct = isObject(value) ? (value.id ?? value.ID ?? value.term_id) : value;
  const number = wholeNumber(direct);
  return number !== null && number > 0 ? number : null;
}

/** Ordered ids from ids, posts, or a list as text (`"3,1,2"`). */
export const ids = reading('a list of ids', (value) => {
  const list = typeof value === 'string' && value.includes(',') ? value.split(',') : members(value);
  const found = list.map(idOf);
  return found.includes(null) ? null : { value: [...new Set(found as number[])] };
});

/** An object whose members may be missing; `[]` and `null` are empty objects. */
export const looseObject = reading('an object', (value) => {
  if (isNone(value)) return { value: {} as Record<string, unknown> };
  return isObject(value) ? { value } : null;
});

/**
 * WordPress stores slugs percent-encoded in lower case (`%d8%b3…`), and routers decode them. Both forms of a slug get the same key
 * here, the encoded form, because it may be part of a path and of a header.
 */
export function canonicalSlug(slug: string): string {
  let decoded = slug;
  try {
    decoded = decodeURIComponent(slug);
  } catch {
    // A stray percent sign: the slug is used unchanged.
  }
  return encodeSegment(decoded.toWellFormed().normalize('NFC').toLowerCase());
}

// Rejected documents: the fields that the log has.

/** Why a document was rejected. */
export interface Rejection {
  readonly type: string;
  readonly id: number;
  /** Path of the field, `acf.author`. */
  readonly field: string;
  /** Excerpt of the value, as JSON. */
  readonly value: string;
  readonly problem: string;
  readonly modified: string;
}

/** The id of a document that hasn't been checked; 0 where there is none. `Number` throws for some objects. */
export function idIn(raw: unknown): number {
  const given = (raw as { id?: unknown } | null | undefined)?.id;
  const id = typeof given === 'number' || typeof given === 'string' ? Number(given) : 0;
  return Number.isSafeInteger(id) && id > 0 ? id : 0;
}

/** Creates the rejection of a value that doesn't match its schema. */
export function rejectionOf(type: string, raw: unknown, error: z.ZodError): Rejection {
  const issue = error.issues[0];
  let value: unknown = raw;
  for (const key of issue?.path ?? []) value = (value as Record<PropertyKey, unknown> | null | undefined)?.[key];
  const object = (raw ?? {}) as Record<string, unknown>;
  return {
    type,
    id: idIn(object),
    field: issue?.path.map(String).join('.') || '(document)',
    value: (JSON.stringify(value) ?? 'undefined').slice(0, 200),
    problem: issue?.message ?? 'does not fit',
    modified: instantOf(object.modified_gmt) ?? '',
  };
}
