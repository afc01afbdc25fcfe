/** Compares a value with its shape: the sandbox's answers, and what pages pass to Stripe.js. */
import type { Fields, Shape, Shapes } from './shape.ts';

export interface Checking {
  readonly shapes: Shapes;
  /** Whether fields may be missing: browsers get part of an intent, an event contains only what changed. */
  readonly partial?: boolean;
}

/** The first difference, as `customer.address: …`; `null` when the value fits. */
export function difference(value: unknown, shape: Shape, checking: Checking, path = ''): string | null {
  if (typeof shape === 'string') return hasType(value, shape) ? null : wrong(path, value, shape);
  if ('is' in shape)
    return shape.is.includes(value as string) ? null : wrong(path, value, `one of ${shape.is.join(', ')}`);
  if ('any' in shape) return unionDifference(value, shape.any, checking, path);
  if ('list' in shape) {
    if (!Array.isArray(value)) return wrong(path, value, 'a list');
    return first(
      value.map((member, index) => [`${path}[${index}]`, member] as const),
      (at, member) => difference(member, shape.list, checking, at),
    );
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return wrong(path, value, nameOf(shape));
  if ('map' in shape) {
    return first(
      Object.entries(value).map(([key, member]) => [`${path}.${key}`, member] as const),
      (at, member) => difference(member, shape.map, checking, at),
    );
  }
  const fields = 'ref' in shape ? checking.shapes[shape.ref] : shape.object;
  return fields ? fieldsDifference(value, fields, checking, path) : `${path}: no shape is called ${nameOf(shape)}`;
}

const nameOf = (shape: Shape): string => (typeof shape === 'object' && 'ref' in shape ? shape.ref : 'an object');

interface Declared {
  readonly name: string;
  readonly optional: boolean;
  readonly shape: Shape;
}

const fieldLists = new WeakMap<Fields, readonly Declared[]>();

/** The fields of a shape; a question mark at the end of a name makes it optional. */
function declaredIn(fields: Fields): readonly Declared[] {
  const known = fieldLists.get(fields);
  if (known) return known;
  const list = Object.entries(fields).map(([key, shape]) => {
    const name = key.replace(/\?$/, '');
    return { name, optional: name !== key || allowsAbsence(shape), shape };
  });
  fieldLists.set(fields, list);
  return list;
}

function fieldsDifference(value: object, fields: Fields, checking: Checking, path: string): string | null {
  const at = (name: string) => (path ? `${path}.${name}` : name);
  for (const { name, optional, shape } of declaredIn(fields)) {
    const member = (value as Record<string, unknown>)[name];
    if (member === undefined) {
      if (!optional && !checking.partial) return `${at(name)}: missing`;
      continue;
    }
    const found = difference(member, shape, checking, at(name));
    if (found) return found;
  }
  const undeclared = Object.keys(value).find(
    (name) =>
      !Object.hasOwn(fields, name) &&
      !Object.hasOwn(fields, `${name}?`) &&
      (value as Record<string, unknown>)[name] !== undefined,
  );
  return undeclared === undefined ? null : `${at(undeclared)}: not declared`;
}

const allowsAbsence = (shape: Shape): boolean =>
  shape === 'any' ||
  shape === 'undefined' ||
  (typeof shape === 'object' && 'any' in shape && shape.any.includes('undefined'));

/** Compares a value with the shape of a union that fits, or else with the closest one. */
function unionDifference(value: unknown, shapes: readonly Shape[], checking: Checking, path: string): string | null {
  // Messages are written only if no shape fits: most values of a union fit its last shape.
  const fits = (shape: Shape): boolean =>
    typeof shape === 'string' ? hasType(value, shape) : difference(value, shape, checking, path) === null;
  if (shapes.some(fits)) return null;
  const found = shapes.map((shape) => difference(value, shape, checking, path));
  const scores = shapes.map((shape) => likeness(value, shape, checking));
  const best = Math.max(...scores);
  return (best !== 0 && found[scores.indexOf(best)]) || wrong(path, value, 'what is declared');
}

/**
 * How closely an object resembles a shape: by the fields that it declares, and above all by the literal that distinguishes the shapes.
 */
function likeness(value: unknown, shape: Shape, checking: Checking): number {
  if (value === null || typeof value !== 'object' || typeof shape !== 'object') return 0;
  if ('any' in shape) return Math.max(...shape.any.map((one) => likeness(value, one, checking)));
  if ('list' in shape) return Array.isArray(value) ? 1 : 0;
  const fields = ('ref' in shape ? checking.shapes[shape.ref] : 'object' in shape ? shape.object : null) ?? {};
  return Object.entries(value).reduce((sum, [name, member]) => {
    const declared = fields[name] ?? fields[`${name}?`];
    if (declared === undefined || member === undefined) return sum;
    if (declared === 'undefined') return sum - 10;
    const word = typeof declared === 'object' && 'is' in declared && declared.is.length === 1 ? declared.is[0] : null;
    return sum + (word === null ? 1 : word === member ? 10 : -10);
  }, 0);
}

function first<T>(
  members: readonly (readonly [string, T])[],
  check: (at: string, member: T) => string | null,
): string | null {
  for (const [at, member] of members) {
    const found = check(at, member);
    if (found) return found;
  }
  return null;
}

function hasType(value: unknown, word: Exclude<Shape, object>): boolean {
  switch (word) {
    case 'any':
      return true;
    case 'null':
      return value === null;
    case 'decimal':
      return typeof value === 'string' && /^-?\d+(?:\.\d+)?$/.test(value);
    case 'number':
      return typeof value === 'number' && Number.isFinite(value);
    default:
      // The other words are those that `typeof` returns.
      return typeof value === word;
  }
}

const wrong = (path: string, value: unknown, wanted: string): string =>
  `${path}: ${JSON.stringify(value)?.slice(0, 80) ?? typeof value} is not ${wanted}`;
