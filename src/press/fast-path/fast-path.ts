/**
 * Fast path: cached pages are answered on the socket itself, before Node's HTTP server has created a parser, a request and a
 * response for them, which costs more than everything else about a hit.
 *
 * The fast path takes only requests in the plainest form there is: one whole head in one piece, GET, HTTP/1.1, one Host, no body,
 * no header that asks for another protocol. Everything else (a head in two pieces, a second request behind the first, an unusual
 * header, a page that isn't cached) is passed to the HTTP server unchanged, and the connection stays with that server. So no
 * request is ever parsed in two ways, and limits and errors are the server's.
 */
import { type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { readInto, readIntoStream } from './read-into.ts';

/** A complete response. */
export interface CachedResponse {
  readonly status: number;
  /** Names and values alternate, with `content-length` if there is a body; read before the next call of `serve`. */
  readonly headers: readonly string[];
  readonly body: Buffer | null;
  /** Unix second for which the response's `age` was computed. */
  readonly second: number;
  /** Cached body between requests; the fast path stores the complete response in it. For a 304 the body is empty. */
  readonly kept: KeptBody;
}

/** A body that is sent repeatedly with the same headers, except for `age` and `date`. */
export interface KeptBody {
  /** A part of {@link whole} once that is there. */
  body: Buffer;
  /** Head and body in one buffer: one write, and no allocation for a request. */
  whole: WholeResponse | null;
}

interface WholeResponse {
  readonly bytes: Buffer;
  /** Positions of the values that change with time; `null`: the response has no age. */
  readonly ageAt: number | null;
  readonly dateAt: number;
  /** Unix second for which they are written. */
  second: number;
}

/** @returns `null` to leave the request to the HTTP server */
export type ServeFromCache = (asked: FastPathRequest) => CachedResponse | null;

export interface FastPathOptions {
  /** Milliseconds for which a new connection may send nothing. */
  readonly firstMs: number;
  /** Milliseconds for which a connection may send nothing between requests, or read nothing of a response. */
  readonly idleMs: number;
}

/** Requests with longer heads are rare; they go to the HTTP server. */
const longestHead = 8192;
/** Milliseconds for which a client may keep a connection half open that was ended here. */
const lingerMs = 2000;
/** Bytes of responses that may wait for a slow client before more of its requests are read. */
const mostWaiting = 64 * 1024;

interface LastRead {
  /** Number of bytes received at that time. */
  bytes: number;
  /** Time by `performance.now()`. */
  at: number;
}

/** The fast path of one server. */
interface FastPath {
  readonly server: Server;
  readonly serve: ServeFromCache;
  readonly idleMs: number;
  /** Headers that end every response's head. */
  readonly keepAlive: string;
  /** The HTTP server's own handler of connections. */
  readonly toServer: (socket: Socket) => void;
  /** The fast path's connections, with the last time at which bytes arrived. */
  readonly sockets: Map<Socket, LastRead>;
  readonly listeners: Readonly<Record<string, (this: Socket) => void>>;
}

/** Buffer into which connections read: a request is answered, or copied for the HTTP server, before the next bytes are read. */
const received = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * Attaches the fast path before a server's own handling of connections. Call it once, before the server listens.
 *
 * @throws Error when something else already takes the server's connections
 */
export function attachFastPath(server: Server, serve: ServeFromCache, { firstMs, idleMs }: FastPathOptions): void {
  const [toServer, ...others] = server.listeners('connection') as ((this: Server, socket: Socket) => void)[];
  if (!toServer || others.length > 0) throw new Error('The fast path needs a new HTTP server.');
  server.removeAllListeners('connection');
  const path: FastPath = {
    server,
    serve,
    idleMs,
    keepAlive: `connection: keep-alive\r\nkeep-alive: timeout=${Math.floor(idleMs / 1000)}\r\n\r\n`,
    toServer: toServer.bind(server),
    sockets: new Map(),
    // One function for all sockets of the server: a closure for each connection would be garbage when it ends.
    listeners: {
      end() {
        this.end();
      },
      timeout() {
        this.destroy();
      },
      error() {
        this.destroy();
      },
      close() {
        path.sockets.delete(this);
      },
      drain() {
        if (this.isPaused()) this.resume();
      },
    },
  };
  function onRead(this: Socket, count: number): undefined {
    onRequest(path, this, count);
  }
  server.on('connection', (socket: Socket) => {
    if (!readInto(socket, received, onRead)) {
      path.toServer(socket);
      return;
    }
    path.sockets.set(socket, { bytes: 0, at: performance.now() });
    for (const [event, listener] of Object.entries(path.listeners)) socket.on(event, listener);
  });
  closeWithServer(path);
  const longest = Math.min(firstMs, idleMs);
  const timer = setInterval(() => endSilent(path, firstMs), Math.min(Math.max(longest / 4, 20), 4000)).unref();
  server.once('close', () => clearInterval(timer));
}

/** Ends connections that have been silent for too long. A timer for each of them would be moved by each request. */
function endSilent({ sockets, idleMs }: FastPath, firstMs: number): void {
  const now = performance.now();
  for (const [socket, last] of sockets) {
    const { bytesRead } = socket;
    if (bytesRead !== last.bytes) {
      last.bytes = bytesRead;
      last.at = now;
    } else if (now - last.at > (bytesRead === 0 ? firstMs : idleMs) && !socket.timeout) {
      socket.destroy();
    }
  }
}

/** @param count bytes in {@link received} */
function onRequest(path: FastPath, socket: Socket, count: number): void {
  // The server has ended the connection; it reads what the client still sends, because unread bytes would reset the connection.
  if (socket.writableEnded) return;
  const response = path.server.listening ? respond(path, count) : null;
  if (!response) {
    handOver(path, socket, count);
    return;
  }
  socket.write(wholeOf(path, response));
  const waiting = socket.writableLength;
  if (waiting === 0) return;
  // Node's socket timer knows whether a client is still reading a response.
  if (!socket.timeout) socket.setTimeout(path.idleMs);
  if (waiting > mostWaiting) socket.pause();
}

/** Characters of an age: a page may be sent for thirty years without being rendered again. */
const ageLength = 9;

function headOf({ keepAlive }: FastPath, { status, headers }: CachedResponse): string {
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`;
  for (let at = 0; at < headers.length; at += 2) {
    const value = headers[at + 1] ?? '';
    head += `${headers[at]}: ${headers[at] === 'age' ? value.padStart(ageLength) : value}\r\n`;
  }
  return `${head}date: ${dateNow()}\r\n${keepAlive}`;
}

/** Head and body of a response, with its time. The first call copies the body behind the head. */
function wholeOf(path: FastPath, response: CachedResponse): Buffer {
  const { headers, second: now, kept } = response;
  kept.whole ??= makeWhole(headOf(path, response), kept, now);
  const { whole } = kept;
  if (whole.second !== now) {
    whole.second = now;
    whole.bytes.write(dateNow(), whole.dateAt, 'latin1');
    if (whole.ageAt !== null) {
      // Spaces before a value don't belong to it (RFC 9112, section 5.1).
      const age = (headers[headers.indexOf('age') + 1] ?? '').padStart(ageLength);
      whole.bytes.write(age, whole.ageAt, 'latin1');
    }
  }
  return whole.bytes;
}

function makeWhole(head: string, kept: KeptBody, second: number): WholeResponse {
  const bytes = Buffer.allocUnsafeSlow(head.length + kept.body.byteLength);
  bytes.write(head, 0, 'latin1');
  kept.body.copy(bytes, head.length);
  kept.body = bytes.subarray(head.length);
  const [age, date] = ['\r\nage: ', '\r\ndate: '];
  const ageAt = head.includes(age) ? head.lastIndexOf(age) + age.length : null;
  return { bytes, ageAt, dateAt: head.lastIndexOf(date) + date.length, second };
}

function respond({ serve }: FastPath, count: number): CachedResponse | null {
  if (count > longestHead) return null;
  const request = readHead(received.toString('latin1', 0, count));
  if (!request) return null;
  try {
    return serve(request);
  } catch {
    // Falls back to the server, which gets the same error, responds and logs it.
    return null;
  }
}

/** Gives a connection to the HTTP server, with the bytes that have been read. */
function handOver({ sockets, listeners, toServer }: FastPath, socket: Socket, count: number): void {
  sockets.delete(socket);
  socket.setTimeout(0);
  for (const [event, listener] of Object.entries(listeners)) socket.off(event, listener);
  readIntoStream(socket);
  socket.unshift(Buffer.from(received.subarray(0, count)));
  toServer(socket);
}

/** Lets the server's methods that close connections close those of the fast path, too. */
function closeWithServer({ server, sockets }: FastPath): void {
  const { closeIdleConnections, closeAllConnections } = server;
  server.closeIdleConnections = () => {
    for (const socket of sockets.keys()) {
      if (socket.writableLength === 0 && !socket.writableEnded) socket.end().setTimeout(lingerMs);
    }
    closeIdleConnections.call(server);
  };
  server.closeAllConnections = () => {
    for (const socket of sockets.keys()) socket.destroy();
    closeAllConnections.call(server);
  };
}

// The current time as responses state it, read from the clock at most ten times a second.

let second = 0;
let date = '';
let readAt = Number.NEGATIVE_INFINITY;

function readClock(): void {
  const clock = performance.now();
  if (clock - readAt <= 100) return;
  readAt = clock;
  const now = Math.floor(Date.now() / 1000);
  if (now === second) return;
  second = now;
  date = new Date(now * 1000).toUTCString();
}

/** The current Unix second. */
export function secondNow(): number {
  readClock();
  return second;
}

/** The current time in the format of the `Date` header (RFC 9110, section 5.6.7). */
function dateNow(): string {
  readClock();
  return date;
}

/** The part of a request that determines the response from the cache. */
export interface FastPathRequest {
  /** The request's target: visible ASCII that begins with a slash. */
  readonly target: string;
  readonly headers: FastPathHeaders;
}

/** The headers that a cached page depends on, named as in `IncomingMessage.headers`. */
export interface FastPathHeaders {
  readonly 'accept-encoding'?: string | undefined;
  readonly 'available-dictionary'?: string | undefined;
  readonly 'if-none-match'?: string | undefined;
  readonly cookie?: string | undefined;
  /** Decides about a page with a paywall, if search engines may read it. */
  readonly 'user-agent'?: string | undefined;
}

/** A complete request head and nothing after it: RFC 9112, without any of its leniencies. */
const plainHead = /^GET \/[!-~]* HTTP\/1\.1\r\n(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t -~\x80-\xff]*\r\n)+\r\n$/;

/** Headers that the fast path leaves to the server, by the length of their names: most headers are skipped by their length. */
const leftToServer: Readonly<Partial<Record<number, readonly string[]>>> = Object.groupBy(
  [
    'te',
    'range',
    'expect',
    'upgrade',
    'trailer',
    'content-length',
    'http2-settings',
    'proxy-connection',
    'transfer-encoding',
  ],
  ({ length }) => length,
);
const none: readonly string[] = [];

/** Whether a header's name in a valid head equals `name`, ignoring case. */
function isNamed(text: string, at: number, name: string): boolean {
  for (let i = 0; i < name.length; i++) if ((text.charCodeAt(at + i) | 0x20) !== name.charCodeAt(i)) return false;
  return true;
}

/** A header's value, without the spaces around it. */
function headerValue(text: string, from: number, to: number): string {
  const isSpace = (at: number): boolean => text.charCodeAt(at) === 0x20 || text.charCodeAt(at) === 0x09;
  let start = from;
  let end = to;
  while (start < end && isSpace(start)) start++;
  while (end > start && isSpace(end - 1)) end--;
  return text.slice(start, end);
}

/**
 * Reads the head of a plain request, far faster than Node's parser and far stricter.
 *
 * @returns `null` for a request that isn't in the plainest form, or has a header that the fast path doesn't handle
 */
export function readHead(text: string): FastPathRequest | null {
  if (!plainHead.test(text)) return null;
  const target = text.slice(4, text.indexOf(' ', 4));
  let hosts = 0;
  let acceptEncoding: string | undefined;
  let dictionary: string | undefined;
  let ifNoneMatch: string | undefined;
  let cookie: string | undefined;
  let userAgent: string | undefined;
  let at = text.indexOf('\r\n') + 2;
  for (let end = text.indexOf('\r\n', at); end > at; at = end + 2, end = text.indexOf('\r\n', at)) {
    const colon = text.indexOf(':', at);
    const length = colon - at;
    for (const name of leftToServer[length] ?? none) if (isNamed(text, at, name)) return null;
    // The server decides how duplicate headers are joined.
    if (length === 4 && isNamed(text, at, 'host')) {
      hosts++;
    } else if (length === 6 && isNamed(text, at, 'cookie')) {
      if (cookie !== undefined) return null;
      cookie = headerValue(text, colon + 1, end);
    } else if (length === 10 && isNamed(text, at, 'user-agent')) {
      if (userAgent !== undefined) return null;
      userAgent = headerValue(text, colon + 1, end);
    } else if (length === 10 && isNamed(text, at, 'connection')) {
      if (headerValue(text, colon + 1, end).toLowerCase() !== 'keep-alive') return null;
    } else if (length === 13 && isNamed(text, at, 'if-none-match')) {
      if (ifNoneMatch !== undefined) return null;
      ifNoneMatch = headerValue(text, colon + 1, end);
    } else if (length === 15 && isNamed(text, at, 'accept-encoding')) {
      if (acceptEncoding !== undefined) return null;
      acceptEncoding = headerValue(text, colon + 1, end);
    } else if (length === 20 && isNamed(text, at, 'available-dictionary')) {
      if (dictionary !== undefined) return null;
      dictionary = headerValue(text, colon + 1, end);
    }
  }
  if (hosts !== 1) return null;
  return {
    target,
    headers: {
      'accept-encoding': acceptEncoding,
      'available-dictionary': dictionary,
      'if-none-match': ifNoneMatch,
      cookie,
      'user-agent': userAgent,
    },
  };
}
