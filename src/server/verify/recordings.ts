/** `npm run verify -- --record` keeps requests and responses without keys, secrets and personal data. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseJson } from '../../lib/json.ts';

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
  const json = parseJson(text);
  return json === undefined ? text : json;
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
