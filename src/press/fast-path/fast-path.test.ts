import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createDoor, type Socket } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  type Answer,
  byFastPath,
  byServer,
  fast,
  forgetCalls,
  lines,
  listen,
  long,
  open,
  plain,
  send,
  startServers,
  stopServers,
  text,
} from '../../../tests/world/fast-path.ts';
import { attachFastPath, type KeptBody, secondNow } from './fast-path.ts';

beforeAll(startServers);
afterEach(forgetCalls);
afterAll(stopServers);

const stable = ({ status, headers: { date, age: _age, ...headers }, body }: Answer) => ({
  status,
  headers,
  body: body.toString('latin1'),
  dated: date !== undefined,
});

describe('the fast path', () => {
  const requests: [string, string][] = [
    ['a plain request', lines('GET / HTTP/1.1', 'Host: a')],
    [
      'a request for gzip',
      lines('GET /article/a HTTP/1.1', 'host: a', 'Accept-Encoding:gzip', 'Connection: Keep-Alive'),
    ],
    [
      'a request for Brotli',
      lines('GET /article/a HTTP/1.1', 'Host: a', 'accept-encoding:  gzip, br ', 'User-Agent: ünï'),
    ],
    ['a request for a long page', lines('GET /long HTTP/1.1', 'Host: a')],
    ['If-None-Match with *', lines('GET / HTTP/1.1', 'Host: a', 'If-None-Match: *')],
  ];
  it.each(requests)('gives the same response as node:http: %s', async (_, request) => {
    const [received] = await send(fast, request);
    expect(byServer).not.toHaveBeenCalled();
    const [expected] = await send(plain, request);
    expect(byServer).toHaveBeenCalledOnce();
    expect(received && stable(received)).toEqual(expected && stable(expected));
  });

  it('keeps a connection open, and hands it to node:http for good at the first POST', async () => {
    const client = open(fast);
    client.socket.write(lines('GET / HTTP/1.1', 'Host: a', 'Accept-Encoding: gzip'));
    const [first] = await client.answers(1);
    expect(gunzipSync(first?.body ?? '').toString()).toBe(text);
    client.socket.write(
      lines('GET / HTTP/1.1', 'Host: a', `If-None-Match: ${first?.headers.etag}`, 'Accept-Encoding: gzip'),
    );
    expect((await client.answers(2))[1]?.status).toBe(304);
    expect(byFastPath).toHaveBeenCalledTimes(2);
    client.socket.write(`${lines('POST / HTTP/1.1', 'Host: a', 'Content-Length: 3')}abc`);
    expect((await client.answers(3))[2]?.status).toBe(405);
    client.socket.write(lines('GET / HTTP/1.1', 'Host: a'));
    expect((await client.answers(4))[3]?.body.toString()).toBe(text);
    expect(byFastPath).toHaveBeenCalledTimes(2);
    expect(byServer).toHaveBeenCalledTimes(2);
    client.socket.destroy();
  });

  it('answers a client that half-closes right after its request, then closes the connection', async () => {
    const client = open(fast);
    client.socket.end(lines('GET / HTTP/1.1', 'Host: a'));
    await once(client.socket, 'close');
    expect((await client.answers(1))[0]?.body.toString()).toBe(text);
    expect(byFastPath).toHaveBeenCalledOnce();
  });
});

