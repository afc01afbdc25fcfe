/** The web server in front of WordPress: static files from disk, everything else from PHP. Listens only on 127.0.0.1. */
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { PHPRequest, StreamedPHPResponse } from '@php-wasm/universal';

export interface StaticRoot {
  /** Address prefix with a slash at both ends. */
  readonly prefix: string;
  readonly folder: string;
}

export interface HttpOptions {
  readonly port: number;
  /** Searched in order for files of the types in `TYPES`. */
  readonly roots: readonly StaticRoot[];
  /** Largest request body in bytes; more is answered 413. */
  readonly largestBody: number;
  /** `undefined` while WordPress is being installed: such requests are answered 503. */
  readonly handle: (request: PHPRequest) => Promise<StreamedPHPResponse> | undefined;
}

export interface HttpListener {
  readonly url: string;
  /** Sets a handler that gets each request first and returns whether it has answered it; files and PHP answer the others. */
  intercept(answer: (request: http.IncomingMessage, response: http.ServerResponse) => boolean): void;
  close(): Promise<void>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.avif': 'image/avif',
  '.css': 'text/css; charset=utf-8',
  '.eot': 'application/vnd.ms-fontobject',
  '.gif': 'image/gif',
  '.ico': 'image/x-icon',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.m4a': 'audio/mp4',
  '.js': 'text/javascript; charset=utf-8',
  '.mp3': 'audio/mpeg',
  '.mp4': 'video/mp4',
  '.ogg': 'audio/ogg',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.ttf': 'font/ttf',
  '.wav': 'audio/wav',
  '.webp': 'image/webp',
  '.woff': 'font/woff',
  '.woff2': 'font/woff2',
};
/** The database is below the web root, as on any WordPress that keeps it in SQLite. */
const PRIVATE = /^\/wp-content\/database(\/|$)|\/\.ht/i;
const HOP_BY_HOP = /^(connection|keep-alive|transfer-encoding)$/i;

