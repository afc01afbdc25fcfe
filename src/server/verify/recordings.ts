/**
 * Compares a stand-in with its service's recorded responses to the same requests (`npm run verify -- --record`). A stand-in may have
 * fewer fields than the service, but no other status, no other media type, no field that the service lacks and no other type of a
 * field.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Types seen at each path of a body, `data[].id` → `string`. */
type Shape = Map<string, Set<string>>;

interface Operation {
  readonly statuses: ReadonlySet<number>;
  /** By status: media types, and the shape of the bodies. */
  readonly answers: ReadonlyMap<number, { readonly types: Set<string>; readonly shape: Shape }>;
}

/**
 * @param service the service's responses
 * @param standIn the stand-in's responses to the same checks
 * @returns the differences, a sentence each
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
      // A null or empty value in the recording says nothing about deeper fields.
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

/** Whether the recording lacks the type at a path: it is below a null, or below an empty list or object. */
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

/** Objects whose field names the caller chooses. */
const callersOwn = /(?:^|\.)metadata$/;

function note(shape: Shape, value: unknown, place: string): void {
  const kind = value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value;
  shape.set(place, (shape.get(place) ?? new Set()).add(kind));
  if (Array.isArray(value)) for (const each of value) note(shape, each, `${place}[]`);
  else if (kind === 'object' && !callersOwn.test(place))
    for (const [name, inner] of Object.entries(value as object)) note(shape, inner, `${place}.${name}`);
}

// `npm run verify -- --record` keeps requests and responses without keys, secrets and personal data.

/** One recorded request with its response. */
export interface Exchange {
  readonly request: { readonly method: string; readonly url: string; readonly body: unknown };
  readonly response: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: unknown;
  };
}

/** The content of a file in `sandbox/recorded`: the exchanges with one service. */
export interface Recording {
  readonly service: string;
  /** Day of the recording, `2026-11-23`. */
  readonly recorded: string;
  /** Hosts that responded; the sandbox's own are 127.0.0.1. */
  readonly hosts: readonly string[];
  readonly exchanges: readonly Exchange[];
}

export interface Recorder {
  /** A `fetch` that records every exchange. */
  readonly fetch: typeof globalThis.fetch;
  /** Names the service of the following requests. */
  begin(service: string): void;
  /** One recording for each service that was called. */
  recordings(): Recording[];
  /** Writes one file for each service and returns their paths. */
  save(folder: string): string[];
}

/** Response headers that belong to the protocol. */
const keptHeaders = ['content-type', 'retry-after', 'stripe-version', 'idempotency-key', 'x-wp-total', 'location'];
const longestBody = 256 * 1024;

/** @param secrets texts that must not be recorded, such as the keys in the settings */
export function createRecorder(inner: typeof globalThis.fetch, secrets: readonly string[]): Recorder {
  const kept = new Map<string, Exchange[]>();
  let service = 'other';
  const recordings = (): Recording[] =>
    [...kept].map(([name, exchanges]) => ({
      service: name,
      recorded: new Date().toISOString().slice(0, 10),
      hosts: [...new Set(exchanges.map(({ request }) => new URL(request.url).hostname))].toSorted(),
      exchanges,
    }));
  return {
    begin(name) {
      service = name;
    },
    async fetch(input, init) {
      const request = new Request(input, init);
      const sent = request.body === null ? null : await request.clone().text();
      const response = await inner(input, init);
      const answered = (await response.clone().text()).slice(0, longestBody);
      const exchange = {
        request: { method: request.method, url: request.url, body: readBody(sent) },
        response: { status: response.status, headers: headersOf(response.headers), body: readBody(answered) },
      };
      kept.set(service, [...(kept.get(service) ?? []), redact(exchange, secrets) as Exchange]);
      return response;
    },
    recordings,
    save(folder) {
      mkdirSync(folder, { recursive: true });
      return recordings().map((recording) => {
        const file = join(folder, `${recording.service}.json`);
        writeFileSync(file, `${JSON.stringify(recording, null, 2)}\n`);
        return file;
      });
    },
  };
}

function headersOf(headers: Headers): Record<string, string> {
  return Object.fromEntries(
    keptHeaders.flatMap((name) => (headers.has(name) ? [[name, headers.get(name) ?? '']] : [])),
  );
}

function readBody(text: string | null): unknown {
  if (text === null || text === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Fields whose values are secrets or identify a person. */
const secretFields =
  /^(?:access_token|api_?key|authorization|client_secret|code|email|hosted_invoice_url|id_token|invoice_pdf|ip|key|name|password|phone|receipt_email|receipt_url|secret|line[12]|postal_code|customer_email|customer_name|customer_phone|token)$/i;

/** Replaces secrets by `[redacted]` in every text, at every depth. */
export function redact(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string') return redactText(value, secrets);
  if (Array.isArray(value)) return value.map((each) => redact(each, secrets));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      secretFields.test(name) && typeof inner === 'string' ? '[redacted]' : redact(inner, secrets),
    ]),
  );
}

function redactText(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets) {
    if (secret.length >= 4)
      clean = clean.replaceAll(secret, '[redacted]').replaceAll(encodeURIComponent(secret), '[redacted]');
  }
  return clean
    .replace(/[\w.+-]+(?:@|%40)[\w-]+(?:\.[\w-]+)+/g, '[redacted]')
    .replace(/\b(?:sk|rk|pk|whsec)_(?:test_|live_)?[A-Za-z0-9]+/g, '[redacted]')
    .replace(/_secret_[A-Za-z0-9]+/g, '_secret_[redacted]')
    .replace(/((?:access_token|client_secret|code|key|token)=)[^&\s"]+/gi, '$1[redacted]');
}