describe('requests passed on to node:http unchanged', () => {
  it.each([
    ['with the method HEAD', lines('HEAD / HTTP/1.1', 'Host: a')],
    ['without a Host header', lines('GET / HTTP/1.1', 'Accept: */*')],
    ['with two Host headers', lines('GET / HTTP/1.1', 'Host: a', 'Host: b')],
    ['over HTTP/1.0', lines('GET / HTTP/1.0', 'Host: a')],
    ['with an absolute URL', lines('GET http://a/ HTTP/1.1', 'Host: a')],
    ['with a folded header', lines('GET / HTTP/1.1', 'Host: a', ' b')],
    ['with a space before a colon', lines('GET / HTTP/1.1', 'Host: a', 'Accept : b')],
    ['with bare line feeds', 'GET / HTTP/1.1\nHost: a\n\n'],
    ['with one bare line feed', lines('GET / HTTP/1.1', 'Host: a\nX-A: b')],
    ['with a zero byte', lines('GET / HTTP/1.1', 'Host: a', 'X-A: \0')],
    ['with a body', `${lines('GET / HTTP/1.1', 'Host: a', 'Content-Length: 3')}abc`],
    ['with a Content-Length of 0', lines('GET / HTTP/1.1', 'Host: a', 'Content-Length: 0')],
    ['with a chunked body', `${lines('GET / HTTP/1.1', 'Host: a', 'Transfer-Encoding: chunked')}0\r\n\r\n`],
    ['with Connection: close', lines('GET / HTTP/1.1', 'Host: a', 'Connection: close')],
    ['with an upgrade to another protocol', lines('GET / HTTP/1.1', 'Host: a', 'Connection: upgrade', 'Upgrade: h2c')],
    ['with two Cookie headers', lines('GET / HTTP/1.1', 'Host: a', 'Cookie: a=1', 'Cookie: b=2')],
    ['with a space in the URL', lines('GET /a b HTTP/1.1', 'Host: a')],
    ['for a page that is not stored', lines('GET /missing HTTP/1.1', 'Host: a')],
    ['for a page whose lookup throws', lines('GET /throws HTTP/1.1', 'Host: a')],
    ['with a header of 9,000 characters', lines('GET / HTTP/1.1', 'Host: a', `X-A: ${'a'.repeat(9000)}`)],
    ['with a header of 20,000 characters', lines('GET / HTTP/1.1', 'Host: a', `X-A: ${'a'.repeat(20_000)}`)],
    ['that are not HTTP', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'],
  ])('%s', async (_, request) => {
    const [received] = await send(fast, request);
    expect(byFastPath).not.toHaveBeenCalled();
    // Where node:http refuses a request, no server is called.
    const called = byServer.mock.calls.slice();
    byServer.mockClear();
    const [expected] = await send(plain, request);
    expect(received && stable(received)).toEqual(expected && stable(expected));
    expect(called).toEqual(byServer.mock.calls);
  });

  it('two requests in one packet, answered in order', async () => {
    const two = lines('GET / HTTP/1.1', 'Host: a') + lines('GET /long HTTP/1.1', 'Host: a');
    const answers = await send(fast, two, 2);
    expect(answers.map(({ body }) => body.toString())).toEqual([text, long]);
    expect(byFastPath).not.toHaveBeenCalled();
    expect(byServer.mock.calls).toEqual([['/'], ['/long']]);
  });

  it('a request head that arrives in two parts, answered wherever it is cut', async () => {
    const request = lines('GET / HTTP/1.1', 'Host: a', 'Accept-Encoding: gzip');
    for (let cut = 1; cut < request.length; cut += 7) {
      const connected = once(fast, 'connection') as Promise<[Socket]>;
      const client = open(fast);
      client.socket.setNoDelay(true);
      client.socket.write(request.slice(0, cut));
      const [received] = await connected;
      await vi.waitFor(() => expect(received.bytesRead).toBe(cut), { interval: 1 });
      client.socket.write(request.slice(cut));
      expect(gunzipSync((await client.answers(1))[0]?.body ?? '').toString(), `${cut}`).toBe(text);
      client.socket.destroy();
      expect(byFastPath, `${cut}`).not.toHaveBeenCalled();
      expect(byServer.mock.calls, `${cut}`).toEqual([['/']]);
      byServer.mockClear();
    }
  });
});

describe('a connection handed over to node:http', () => {
  it('delivers a 300 kB body in full', async () => {
    const server = createServer(async (incoming, outgoing) => {
      let bytes = 0;
      for await (const chunk of incoming) bytes += (chunk as Buffer).byteLength;
      outgoing.end(String(bytes));
    });
    attachFastPath(server, () => null, { firstMs: 10_000, idleMs: 10_000 });
    await listen(server);
    const body = 'x'.repeat(300_000);
    const [answer] = await send(
      server,
      lines('POST / HTTP/1.1', 'Host: a', `Content-Length: ${body.length}`, 'Connection: close') + body,
    );
    expect(answer?.body.toString()).toContain('300000');
    server.close();
  });

  it('can be upgraded, read as a stream, and paused', async () => {
    const server = createServer();
    server.on('upgrade', (_, socket: Socket, head: Buffer) => {
      let bytes = head.byteLength;
      socket.on('data', (chunk) => {
        bytes += chunk.byteLength;
        socket.pause();
        setImmediate(() => socket.resume());
      });
      socket.on('end', () => socket.end(`${bytes} bytes`));
    });
    attachFastPath(server, () => null, { firstMs: 10_000, idleMs: 10_000 });
    await listen(server);
    const client = open(server);
    client.socket.write(lines('GET / HTTP/1.1', 'Host: a', 'Connection: upgrade', 'Upgrade: echo'));
    client.socket.end('y'.repeat(500_000));
    await once(client.socket, 'close');
    expect(client.all()).toBe('500000 bytes');
    server.close();
  });

  it('bypasses the fast path when its first bytes were already read', async () => {
    const server = createServer((incoming, outgoing) => outgoing.end(incoming.url));
    const serve = vi.fn(() => null);
    attachFastPath(server, serve, { firstMs: 10_000, idleMs: 10_000 });
    const door = createDoor((socket) => {
      socket.once('data', (chunk) => {
        socket.unshift(chunk);
        server.emit('connection', socket);
      });
    });
    await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
    const [answer] = await send(door as Server, lines('GET /first HTTP/1.1', 'Host: a'));
    expect(answer?.body.toString()).toContain('/first');
    expect(serve).not.toHaveBeenCalled();
    door.close();
  });
});

it('the fast path gives each of 40 simultaneous connections its own response', async () => {
  const clients = Array.from({ length: 40 }, (_, at) => ({ client: open(fast), isLong: at % 2 === 0 }));
  for (const { client, isLong } of clients)
    client.socket.write(lines(`GET ${isLong ? '/long' : '/article/a'} HTTP/1.1`, 'Host: a'));
  for (const { client, isLong } of clients) {
    expect((await client.answers(1))[0]?.body.toString()).toBe(isLong ? long : text);
    client.socket.destroy();
  }
  expect(byServer).not.toHaveBeenCalled();
});

it('the fast path reuses the bytes of a kept response and updates only its age and date', async () => {
  const server = createServer();
  const kept: KeptBody = { body: Buffer.from('the body'), whole: null };
  let age = '7';
  // The test's own second: the clock's may end between two requests.
  const second = secondNow();
  attachFastPath(
    server,
    () => ({
      status: 200,
      headers: ['content-type', 'text/plain', 'content-length', '8', 'age', age, 'server-timing', 'hit'],
      body: kept.body,
      second,
      kept,
    }),
    { firstMs: 10_000, idleMs: 10_000 },
  );
  await listen(server);
  const ask = async () => (await send(server, lines('GET / HTTP/1.1', 'Host: a')))[0];
  const first = await ask();
  expect(first?.headers.age).toBe('7');
  expect(first?.body.toString()).toBe('the body');
  const { whole } = kept;
  expect(kept.body.buffer).toBe(whole?.bytes.buffer);
  age = '123456';
  // Within the same second nothing is written.
  expect((await ask())?.headers.age).toBe('7');
  if (whole) {
    whole.second = 0;
    whole.bytes.write('Thu, 01 Jan 1970 00:00:00 GMT', whole.dateAt, 'latin1');
  }
  const later = await ask();
  expect(later?.headers.age).toBe('123456');
  expect(Math.abs(Date.parse(String(later?.headers.date)) - Date.now())).toBeLessThan(5000);
  expect(later?.body.toString()).toBe('the body');
  expect(kept.whole).toBe(whole);
  server.closeAllConnections();
  server.close();
});
