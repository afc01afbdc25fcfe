/**
 * A request and a response like Node's, in memory only, with the parts that the handler of `@astrojs/node` uses. The bytes of the
 * response are passed on without a copy, which would burden the garbage collector (docs/decisions/0003, "Memory").
 */
import { EventEmitter } from 'node:events';

/** The handler that `@astrojs/node` exports from `dist/server/entry.mjs` in middleware mode. */
export type PageHandler = (
  incoming: Incoming,
  outgoing: Outgoing,
  next: (error?: unknown) => void,
  locals: App.Locals,
) => Promise<void>;

export interface Asked {
  readonly method: string;
  /** Full URL with the public origin. */
  readonly url: URL;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly payload?: Buffer | undefined;
  readonly clientAddress: string;
  /** Signal of the reader's connection, which may close. */
  readonly signal: AbortSignal;
}

/** A complete response. It isn't a `Response`, because those copy a body each time that it is set or read. */
export interface PageResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

class InMemorySocket extends EventEmitter {
  readonly encrypted: boolean;
  readonly remoteAddress: string;
  destroyed = false;

  constructor(encrypted: boolean, remoteAddress: string) {
    super();
    this.encrypted = encrypted;
    this.remoteAddress = remoteAddress;
  }

  close(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.emit('close');
  }
}

/** The handler's `IncomingMessage`; its body was read before. */
class Incoming extends EventEmitter {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly socket: InMemorySocket;
  readonly body: Buffer | undefined;

  constructor({ method, url, headers, payload, clientAddress }: Asked) {
    super();
    this.method = method;
    this.url = url.pathname + url.search;
    this.headers = { ...headers, host: url.host, ...(payload && { 'content-length': String(payload.byteLength) }) };
    this.socket = new InMemorySocket(url.protocol === 'https:', clientAddress);
    this.body = payload;
  }

  /** The whole body is in `body`. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void> {}
}

type HeaderFields = Readonly<Record<string, string | readonly string[] | number | undefined>>;

/** Headers about a connection, which a response in memory doesn't have, or headers that follow from the bytes. */
const ofTheWire = /^(?:connection|keep-alive|transfer-encoding|content-length|date)$/i;

/** The handler's `ServerResponse`. */
class Outgoing extends EventEmitter {
  statusCode = 200;
  statusMessage = '';
  headersSent = false;
  destroyed = false;
  writableEnded = false;
  readonly req: Incoming;
  readonly #headers = new Headers();
  readonly #chunks: Buffer[] = [];

  constructor(req: Incoming) {
    super();
    this.req = req;
  }

  setHeader(name: string, value: string | number | readonly string[]): this {
    this.#headers.delete(name);
    if (ofTheWire.test(name)) return this;
    for (const one of Array.isArray(value) ? value : [value]) this.#headers.append(name, String(one));
    return this;
  }

  writeHead(status: number, reason?: string | HeaderFields, fields?: HeaderFields): this {
    if (this.headersSent) throw new Error('The head of the response has been written.');
    this.statusCode = status;
    if (typeof reason === 'string') this.statusMessage = reason;
    for (const [name, value] of Object.entries((typeof reason === 'string' ? fields : reason) ?? {})) {
      if (value !== undefined) this.setHeader(name, value);
    }
    this.headersSent = true;
    return this;
  }

  write(chunk: Uint8Array | string, done?: () => void): boolean {
    if (this.destroyed || this.writableEnded) return false;
    this.headersSent = true;
    if (chunk.length > 0) this.#chunks.push(bytesOf(chunk));
    if (done) queueMicrotask(done);
    return true;
  }

  end(chunk?: Uint8Array | string): this {
    if (this.destroyed || this.writableEnded) return this;
    if (chunk !== undefined) this.write(chunk);
    this.headersSent = true;
    this.writableEnded = true;
    this.emit('finish');
    this.destroy();
    return this;
  }

  /** A response that is destroyed before its end doesn't count. As in Node, `error` gives the reason, and `close` is always emitted. */
  destroy(error?: Error): this {
    if (this.destroyed) return this;
    this.destroyed = true;
    if (error && this.listenerCount('error') > 0) this.emit('error', error);
    this.emit('close');
    return this;
  }

  /** The complete response, after its end. */
  answer(): PageResponse {
    // As on a server, HEAD and these statuses have no body.
    const bare = this.req.method === 'HEAD' || this.statusCode === 204 || this.statusCode === 304;
    const [first, ...rest] = bare ? [] : this.#chunks;
    const body = first && rest.length === 0 ? first : Buffer.concat(first ? [first, ...rest] : []);
    return { status: this.statusCode, headers: this.#headers, body };
  }
}

function bytesOf(chunk: Uint8Array | string): Buffer {
  if (typeof chunk === 'string') return Buffer.from(chunk);
  return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}

/**
 * Makes the handler respond to a request that exists only in memory.
 *
 * @returns `null` when the handler finds no route
 * @throws the signal's reason when the reader has closed the connection; Error when the response breaks off, or the handler throws
 */
export function exchange(handler: PageHandler, asked: Asked, locals: App.Locals): Promise<PageResponse | null> {
  const { signal } = asked;
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const incoming = new Incoming(asked);
    const outgoing = new Outgoing(incoming);
    const hangUp = (): void => {
      reject(signal.reason);
      incoming.socket.close();
      outgoing.destroy();
    };
    signal.addEventListener('abort', hangUp, { once: true });
    outgoing.once('finish', () => resolve(outgoing.answer()));
    outgoing.once('error', reject);
    outgoing.once('close', () => {
      signal.removeEventListener('abort', hangUp);
      reject(new Error('The response broke off before its end.'));
    });
    const pass = (error?: unknown): void => {
      if (error) reject(error);
      else resolve(null);
      outgoing.destroy();
    };
    handler(incoming, outgoing, pass, locals).catch((error: unknown) => {
      reject(error);
      outgoing.destroy();
    });
  });
}
