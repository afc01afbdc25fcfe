/**
 * The express lane: stored pages are answered on the socket itself, before Node's HTTP server has made a parser, a request
 * and a response for them, which costs more than everything else about a hit.
 *
 * The lane takes nothing but requests in the plainest form there is: one whole head in one piece, GET, HTTP/1.1, one Host,
 * no body, nothing that asks for another way of speaking. Whatever else comes (a head in two pieces, a second request
 * behind the first, an unusual header, an address that is not stored) goes to the HTTP server as it came, with its
 * connection, which stays there. So no request is ever read in two ways, and limits and errors are the server's.
 */
import { type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { dateNow } from './http-date.ts';

/** What of a request decides about a stored page. */
export interface Asked {
  /** The request's target, visible ASCII that begins with a slash. */
  readonly target: string;
  readonly headers: AskedHeaders;
}

/** The headers that a stored page depends on, named as `IncomingMessage.headers` names them. */
export interface AskedHeaders {
  readonly 'accept-encoding'?: string | undefined;
  readonly 'if-none-match'?: string | undefined;
  readonly cookie?: string | undefined;
  /** Decides about a page with a wall, where search engines are looked for. */
  readonly 'user-agent'?: string | undefined;
}

/** An answer in full. */
export interface Parcel {
  readonly status: number;
  /** Names and values by turns, with `content-length` where there is a body; used before `serve` is called again. */
  readonly headers: readonly string[];
  /** Text is Latin-1. */
  readonly body: Buffer | string | null;
}

/** @returns `null` to leave the request to the HTTP server */
export type Serve = (asked: Asked) => Parcel | null;

export interface LaneOptions {
  /** Milliseconds that a new connection may be silent. */
  readonly firstMs: number;
  /** Milliseconds that it may be silent, or take nothing of an answer, between requests. */
  readonly idleMs: number;
}

/** Longer heads are rare, and the server's. */
const longestHead = 8192;
/** Milliseconds for which a client may keep a connection half open that has ended here. */
const lingerMs = 2000;
/** Bytes of answers that may wait for a slow reader before more of its requests are read. */
const mostWaiting = 64 * 1024;

/** A whole request head and nothing after it: RFC 9112, without any of its leniencies. */
const plainHead = /^GET (\/[!-~]*) HTTP\/1\.1\r\n(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t -~\x80-\xff]*\r\n)+\r\n$/;

/**
 * Puts the lane before a server's own handling of connections. Call it once, before the server listens.
 *
 * @throws Error when something else already takes the server's connections
 */
export function attachLane(server: Server, serve: Serve, { firstMs, idleMs }: LaneOptions): void {
  const [toServer, ...others] = server.listeners('connection') as ((this: Server, socket: Socket) => void)[];
  if (!toServer || others.length > 0) throw new Error('The lane needs a fresh HTTP server.');
  server.removeAllListeners('connection');
  const sockets = new Set<Socket>();
  const keepAlive = `connection: keep-alive\r\nkeep-alive: timeout=${Math.floor(idleMs / 1000)}\r\n\r\n`;

  function handOver(socket: Socket, chunk: Buffer): void {
    sockets.delete(socket);
    socket.setTimeout(0);
    socket.off('data', onData).off('end', onEnd).off('timeout', onTimeout).off('error', onError);
    socket.off('close', onClose).off('drain', onDrain);
    socket.unshift(chunk);
    toServer?.call(server, socket);
  }

  function onData(this: Socket, chunk: Buffer): void {
    // It was told that nothing more is answered; what was on its way is read, for unread bytes would reset the connection.
    if (this.writableEnded) return;
    const parcel = server.listening ? answerTo(chunk) : null;
    if (!parcel) {
      handOver(this, chunk);
      return;
    }
    const { status, headers, body } = parcel;
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`;
    for (let at = 0; at < headers.length; at += 2) head += `${headers[at]}: ${headers[at + 1]}\r\n`;
    head += `date: ${dateNow()}\r\n${keepAlive}`;
    if (body === null || typeof body === 'string') this.write(body === null ? head : head + body, 'latin1');
    else {
      this.cork();
      this.write(head, 'latin1');
      this.write(body);
      this.uncork();
    }
    if (this.timeout !== idleMs) this.setTimeout(idleMs);
    if (this.writableLength > mostWaiting) this.pause();
  }

  function answerTo(chunk: Buffer): Parcel | null {
    if (chunk.byteLength > longestHead) return null;
    const asked = readHead(chunk.toString('latin1'));
    if (!asked) return null;
    try {
      return serve(asked);
    } catch {
      // The server comes to the same end, and knows what to say of it.
      return null;
    }
  }

  function onEnd(this: Socket): void {
    this.end();
  }
  function onTimeout(this: Socket): void {
    this.destroy();
  }
  function onDrain(this: Socket): void {
    if (this.isPaused()) this.resume();
  }
  function onError(this: Socket): void {
    this.destroy();
  }
  function onClose(this: Socket): void {
    sockets.delete(this);
  }

  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.setTimeout(firstMs);
    socket.on('data', onData).on('end', onEnd).on('timeout', onTimeout).on('error', onError);
    socket.on('close', onClose).on('drain', onDrain);
  });

  const { closeIdleConnections, closeAllConnections } = server;
  server.closeIdleConnections = () => {
    for (const socket of sockets) {
      if (socket.writableLength === 0 && !socket.writableEnded) socket.end().setTimeout(lingerMs);
    }
    closeIdleConnections.call(server);
  };
  server.closeAllConnections = () => {
    for (const socket of sockets) socket.destroy();
    closeAllConnections.call(server);
  };
}

/** @returns `null` for whatever is not in the plainest form, or says something that the lane does not understand */
export function readHead(text: string): Asked | null {
  const form = plainHead.exec(text);
  const target = form?.[1];
  if (target === undefined) return null;
  const headers: { -readonly [name in keyof AskedHeaders]: AskedHeaders[name] } = {};
  let hosts = 0;
  let at = text.indexOf('\r\n') + 2;
  for (let end = text.indexOf('\r\n', at); end > at; at = end + 2, end = text.indexOf('\r\n', at)) {
    const colon = text.indexOf(':', at);
    switch (colon - at) {
      // No header that means something to an HTTP server has a name of another length; the others are only there.
      case 2:
      case 4:
      case 5:
      case 6:
      case 7:
      case 10:
      case 13:
      case 14:
      case 15:
      case 16:
      case 17:
        break;
      default:
        continue;
    }
    const name = text.slice(at, colon).toLowerCase();
    switch (name) {
      case 'host':
        hosts++;
        break;
      case 'accept-encoding':
      case 'if-none-match':
      case 'cookie':
      case 'user-agent':
        // How two of them are put together is the server's to say.
        if (headers[name] !== undefined) return null;
        headers[name] = text.slice(colon + 1, end).trim();
        break;
      case 'connection':
        if (
          text
            .slice(colon + 1, end)
            .trim()
            .toLowerCase() !== 'keep-alive'
        )
          return null;
        break;
      case 'te':
      case 'range':
      case 'expect':
      case 'upgrade':
      case 'trailer':
      case 'content-length':
      case 'http2-settings':
      case 'proxy-connection':
      case 'transfer-encoding':
        return null;
    }
  }
  return hosts === 1 ? { target, headers } : null;
}
