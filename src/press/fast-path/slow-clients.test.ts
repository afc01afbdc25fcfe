import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { lines, listen, open, portOf } from '../../../tests/world/fast-path.ts';
import { attachFastPath, secondNow } from './fast-path.ts';

const connections = (server: Server) =>
  new Promise<number>((resolve, reject) =>
    server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  );

describe('the fast path, facing slow and silent clients', () => {
  async function slow(options: { firstMs: number; idleMs: number }): Promise<Server> {
    const server = createServer((_, outgoing) => outgoing.end('server'));
    const body = Buffer.alloc(1024 * 1024, 'x');
    const headers = ['content-length', String(body.byteLength)];
    const kept = { body, whole: null };
    attachFastPath(server, () => ({ status: 200, headers, body, second: secondNow(), kept }), options);
    await listen(server);
    return server;
  }

  it('closes a connection that sends no request, and one that sends no further request', async () => {
    const short = await slow({ firstMs: 60, idleMs: 60_000 });
    const silent = open(short);
    await once(silent.socket, 'close');
    expect(silent.all()).toBe('');
    short.close();
    const server = await slow({ firstMs: 60_000, idleMs: 500 });
    const idle = open(server);
    idle.socket.write(lines('GET / HTTP/1.1', 'Host: a'));
    await once(idle.socket, 'close');
    expect((await idle.answers(1))[0]?.status).toBe(200);
    server.close();
  });

  it('stops reading requests while the client does not read the responses', async () => {
    const server = await slow({ firstMs: 60_000, idleMs: 60_000 });
    let served: Socket | undefined;
    server.prependListener('connection', (socket: Socket) => {
      served = socket;
    });
    const reader = connect(portOf(server), '127.0.0.1');
    reader.on('error', () => {});
    reader.setNoDelay(true);
    reader.pause();
    const request = lines('GET / HTTP/1.1', 'Host: a');
    let asked = 0;
    // Each request is sent separately, until the server stops reading.
    while (asked < 200 && !served?.isPaused()) {
      reader.write(request);
      asked++;
      await vi.waitFor(() => expect(served?.bytesRead).toBe(asked * request.length), { interval: 1 });
    }
    expect(served?.isPaused()).toBe(true);
    expect(served?.writableLength).toBeLessThan(8 * 1024 * 1024);
    reader.resume();
    await vi.waitFor(() => expect(served?.isPaused()).toBe(false));
    reader.destroy();
    server.closeAllConnections();
    server.close();
  });

  it('closes idle connections when the server closes, and finishes a response being sent', async () => {
    const server = await slow({ firstMs: 60_000, idleMs: 60_000 });
    const idle = open(server);
    await vi.waitFor(async () => expect(await connections(server)).toBe(1));
    const busy = connect(portOf(server), '127.0.0.1');
    busy.pause();
    busy.write(lines('GET / HTTP/1.1', 'Host: a'));
    await once(busy, 'readable');
    const closed = once(server, 'close');
    server.close();
    await once(idle.socket, 'close');
    let taken = 0;
    busy.on('data', (chunk) => {
      taken += chunk.length;
    });
    busy.resume();
    const tidy = setInterval(() => server.closeIdleConnections(), 5);
    await once(busy, 'close');
    clearInterval(tidy);
    await closed;
    expect(taken).toBeGreaterThan(1024 * 1024);
  });

  it('refuses an HTTP server that already has a connection listener', () => {
    const taken = createServer();
    taken.on('connection', () => {});
    expect(() => attachFastPath(taken, () => null, { firstMs: 1, idleMs: 1 })).toThrow('a new HTTP server');
  });
});
