/** Two servers with the same pages, one of them with the fast path, and a client that splits the responses. */
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { vi } from 'vitest';
import { respondWithPage, responseFromCache } from '../../src/press/delivery/respond.ts';
import { attachFastPath } from '../../src/press/fast-path/fast-path.ts';
import { html, press, type TestPress, tempDir } from '../../src/press/testing.ts';

export const text = '<p>It shines for all.</p>'.repeat(400);
export const long = Array.from({ length: 20_000 }, (_, n) => `<p>${n * 7919}</p>`).join('');
let folder: ReturnType<typeof tempDir>;
let cache: TestPress;
export let fast: Server;
export let plain: Server;
export const byServer = vi.fn();
export const byFastPath = vi.fn();

export async function startServers(): Promise<void> {
  folder = tempDir();
  cache = press(folder.dir, {
    render: async (key) =>
      key === '/missing' ? { ...html('not here'), status: 404, storable: false } : html(key === '/long' ? long : text),
  });
  for (const key of ['/', '/article/a', '/long', '/throws', 'http://a/']) await cache.press.get(key, 'public');
  const make = () =>
    createServer({ keepAliveTimeout: 65_000, maxHeaderSize: 16 * 1024 }, (incoming, outgoing) => {
      byServer(incoming.url);
      incoming.resume();
      if (incoming.method !== 'GET' && incoming.method !== 'HEAD') return void outgoing.writeHead(405).end('no\n');
      cache.press
        .get(incoming.url ?? '', 'public')
        .then((page) => void respondWithPage(page, incoming, outgoing, cache.press))
        .catch(() => outgoing.destroy());
    });
  fast = make();
  plain = make();
  attachFastPath(
    fast,
    ({ target, headers }) => {
      if (target === '/throws') throw new Error('no');
      const entry = cache.press.peek(target, 'public');
      const response = entry ? responseFromCache(entry, headers, cache.press, 'hit', false) : null;
      if (response) byFastPath(target);
      return response;
    },
    { firstMs: 65_000, idleMs: 65_000 },
  );
  for (const server of [fast, plain]) await listen(server);
}

export function forgetCalls(): void {
  byServer.mockClear();
  byFastPath.mockClear();
}

export async function stopServers(): Promise<void> {
  for (const server of [fast, plain]) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  await cache.close();
  folder.remove();
}

export const listen = (server: Server) => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
export const portOf = (server: Server): number => (server.address() as AddressInfo).port;

export interface Client {
  readonly socket: Socket;
  readonly all: () => string;
  /** Waits until this many answers with their bodies have arrived, or the connection has ended. */
  readonly answers: (count: number) => Promise<Answer[]>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

export function open(server: Server, bodies = true): Client {
  const socket = connect(portOf(server), '127.0.0.1');
  let data = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    data = Buffer.concat([data, chunk]);
  });
  socket.on('error', () => {});
  return {
    socket,
    all: () => data.toString('latin1'),
    answers: async (count) => {
      await vi.waitFor(
        () => {
          if (!socket.closed && split(data, bodies).length < count) throw new Error(`not ${count} yet`);
        },
        { interval: 5 },
      );
      return split(data, bodies);
    },
  };
}

/** Splits a server's output into answers. */
function split(data: Buffer, bodies = true): Answer[] {
  const found: Answer[] = [];
  let at = 0;
  for (let end = data.indexOf('\r\n\r\n', at); end !== -1; end = data.indexOf('\r\n\r\n', at)) {
    const [first = '', ...lines] = data.subarray(at, end).toString('latin1').split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    );
    const status = Number(first.split(' ')[1]);
    let length = bodies ? Number(headers['content-length'] ?? 0) : 0;
    let body = data.subarray(end + 4, end + 4 + length);
    if (headers['transfer-encoding'] === 'chunked') {
      const stop = data.indexOf('0\r\n\r\n', end + 4);
      if (stop === -1) break;
      length = stop + 5 - (end + 4);
      body = data.subarray(end + 4, stop);
    }
    if (data.length < end + 4 + length) break;
    found.push({ status, headers, body });
    at = end + 4 + length;
  }
  return found;
}

export async function send(server: Server, request: string, count = 1): Promise<Answer[]> {
  const client = open(server, !request.startsWith('HEAD'));
  client.socket.write(request, 'latin1');
  const answers = await client.answers(count);
  client.socket.destroy();
  return answers;
}

export const lines = (...headers: string[]): string => `${headers.join('\r\n')}\r\n\r\n`;
