/**
 * Stopping a server without breaking off a connection: what is in flight is finished, each last answer says `Connection: close`, and
 * connections that idle end in order, with a FIN and not with a reset.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Milliseconds without a request after which a connection of a server that stops counts as idle: a client's next one is on its way. */
const defaultIdleMs = 500;
/** Milliseconds for which a client may keep a connection half open that has ended here. */
const lingerMs = 2000;
const checkEveryMs = 50;

interface Connection {
  /** Answers that are being made or sent. */
  answering: number;
  /** Bytes that had come and gone when it was last looked at. */
  bytes: number;
  /** When something last came or went. */
  activeAt: number;
}

interface Connections {
  /** From now on answers end their connections. */
  stop(): void;
  /** Ends connections that have been idle for so long. */
  endIdle(idleMs: number): void;
}

const known = new WeakMap<Server, Connections>();

/** Lets {@link shutDown} end the connections of a server in order. To be called before it listens, and after `attachFastPath`. */
export function trackConnections(server: Server): void {
  const connections = new Map<Socket, Connection>();
  const unanswered = new Set<ServerResponse>();
  let stopping = false;

  server.on('connection', (socket: Socket) => {
    connections.set(socket, { answering: 0, bytes: 0, activeAt: performance.now() });
    socket.once('close', () => connections.delete(socket));
  });
  // Before the server's own listener, so that no head has been written yet.
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
    endIdle,
    stop() {
      stopping = true;
      const clock = performance.now();
      for (const connection of connections.values()) connection.activeAt = clock;
      for (const outgoing of unanswered) if (!outgoing.headersSent) outgoing.shouldKeepAlive = false;
    },
  });
  // Node calls this as soon as a server closes, and would destroy what has just asked.
  server.closeIdleConnections = () => {};
}

/**
 * Takes no new connections, lets what is in flight finish, and then, or after the bound, closes every connection.
 *
 * @param boundMs longest wait, milliseconds
 * @param idleMs milliseconds without a request after which a connection is ended
 * @returns whether everything finished within the bound
 */
export async function shutDown(server: Server, boundMs = 10_000, idleMs = defaultIdleMs): Promise<boolean> {
  let inTime = true;
  const connections = known.get(server);
  const endIdle = (): void => (connections ? connections.endIdle(idleMs) : server.closeIdleConnections());
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => {
      inTime = false;
      server.closeAllConnections();
    }, boundMs);
    connections?.stop();
    // Connections that idle between two requests would keep the server open.
    const idle = setInterval(endIdle, checkEveryMs);
    server.close(() => {
      clearTimeout(timer);
      clearInterval(idle);
      resolve();
    });
    endIdle();
  });
  return inTime;
}
