/**
 * A collector of OpenTelemetry traces (OTLP over HTTP, protobuf and JSON), which decodes what arrives and records violations of the
 * protocol in `refused`, one sentence each.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

export interface CollectedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for a root. */
  readonly parentSpanId: string;
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** 0 unset, 1 ok, 2 error. */
  readonly status: number;
  readonly ms: number;
  /** Attributes of the resource. */
  readonly resource: Readonly<Record<string, unknown>>;
}

export interface Collector {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly url: string;
  readonly spans: CollectedSpan[];
  readonly refused: string[];
  /** Headers of the exports. */
  readonly headers: IncomingMessage['headers'][];
  /** `silent`: accepts exports and never answers. */
  behave(how: 'well' | 'silent' | 'broken'): void;
  close(): void;
}

export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const refused: string[] = [];
  const headers: IncomingMessage['headers'][] = [];
  let how: 'well' | 'silent' | 'broken' = 'well';
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    headers.push(incoming.headers);
    if (how === 'silent') return;
    if (how === 'broken') return void outgoing.writeHead(503).end();
    try {
      spans.push(...accept(incoming, Buffer.concat(chunks), outgoing));
    } catch (error) {
      refused.push((error as Error).message);
      outgoing.writeHead(400).end();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    refused,
    headers,
    behave(next) {
      how = next;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function accept(incoming: IncomingMessage, body: Buffer, outgoing: ServerResponse): CollectedSpan[] {
  const { method, url, headers } = incoming;
  check(method === 'POST' && url === '/v1/traces', `${method} ${url} is no export of traces`);
  check(Number(headers['content-length'] ?? body.byteLength) === body.byteLength, 'the length is wrong');
  const encoding = headers['content-encoding'] ?? 'identity';
  check(encoding === 'identity' || encoding === 'gzip', `content-encoding ${encoding}`);
  const plain = encoding === 'gzip' ? gunzipSync(body) : body;
  const type = headers['content-type'];
  check(type === 'application/json' || type === 'application/x-protobuf', `content-type ${type}`);
  const spans = type === 'application/json' ? fromJson(JSON.parse(plain.toString())) : fromProtobuf(plain);
  check(spans.length > 0, 'an export without spans');
  for (const span of spans) checkSpan(span);
  outgoing.writeHead(200, { 'content-type': type }).end(type === 'application/json' ? '{}' : '');
  return spans;
}

function check(holds: unknown, sentence: string): asserts holds {
  if (!holds) throw new Error(sentence);
}

function checkSpan({ name, traceId, spanId, parentSpanId, kind, status, ms, resource }: CollectedSpan): void {
  check(name !== '', 'a span without a name');
  check(/^[0-9a-f]{32}$/.test(traceId) && !/^0+$/.test(traceId), `${name}: trace id ${traceId}`);
  check(/^[0-9a-f]{16}$/.test(spanId) && !/^0+$/.test(spanId), `${name}: span id ${spanId}`);
  check(parentSpanId === '' || /^[0-9a-f]{16}$/.test(parentSpanId), `${name}: parent ${parentSpanId}`);
  check(kind >= 1 && kind <= 5, `${name}: kind ${kind}`);
  check(status >= 0 && status <= 2, `${name}: status ${status}`);
  check(ms >= 0 && ms < 600_000, `${name}: ${ms} ms`);
  check(typeof resource['service.name'] === 'string', `${name}: no service.name`);
}

// JSON: ids in hexadecimal, 64-bit numbers as text.

interface JsonValue {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly intValue?: string | number;
  readonly doubleValue?: number;
  readonly arrayValue?: { readonly values?: readonly JsonValue[] };
}
type JsonAttributes = readonly { readonly key: string; readonly value: JsonValue }[];

interface JsonExport {
  readonly resourceSpans: readonly {
    readonly resource?: { readonly attributes?: JsonAttributes };
    readonly scopeSpans: readonly {
      readonly spans: readonly {
        readonly name: string;
        readonly traceId: string;
        readonly spanId: string;
        readonly parentSpanId?: string;
        readonly kind: number;
        readonly startTimeUnixNano: string;
        readonly endTimeUnixNano: string;
        readonly attributes?: JsonAttributes;
        readonly status?: { readonly code?: number };
      }[];
    }[];
  }[];
}

const fromJson = ({ resourceSpans }: JsonExport): CollectedSpan[] =>
  resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        name: span.name,
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId ?? '',
        kind: span.kind,
        attributes: jsonAttributes(span.attributes),
        status: span.status?.code ?? 0,
        ms: Number(BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)) / 1e6,
        resource: jsonAttributes(resource?.attributes),
      })),
    ),
  );

