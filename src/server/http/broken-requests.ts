/** Answers what never becomes a request: a broken head, a method that HTTP does not know, a tunnel. */
import { type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

/** Statuses by the code of Node's error; anything else is 400. */
const statuses: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_INVALID_METHOD: 501,
};

/**
 * Attaches the answers to a server.
 *
 * @param always headers of every answer
 */
export function answerBrokenRequests(server: Server, always: Readonly<Record<string, string>>): void {
  const fixed = Object.entries(always).map(([name, value]) => `${name}: ${value}\r\n`);
  const end = (socket: Duplex, status: number, more = ''): void => {
    socket.end(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${fixed.join('')}${more}content-length: 0\r\nconnection: close\r\n\r\n`,
    );
  };
  server.on('connect', (_request, socket) => {
    socket.on('error', () => socket.destroy());
    end(socket, 405, 'allow: GET, HEAD\r\n');
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // A status line in the middle of an answer would be read as part of it.
    const answering = (socket as { _httpMessage?: { headersSent?: boolean } })._httpMessage?.headersSent === true;
    if (!socket.writable || answering || error.code === 'ECONNRESET') socket.destroy();
    else end(socket, statuses[error.code ?? ''] ?? 400);
  });
}
