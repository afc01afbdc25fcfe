/**
 * Stand-in for a bucket with the S3 protocol, addressed by path: GET, HEAD, PUT and DELETE of objects, and ListObjectsV2. As strict as
 * S3: every request is signed (signature.ts), bodies have the hash that was signed, errors are S3's. Source: Amazon S3 API Reference.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Fault, faultOf, type Key, sha256 } from './signature.ts';

export interface StoredObject {
  readonly bytes: Buffer;
  /** Content-Type and Cache-Control as the client set them. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whole seconds, as S3 has them. */
  readonly modified: number;
}

/** What goes wrong: `down` answers 503, `hang` never answers, `denied` refuses everything to the key. */
export type BucketFailure = 'down' | 'hang' | 'denied';

export interface Bucket {
  /** Without a slash at the end. */
  readonly url: string;
  readonly name: string;
  readonly key: Key;
  readonly objects: ReadonlyMap<string, StoredObject>;
  /** Requests so far, such as `PUT site/a.css`; `LIST` for a list of objects. */
  readonly requests: readonly string[];
  /** @param mode `null`: everything works */
  fail(mode: BucketFailure | null): void;
  /** Makes all objects older. */
  age(ms: number): void;
  stop(): Promise<void>;
}

export interface BucketOptions {
  /** Most keys of one list; S3 gives 1000 at most, and may give fewer. */
  readonly pageSize?: number;
  /** Milliseconds by which its clock is ahead of this machine's. */
  readonly clockMs?: number;
}

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

interface State {
  readonly name: string;
  readonly key: Key;
  readonly objects: Map<string, StoredObject>;
  readonly requests: string[];
  readonly pageSize: number;
  readonly now: () => number;
  failure: BucketFailure | null;
}

const longestKeyBytes = 1024;

