/** Documents that do not fit: what is told of them. */
import type { z } from 'zod';
import { instantOf } from './values.ts';

/** Why a document was set aside. */
export interface Rejection {
  readonly type: string;
  readonly id: number;
  /** Path of the field, `acf.author`. */
  readonly field: string;
  /** Excerpt of what came, as JSON. */
  readonly value: string;
  readonly problem: string;
  readonly modified: string;
}

/** Builds the rejection of a value that does not match its schema. */
export function rejectionOf(type: string, raw: unknown, error: z.ZodError): Rejection {
  const issue = error.issues[0];
  let value: unknown = raw;
  for (const key of issue?.path ?? []) value = (value as Record<PropertyKey, unknown> | null | undefined)?.[key];
  const object = (raw ?? {}) as Record<string, unknown>;
  const id = Number(object.id);
  return {
    type,
    id: Number.isSafeInteger(id) && id > 0 ? id : 0,
    field: issue?.path.map(String).join('.') || '(document)',
    value: (JSON.stringify(value) ?? 'undefined').slice(0, 200),
    problem: issue?.message ?? 'does not fit',
    modified: instantOf(object.modified_gmt) ?? '',
  };
}
