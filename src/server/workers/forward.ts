/**
 * Passes a request from a serving worker to the writer over its Unix socket. While the writer is being restarted, requests wait; a
 * request that may already have had an effect isn't sent twice.
 */
import {
  Agent,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestOptions,
  request,
  type ServerResponse,
} from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { connectionHeaders } from '../../lib/http/connection-headers.ts';
import { requestIdHeader } from '../http/request-id.ts';

/** Header with the client's address; trusted on a worker's own socket only. */
export const clientHeader = 'x-client-address';

export interface ForwarderOptions {
  /** Path of the writer's socket; `null` while there is no writer. */
  readonly socket: () => string | null;
  readonly clientAddress: (incoming: IncomingMessage) => string;
  /** Milliseconds that a request waits for a writer (default 25,000: a start takes seconds). */
  readonly timeoutMs?: number;
}

export interface Forwarder {
  /**
   * Answers with the writer's response.
   *
   * @throws WriterUnavailable before anything is answered
   */
  forward(incoming: IncomingMessage, outgoing: ServerResponse, requestId: string | undefined): Promise<void>;
  close(): void;
}

/** The writer is being restarted; the request may be sent again. */
export class WriterUnavailable extends Error {
  override readonly name = 'WriterUnavailable';
}

/** Milliseconds between two attempts. */
const againMs = 50;

export function createForwarder({ socket, clientAddress, timeoutMs = 25_000 }: ForwarderOptions): Forwarder {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 64 });
  return {
    async forward(incoming, outgoing, requestId) {
      const { method = 'GET' } = incoming;
      const isReading = method === 'GET' || method === 'HEAD';
      const until = performance.now() + timeoutMs;
      const headers = headersOf(incoming, clientAddress(incoming), requestId);
      // It is sent without a body: with the length of one, the writer would take the connection's next request for the body.
      if (isReading) delete headers['content-length'];
      // Node frames no body of a DELETE by itself: the writer would read it as the next request.
      else if (incoming.headers['transfer-encoding'] !== undefined) headers['transfer-encoding'] = 'chunked';
      for (;;) {
        const socketPath = socket();
        if (socketPath !== null) {
          // A kept-alive connection may just have been closed by the writer; only a request that changes nothing may use one.
          const options = { socketPath, method, path: incoming.url, headers, agent: isReading ? agent : false };
          const sent = await send(options, incoming, outgoing, isReading);
          if (sent === 'answered') return;
          if (sent === 'lost') break;
        }
        if (performance.now() > until || outgoing.destroyed) break;
        await wait(againMs);
      }
      throw new WriterUnavailable('The process that renders pages is starting.');
    },
    close: () => agent.destroy(),
  };
}

function headersOf(incoming: IncomingMessage, address: string, requestId: string | undefined): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries(incoming.headers)) if (!connectionHeaders.has(name)) headers[name] = value;
  headers[clientHeader] = address;
  if (requestId !== undefined) headers[requestIdHeader] = requestId;
  return headers;
}

/** @returns `again`: nothing has reached the writer; `lost`: something may have */
function send(
  options: RequestOptions,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  isReading: boolean,
): Promise<'answered' | 'again' | 'lost'> {
  return new Promise((resolve) => {
    const asked = request(options, (answer) => {
      const headers: string[] = [];
      for (let at = 0; at < answer.rawHeaders.length; at += 2) {
        const name = answer.rawHeaders[at] ?? '';
        if (!connectionHeaders.has(name.toLowerCase())) headers.push(name, answer.rawHeaders[at + 1] ?? '');
      }
      // The writer decides whether the response has one.
      outgoing.removeHeader(requestIdHeader);
      outgoing.writeHead(answer.statusCode ?? 502, headers);
      answer.pipe(outgoing);
      answer.once('error', () => outgoing.destroy());
      outgoing.once('close', () => {
        if (!answer.complete) asked.destroy();
        resolve('answered');
      });
    });
    let connected = false;
    asked.once('socket', (socket) => {
      const begin = (): void => {
        connected = true;
        if (isReading) asked.end();
        else incoming.pipe(asked);
      };
      if (socket.connecting) socket.once('connect', begin);
      else begin();
    });
    const hangUp = (): void => void asked.destroy();
    outgoing.once('close', hangUp);
    asked.once('error', () => {
      outgoing.off('close', hangUp);
      if (outgoing.headersSent) outgoing.destroy();
      resolve(isReading || !connected ? 'again' : 'lost');
    });
  });
}
