/**
 * Stops a server without cutting a connection: requests in flight are finished, the last response of each connection has `Connection:
 * close`, and idle connections are ended with a FIN instead of a reset.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Milliseconds without a request after which a connection counts as idle during a stop: a client's next request may be in flight. */
const defaultIdleMs = 500;
/** Milliseconds for which a client may keep a connection half open after the server has ended it. */
const lingerMs = 2000;
const checkEveryMs = 50;

interface Connection {
  /** Number of responses that are being created or sent. */
  answering: number;
  /** Bytes received and sent at the last check. */
  bytes: number;
  /** When bytes were last received or sent. */
  activeAt: number;
}

interface Connections {
  /** Number of open connections. */
  readonly size: number;
  /** From now on responses end their connections. */
  stop(): void;
  /** Ends connections that have been idle for this long. */
  endIdle(idleMs: number): void;
}

const known = new WeakMap<Server, Connections>();

/** Enables {@link shutDown} to end a server's connections cleanly. Call it after `attachFastPath` and before the server listens. */
export function trackConnections(server: Server): void {
  const connections = new Map<Socket, Connection>();
  const unanswered = new Set<ServerResponse>();
  let stopping = false;

  server.on('connection', (socket: Socket) => {
    connections.set(socket, { answering: 0, bytes: 0, activeAt: performance.now() });
    socket.once('close', () => connections.delete(socket));
  });
  // This listener runs before the server's own, so that no head has been written yet.
  server.prependListener('request', ({ socket }: IncomingMessage, outgoing: ServerResponse) => {
    const connection = connections.get(socket);
    if (!connection) return;
    connection.answering++;
    unanswered.add(outgoing);
    if (stopping) outgoing.shouldKeepAlive = false;
    outgoing.once('close', () => {
      connection.answering--;
      unanswered.delete(outgoing);
    });
  });

  function endIdle(idleMs: number): void {
    const clock = performance.now();
    for (const [socket, connection] of connections) {
      const bytes = socket.bytesRead + socket.bytesWritten;
      if (connection.answering > 0 || bytes !== connection.bytes || socket.writableLength > 0) {
        connection.bytes = bytes;
        connection.activeAt = clock;
      } else if (clock - connection.activeAt >= idleMs && !socket.writableEnded) {
        socket.end();
        setTimeout(() => socket.destroy(), lingerMs).unref();
      }
    }
  }
  known.set(server, {
    get size() {
      return connections.size;
    },
    endIdle,
    stop() {
      stopping = true;
      const clock = performance.now();
      for (const connection of connections.values()) connection.activeAt = clock;
      for (const outgoing of unanswered) if (!outgoing.headersSent) outgoing.shouldKeepAlive = false;
    },
  });
  // Node calls this as soon as a server closes, and would destroy connections with a new request.
  server.closeIdleConnections = () => {};
}

/**
 * Accepts no new connections, finishes requests in flight, and then, or after the time limit, closes every connection.
 *
 * @param boundMs longest wait, milliseconds
 * @param idleMs milliseconds without a request after which a connection is ended
 * @returns whether everything finished within the limit
 */
export async function shutDown(server: Server, boundMs = 10_000, idleMs = defaultIdleMs): Promise<boolean> {
  let inTime = true;
  const connections = known.get(server);
  const endIdle = (): void => (connections ? connections.endIdle(idleMs) : server.closeIdleConnections());
  await new Promise<void>((resolve) => {
    let closed = false;
    const timer = setTimeout(() => {
      inTime = false;
      server.closeAllConnections();
    }, boundMs);
    const check = (): void => {
      // Connections that another process has accepted (workers/public-port.ts) don't keep the server open.
      if (!closed || (inTime && (connections?.size ?? 0) > 0)) return;
      clearTimeout(timer);
      clearInterval(idle);
      resolve();
    };
    connections?.stop();
    // Idle connections would keep the server open.
    const idle = setInterval(() => {
      endIdle();
      check();
    }, checkEveryMs);
    server.close(() => {
      closed = true;
      check();
    });
    endIdle();
  });
  return inTime;
}
