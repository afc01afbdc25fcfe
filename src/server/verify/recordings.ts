/**
 * Holds a stand-in against what its service answered to the same questions (`npm run verify -- --record`). A stand-in may say less than the
 * service; it may answer with no other status, no other media type, no field that the service does not have and no other type of a field.
 */
import type { Exchange } from './record.ts';

/** Types that were seen at each place of a body, `data[].id` → `string`. */
type Shape = Map<string, Set<string>>;

interface Operation {
  readonly statuses: ReadonlySet<number>;
  /** By status: media types, and the shape of the bodies. */
  readonly answers: ReadonlyMap<number, { readonly types: Set<string>; readonly shape: Shape }>;
}

/**
 * @param service what the service answered
 * @param standIn what the stand-in answers to the same checks
 * @returns what the stand-in does otherwise, a sentence each
 */
export function differences(service: readonly Exchange[], standIn: readonly Exchange[]): string[] {
  const real = operationsOf(service);
  const own = operationsOf(standIn);
  const common = [...own].filter(([name]) => real.has(name));
  if (common.length === 0) return ['The two have no request in common.'];
  return common.flatMap(([name, operation]) => {
    const there = real.get(name);
    return there ? differencesOf(name, there, operation) : [];
  });
}

function differencesOf(name: string, there: Operation, here: Operation): string[] {
  const list = (values: Iterable<unknown>): string => [...values].toSorted().join(', ');
  const found: string[] = [];
  if (list(there.statuses) !== list(here.statuses))
    found.push(`${name}: the service answers ${list(there.statuses)}, the stand-in ${list(here.statuses)}`);
  for (const [status, { types, shape }] of here.answers) {
    const real = there.answers.get(status);
    if (!real) continue;
    if (list(types) !== list(real.types))
      found.push(`${name} ${status}: the service sends ${list(real.types)}, the stand-in ${list(types)}`);
    for (const [place, kinds] of shape) {
      const known = real.shape.get(place);
      // Of what is null or empty there, nothing more is known.
      if (!known) {
        if (!isOpen(real.shape, place)) found.push(`${name} ${status}: the service has no ${place}`);
        continue;
      }
      const strange = [...kinds].filter((kind) => kind !== 'null' && !known.has(kind));
      if (strange.length > 0 && list(known) !== 'null')
        found.push(`${name} ${status}: ${place} is ${list(known)} at the service, ${list(strange)} at the stand-in`);
    }
  }
  return found;
}

/** Whether the recording says nothing of what a place could hold: it lies below a null, or below an empty list or object. */
function isOpen(shape: Shape, place: string): boolean {
  const ends = [...place.matchAll(/\.|\[\]/g)].map(({ index }) => index).toReversed();
  const parent = ends.map((end) => place.slice(0, end)).find((one) => shape.has(one));
  if (parent === undefined) return false;
  const isEmpty = ![...shape.keys()].some((one) => one.length > parent.length && one.startsWith(parent));
  return isEmpty || shape.get(parent)?.has('null') === true;
}

function operationsOf(exchanges: readonly Exchange[]): Map<string, Operation> {
  const operations = new Map<
    string,
    { statuses: Set<number>; answers: Map<number, { types: Set<string>; shape: Shape }> }
  >();
  for (const { request, response } of exchanges) {
    const name = `${request.method} ${templateOf(new URL(request.url).pathname)}`;
    const operation = operations.get(name) ?? { statuses: new Set(), answers: new Map() };
    operations.set(name, operation);
    operation.statuses.add(response.status);
    const answer = operation.answers.get(response.status) ?? { types: new Set(), shape: new Map() };
    operation.answers.set(response.status, answer);
    const type = response.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
    if (type) answer.types.add(type);
    note(answer.shape, response.body, '(body)');
  }
  return operations;
}

/** A path with ids left out: `/v1/customers/cus_Q1w2` → `/v1/customers/*`. */
const templateOf = (path: string): string =>
  path
    .split('/')
    .map((part) => (/^(?:\d+|[a-z]+_\w{4,}|[\da-f-]{16,}|\[redacted\]|%5Bredacted%5D)$/i.test(part) ? '*' : part))
    .join('/');

/** Fields whose names are the caller's own. */
const callersOwn = /(?:^|\.)metadata$/;

function note(shape: Shape, value: unknown, place: string): void {
  const kind = value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value;
  shape.set(place, (shape.get(place) ?? new Set()).add(kind));
  if (Array.isArray(value)) for (const each of value) note(shape, each, `${place}[]`);
  else if (kind === 'object' && !callersOwn.test(place))
    for (const [name, inner] of Object.entries(value as object)) note(shape, inner, `${place}.${name}`);
}
