import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as createDoor, type Socket } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { respondWithPage, responseFromCache } from '../delivery/respond.ts';
import { html, press, type TestPress, tempDir } from '../testing.ts';
import { attachFastPath, type KeptBody, readHead, secondNow } from './fast-path.ts';

const text = '<p>It shines for all.</p>'.repeat(400);
const long = Array.from({ length: 20_000 }, (_, n) => `<p>${n * 7919}</p>`).join('');
let folder: ReturnType<typeof tempDir>;
let cache: TestPress;
let fast: Server;
let plain: Server;
const byServer = vi.fn();
const byFastPath = vi.fn();

beforeAll(async () => {
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
});
afterEach(() => {
  byServer.mockClear();
  byFastPath.mockClear();
});
afterAll(async () => {
  for (const server of [fast, plain]) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  await cache.close();
  folder.remove();
});

const listen = (server: Server) => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const portOf = (server: Server): number => (server.address() as AddressInfo).port;

interface Client {
  readonly socket: Socket;
  readonly all: () => string;
  /** Waits until this many answers with their bodies have arrived, or the connection has ended. */
  readonly answers: (count: number) => Promise<Answer[]>;
}
interface Answer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

function open(server: Server, bodies = true): Client {
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

async function send(server: Server, request: string, count = 1): Promise<Answer[]> {
  const client = open(server, !request.startsWith('HEAD'));
  client.socket.write(request, 'latin1');
  const answers = await client.answers(count);
  client.socket.destroy();
  return answers;
}

const lines = (...headers: string[]): string => `${headers.join('\r\n')}\r\n\r\n`;
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

const connections = (server: Server) =>
  new Promise<number>((resolve, reject) =>
    server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  );

/** Whole numbers below a bound, the same ones in every run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

it('the fast path reads every request head that it accepts exactly as node:http does', async () => {
  const pick = numbers(20_261_121);
  const parts = [
    'GET',
    'get',
    'HEAD',
    ' ',
    '  ',
    '/',
    '/article/a',
    '/a?b=c',
    '*',
    '#',
    'HTTP/1.1',
    'HTTP/1.0',
    '\r\n',
    '\n',
    '\r',
    '\t',
    ':',
    ': ',
    'Host',
    'host',
    'a',
    'Accept-Encoding',
    'gzip',
    'br;q=0',
    'If-None-Match',
    '*',
    'Cookie',
    'Content-Length',
    '0',
    'Connection',
    'keep-alive',
    'Transfer-Encoding',
    'chunked',
    '\0',
    '\x7f',
    '\xe9',
    '"',
    ',',
    ';',
    'Expect',
    'User-Agent',
    '100-continue',
  ] as const;
  const whole = [
    'GET',
    ' ',
    '/article/a',
    ' ',
    'HTTP/1.1',
    '\r\n',
    'Host',
    ': ',
    'a',
    '\r\n',
    'Accept-Encoding',
    ': ',
    'gzip',
    '\r\n',
    'Cookie',
    ': ',
    'a',
    '\r\n',
    '\r\n',
  ];
  let understood = 0;
  for (let round = 0; round < 400; round++) {
    const request = [...whole];
    for (let change = pick(3); change >= 0; change--) {
      const at = pick(request.length);
      const part = parts[pick(parts.length)] ?? '';
      if (pick(3) === 0) request.splice(at, 1);
      else request.splice(at, pick(2), part);
    }
    const head = request.join('');
    const parsed = readHead(head);
    if (!parsed) continue;
    understood++;
    // Whatever the fast path understands, node:http must parse as exactly one request with the same meaning.
    const seen: unknown[] = [];
    const peer = createServer((incoming, outgoing) => {
      const { url, headers, method } = incoming;
      seen.push([
        method,
        url,
        headers['accept-encoding'],
        headers['if-none-match'],
        headers.cookie,
        headers['user-agent'],
      ]);
      outgoing.end('received');
    });
    await listen(peer);
    const answers = await send(peer, head);
    peer.closeAllConnections();
    peer.close();
    expect(
      answers.map(({ status }) => status),
      JSON.stringify(head),
    ).toEqual([200]);
    const { target, headers } = parsed;
    expect(seen, JSON.stringify(head)).toEqual([
      ['GET', target, headers['accept-encoding'], headers['if-none-match'], headers.cookie, headers['user-agent']],
    ]);
  }
  expect(understood).toBeGreaterThan(40);
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