const jsonAttributes = (list: JsonAttributes = []): Record<string, unknown> =>
  Object.fromEntries(list.map(({ key, value }) => [key, jsonValue(value)]));

function jsonValue(value: JsonValue): unknown {
  if (value.arrayValue) return (value.arrayValue.values ?? []).map(jsonValue);
  if (value.intValue !== undefined) return Number(value.intValue);
  return value.stringValue ?? value.boolValue ?? value.doubleValue;
}

// Protobuf, by the numbers of the fields in opentelemetry/proto/trace/v1/trace.proto and common/v1/common.proto.

type Fields = Map<number, (bigint | Buffer)[]>;

/** The fields of a message: numbers (varint and fixed) and bytes. */
function fieldsOf(bytes: Buffer): Fields {
  const fields: Fields = new Map();
  let at = 0;
  const varint = (): bigint => {
    for (let value = 0n, shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[at++];
      check(byte !== undefined, 'protobuf: cut off');
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
    throw new Error('protobuf: a number is too long');
  };
  while (at < bytes.byteLength) {
    const key = varint();
    const type = Number(key & 7n);
    check([0, 1, 2, 5].includes(type), `protobuf: wire type ${type}`);
    let value: bigint | Buffer;
    if (type === 0) value = varint();
    else {
      const length = type === 1 ? 8 : type === 5 ? 4 : Number(varint());
      check(at + length <= bytes.byteLength, 'protobuf: cut off');
      const part = bytes.subarray(at, at + length);
      value = type === 1 ? part.readBigUInt64LE() : type === 5 ? BigInt(part.readUInt32LE()) : part;
      at += length;
    }
    const number = Number(key >> 3n);
    fields.set(number, [...(fields.get(number) ?? []), value]);
  }
  return fields;
}

const messages = (fields: Fields, number: number): Fields[] => bytesOf(fields, number).map(fieldsOf);
const bytesOf = (fields: Fields, number: number): Buffer[] =>
  (fields.get(number) ?? []).map((value) => {
    check(Buffer.isBuffer(value), `protobuf: field ${number} is a number`);
    return value;
  });
const textOf = (fields: Fields, number: number): string => bytesOf(fields, number)[0]?.toString() ?? '';
const hexOf = (fields: Fields, number: number): string => bytesOf(fields, number)[0]?.toString('hex') ?? '';
function numberOf(fields: Fields, number: number): bigint {
  const value = fields.get(number)?.[0] ?? 0n;
  check(typeof value === 'bigint', `protobuf: field ${number} is no number`);
  return value;
}

const fromProtobuf = (bytes: Buffer): CollectedSpan[] =>
  messages(fieldsOf(bytes), 1).flatMap((resourceSpans) => {
    const resource = attributesOf(messages(resourceSpans, 1)[0] ?? new Map(), 1);
    return messages(resourceSpans, 2).flatMap((scopeSpans) =>
      messages(scopeSpans, 2).map((span) => ({
        name: textOf(span, 5),
        traceId: hexOf(span, 1),
        spanId: hexOf(span, 2),
        parentSpanId: hexOf(span, 4),
        kind: Number(numberOf(span, 6)),
        attributes: attributesOf(span, 9),
        status: Number(numberOf(messages(span, 15)[0] ?? new Map(), 3)),
        ms: Number(numberOf(span, 8) - numberOf(span, 7)) / 1e6,
        resource,
      })),
    );
  });

const attributesOf = (fields: Fields, number: number): Record<string, unknown> =>
  Object.fromEntries(messages(fields, number).map((pair) => [textOf(pair, 1), anyValue(messages(pair, 2)[0])]));

function anyValue(value: Fields | undefined): unknown {
  if (value?.has(1)) return textOf(value, 1);
  if (value?.has(2)) return numberOf(value, 2) !== 0n;
  if (value?.has(3)) return Number(BigInt.asIntN(64, numberOf(value, 3)));
  if (value?.has(4)) {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(numberOf(value, 4));
    return bytes.readDoubleLE();
  }
  return value?.has(5) ? messages(messages(value, 5)[0] ?? new Map(), 1).map(anyValue) : undefined;
}