export async function startBucket({ pageSize = 1000, clockMs = 0 }: BucketOptions = {}): Promise<Bucket> {
  const state: State = {
    name: 'assets-of-broadsheet',
    key: { id: 'SANDBOXKEYOFBROADSHEET', secret: 'sandbox/secret+of/broadsheet', region: 'eu-central-1' },
    objects: new Map(),
    requests: [],
    pageSize: Math.min(pageSize, 1000),
    now: () => Date.now() + clockMs,
    failure: null,
  };
  const server = createServer(async (request, response) => {
    const answer = await answerTo(state, request).catch(() => null);
    if (answer === null) return;
    const { status, headers = {}, body = '' } = answer;
    response.writeHead(status, { 'x-amz-request-id': 'SANDBOX', ...headers });
    response.end(request.method === 'HEAD' ? undefined : body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { name, key, objects, requests } = state;
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    name,
    key,
    objects,
    requests,
    fail(mode) {
      state.failure = mode;
    },
    age(ms) {
      for (const [path, object] of objects) objects.set(path, { ...object, modified: object.modified - ms });
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** @returns `null`: no answer. @throws when the connection ended before the body did */
async function answerTo(state: State, request: IncomingMessage): Promise<Answer | null> {
  const { method = 'GET', url: target = '/', headers } = request;
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  if (state.failure === 'hang') return null;
  if (state.failure === 'down') return refuse(503, 'ServiceUnavailable', 'Please reduce your request rate.');
  const [path = '/', query = ''] = target.split('?');
  const decoded = decodePath(path);
  if (decoded === null) return refuse(400, 'InvalidURI', "Couldn't parse the specified URI.");
  const fault = faultOf({ method, target, headers }, state.key, state.now()) ?? bodyFault(method, headers, body);
  if (fault) return refuse(fault.status, fault.code, fault.message);
  if (state.failure === 'denied') return refuse(403, 'AccessDenied', 'Access Denied');
  const [, bucket = '', name = ''] = /^\/([^/]*)\/?(.*)$/s.exec(decoded) ?? [];
  if (bucket !== state.name) return refuse(404, 'NoSuchBucket', 'The specified bucket does not exist');
  state.requests.push(name === '' ? 'LIST' : `${method} ${name}`);
  if (Buffer.byteLength(name) > longestKeyBytes) return refuse(400, 'KeyTooLongError', 'Your key is too long');
  return name === ''
    ? list(state, method, new URLSearchParams(query.replaceAll('+', '%2B')))
    : answerObject(state, method, name, headers, body);
}

/** @returns `null` for escapes that are no UTF-8 */
function decodePath(path: string): string | null {
  try {
    return decodeURIComponent(path);
  } catch {
    return null;
  }
}

function bodyFault(method: string, headers: IncomingMessage['headers'], body: Buffer): Fault | null {
  if (method === 'PUT' && headers['content-length'] === undefined)
    return { status: 411, code: 'MissingContentLength', message: 'You must provide the Content-Length HTTP header.' };
  const hash = headers['x-amz-content-sha256'] ?? 'UNSIGNED-PAYLOAD';
  if (hash === 'UNSIGNED-PAYLOAD' || hash === sha256(body)) return null;
  const message = "The provided 'x-amz-content-sha256' header does not match what was computed.";
  return { status: 400, code: 'XAmzContentSHA256Mismatch', message };
}

function answerObject(
  { objects, now }: State,
  method: string,
  name: string,
  headers: IncomingMessage['headers'],
  bytes: Buffer,
): Answer {
  if (method === 'PUT') {
    const given = ['content-type', 'cache-control', 'content-encoding'] as const;
    const kept = given.flatMap((header) => (headers[header] ? [[header, headers[header]] as const] : []));
    const modified = Math.floor(now() / 1000) * 1000;
    objects.set(name, { bytes, headers: Object.fromEntries(kept), modified });
    return { status: 200, headers: { etag: etagOf(bytes) } };
  }
  if (method === 'DELETE') {
    objects.delete(name);
    return { status: 204 };
  }
  if (method !== 'GET' && method !== 'HEAD')
    return refuse(405, 'MethodNotAllowed', 'The specified method is not allowed against this resource.');
  const object = objects.get(name);
  if (!object) return refuse(404, 'NoSuchKey', 'The specified key does not exist.');
  const length = String(object.bytes.byteLength);
  const own = { etag: etagOf(object.bytes), 'last-modified': new Date(object.modified).toUTCString() };
  return { status: 200, headers: { ...object.headers, ...own, 'content-length': length }, body: object.bytes };
}

function list({ name, objects, pageSize }: State, method: string, query: URLSearchParams): Answer {
  if (method !== 'GET' || query.get('list-type') !== '2')
    return refuse(501, 'NotImplemented', 'A header you provided implies functionality that is not implemented.');
  const maxKeys = query.get('max-keys') ?? '1000';
  const after = query.has('continuation-token') ? keyAfter(query.get('continuation-token') ?? '') : '';
  if (!/^\d{1,9}$/.test(maxKeys) || after === null || query.get('delimiter'))
    return refuse(400, 'InvalidArgument', 'An argument is not valid.');
  const prefix = query.get('prefix') ?? '';
  const names = [...objects.keys()]
    .filter((key) => key.startsWith(prefix) && compareKeys(after, key) < 0)
    .sort(compareKeys);
  const page = names.slice(0, Math.min(Number(maxKeys), pageSize));
  const isTruncated = page.length < names.length;
  const contents = page.flatMap((key) => {
    const { bytes, modified } = objects.get(key) ?? { bytes: Buffer.alloc(0), modified: 0 };
    return [
      `<Contents><Key>${escapeXml(key)}</Key><LastModified>${new Date(modified).toISOString()}</LastModified>`,
      `<ETag>${escapeXml(etagOf(bytes))}</ETag><Size>${bytes.byteLength}</Size><StorageClass>STANDARD</StorageClass></Contents>`,
    ];
  });
  return xml(200, 'ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"', [
    `<Name>${name}</Name><Prefix>${escapeXml(prefix)}</Prefix><KeyCount>${page.length}</KeyCount><MaxKeys>${maxKeys}</MaxKeys>`,
    `<IsTruncated>${isTruncated}</IsTruncated>`,
    ...(isTruncated ? [`<NextContinuationToken>${continuationToken(page.at(-1) ?? '')}</NextContinuationToken>`] : []),
    ...contents,
  ]);
}

/** S3 sorts keys by their bytes in UTF-8. */
const compareKeys = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

const continuationToken = (name: string): string => Buffer.from(`after ${name}`).toString('base64');

function keyAfter(token: string): string | null {
  const [, name] = /^after (.+)$/s.exec(Buffer.from(token, 'base64').toString()) ?? [];
  return name ?? null;
}

/** S3 uses the MD5 of the object; any value that changes with the object will do. */
const etagOf = (bytes: Buffer): string => `"${sha256(bytes).slice(0, 32)}"`;

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeXml = (value: string): string => value.replace(/[&<>"]/g, (sign) => entities[sign] ?? sign);

function xml(status: number, root: string, lines: readonly string[]): Answer {
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<${root}>${lines.join('')}</${root.split(' ')[0]}>`;
  return { status, headers: { 'content-type': 'application/xml' }, body };
}

const refuse = (status: number, code: string, message: string): Answer =>
  xml(status, 'Error', [`<Code>${code}</Code><Message>${escapeXml(message)}</Message><RequestId>SANDBOX</RequestId>`]);