/** Begins to listen; rejects with Node's own error (`EADDRINUSE`) when the port is taken. */
export async function listen(options: HttpOptions): Promise<HttpListener> {
  let interceptor: ((request: http.IncomingMessage, response: http.ServerResponse) => boolean) | undefined;
  const server = http.createServer((request, response) => {
    if (interceptor?.(request, response)) return;
    answer(options, request, response).catch((error: unknown) => {
      if (error instanceof Error && /^(MaxPhpInstances|AcquireTimeout)Error$/.test(error.name)) {
        response.writeHead(503, { 'content-type': 'text/plain', 'retry-after': '5' }).end('WordPress is busy.\n');
        return;
      }
      process.stderr.write(`${request.method} ${request.url?.split('?')[0]}: ${String(error)}\n`);
      if (response.headersSent) response.destroy();
      else response.writeHead(500, { 'content-type': 'text/plain' }).end('WordPress failed.\n');
    });
  });
  server.requestTimeout = 120_000;
  // PHP blocks this thread for seconds: with the default of five seconds, a client would reuse a connection that is being
  // closed.
  server.keepAliveTimeout = 120_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    intercept: (handler) => {
      interceptor = handler;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(options: HttpOptions, request: http.IncomingMessage, response: http.ServerResponse) {
  const method = request.method ?? 'GET';
  const pathname = pathOf(request.url ?? '/');
  if (pathname === undefined || PRIVATE.test(pathname)) {
    response.writeHead(404, { 'content-type': 'text/plain' }).end('Not found.\n');
    return;
  }
  if (method === 'GET' || method === 'HEAD') {
    const file = staticFile(options.roots, pathname);
    if (file) return sendFile(file, request, response);
  }
  const body = await readBody(request, options.largestBody);
  if (!body) {
    response.writeHead(413, { 'content-type': 'text/plain', connection: 'close' }).end('The upload is too large.\n');
    return;
  }
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  const php = await options.handle({
    method: method as NonNullable<PHPRequest['method']>,
    url: request.url ?? '/',
    headers,
    ...(body.length > 0 && { body: new Uint8Array(body) }),
  });
  if (!php) {
    response.writeHead(503, { 'content-type': 'text/plain', 'retry-after': '2' }).end('WordPress is starting.\n');
    return;
  }
  const sent: Record<string, string[]> = {};
  for (const [name, values] of Object.entries(await php.headers)) if (!HOP_BY_HOP.test(name)) sent[name] = values;
  response.writeHead(await php.httpStatusCode, sent);
  // PHP may declare a length, send that much, and go on working. The response ends there, so that neither the browser nor the
  // next request on its connection waits.
  let left = Number(sent['content-length']?.[0] ?? Number.POSITIVE_INFINITY);
  if (method === 'HEAD' || left === 0) response.end();
  for await (const chunk of php.stdout) {
    if (response.writableEnded || response.destroyed) continue;
    // The runtime's chunks are views of signed bytes, which Node does not take.
    response.write(Buffer.copyBytesFrom(chunk));
    left -= chunk.byteLength;
    if (left <= 0) response.end();
  }
  response.end();
  await php.finished;
}

/** The decoded path of an address with dot segments resolved; `undefined` if it is invalid. */
function pathOf(url: string): string | undefined {
  try {
    const pathname = decodeURIComponent(new URL(url, 'http://wordpress').pathname);
    return pathname.includes('\0') ? undefined : path.posix.normalize(pathname);
  } catch {
    return undefined;
  }
}

/** The file on disk for a path, if PHP isn't needed for its type. */
function staticFile(roots: readonly StaticRoot[], pathname: string): string | undefined {
  if (!(path.extname(pathname).toLowerCase() in TYPES)) return undefined;
  for (const { prefix, folder } of roots) {
    if (!pathname.startsWith(prefix)) continue;
    const root = path.resolve(folder);
    const file = path.resolve(root, pathname.slice(prefix.length));
    if (file.startsWith(root + path.sep) && fs.statSync(file, { throwIfNoEntry: false })?.isFile()) return file;
  }
  return undefined;
}

async function sendFile(file: string, request: http.IncomingMessage, response: http.ServerResponse) {
  const { size, mtime } = fs.statSync(file);
  const etag = `"${size.toString(36)}-${mtime.getTime().toString(36)}"`;
  const headers = {
    'content-type': TYPES[path.extname(file).toLowerCase()],
    'cache-control': 'public, max-age=300',
    'last-modified': mtime.toUTCString(),
    'accept-ranges': 'bytes',
    etag,
  };
  if (request.headers['if-none-match'] === etag) return void response.writeHead(304, headers).end();
  const part = rangeOf(request.headers, size, etag);
  if (part === 'unsatisfiable')
    return void response.writeHead(416, { ...headers, 'content-range': `bytes */${size}` }).end();
  const { start, end } = part ?? { start: 0, end: size - 1 };
  const range = part ? { 'content-range': `bytes ${start}-${end}/${size}` } : {};
  response.writeHead(part ? 206 : 200, { ...headers, ...range, 'content-length': end - start + 1 });
  if (request.method === 'HEAD' || size === 0) return void response.end();
  await pipeline(fs.createReadStream(file, { start, end }), response).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  });
}

/** The one range of a file that a request asks for (RFC 9110, section 14), as players do; `null`: the whole file. */
function rangeOf(
  { range, 'if-range': unless }: http.IncomingHttpHeaders,
  size: number,
  etag: string,
): { readonly start: number; readonly end: number } | 'unsatisfiable' | null {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(range ?? '') ?? [];
  if ((first === '' && last === '') || (unless !== undefined && unless !== etag)) return null;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  return start > end || start >= size ? 'unsatisfiable' : { start, end };
}

/** The whole body, or `undefined` when it is larger than allowed. */
async function readBody(request: http.IncomingMessage, largest: number): Promise<Buffer | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > largest) return undefined;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > largest) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
