import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, request, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { clientHeader, createForwarder, WriterUnavailable } from './forward.ts';

const open: Server[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

const newSocket = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'forward-'));
  folders.push(folder);
  return join(folder, 'writer.sock');
};

async function listening(handle: RequestListener, at: string | number): Promise<Server> {
  const server = createServer(handle);
  open.push(server);
  await new Promise<void>((resolve) => server.listen(at, resolve));
  return server;
}

/** How often the forwarders have looked for their writer. */
let looked = 0;

/** A serving worker in front of a writer at `socket`. @returns its address */
async function inFront(socket: string, timeoutMs?: number): Promise<string> {
  const forwarder = createForwarder({
    socket() {
      looked++;
      return socket;
    },
    clientAddress: () => '192.0.2.7',
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
  const server = await listening((incoming, outgoing) => {
    forwarder.forward(incoming, outgoing, 'the-request-id').catch((error: unknown) => {
      outgoing.writeHead(error instanceof WriterUnavailable ? 503 : 500).end();
    });
  }, 0);
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const textOf = async (incoming: IncomingMessage): Promise<string> => {
  let text = '';
  for await (const chunk of incoming) text += chunk;
  return text;
};

it('a serving worker forwards method, address, body and headers to the writer, and returns its whole answer', async () => {
  const socket = newSocket();
  await listening(async (incoming, outgoing) => {
    const { method, url, headers } = incoming;
    const said = {
      method,
      url,
      body: await textOf(incoming),
      client: headers[clientHeader],
      id: headers['x-request-id'],
    };
    outgoing.writeHead(201, { 'set-cookie': ['a=1', 'b=2'], 'x-request-id': 'the-request-id' });
    outgoing.end(JSON.stringify({ ...said, te: headers.te ?? null }));
  }, socket);
  const base = await inFront(socket);
  const answer = await fetch(`${base}/api/x?y=1`, {
    method: 'POST',
    body: 'all of it',
    headers: { [clientHeader]: '203.0.113.9', te: 'trailers' },
  });
  expect(answer.status).toBe(201);
  expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  expect(await answer.json()).toEqual({
    method: 'POST',
    url: '/api/x?y=1',
    body: 'all of it',
    // The client's own headers about its address aren't believed.
    client: '192.0.2.7',
    id: 'the-request-id',
    te: null,
  });
});

it('a GET or HEAD is forwarded without its body and content-length, so that the next request stays intact', async () => {
  const socket = newSocket();
  await listening(({ url, headers }, outgoing) => {
    outgoing.end(`${url} ${headers['content-length'] ?? 'no length'}`);
  }, socket);
  const base = await inFront(socket);
  for (const method of ['GET', 'HEAD']) {
    const asked = request(`${base}/with-body`, { method, headers: { 'content-length': '40' } });
    asked.end('x'.repeat(40));
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    expect(await textOf(answer)).toBe(method === 'HEAD' ? '' : '/with-body no length');
    expect(await (await fetch(`${base}/next`)).text()).toBe('/next no length');
  }
});

it('a body that looks like a request stays the body of a DELETE', async () => {
  const socket = newSocket();
  const seen: string[] = [];
  await listening(async (incoming, outgoing) => {
    seen.push(`${incoming.method} ${incoming.url} ${await textOf(incoming)}`);
    outgoing.end('answered');
  }, socket);
  const asked = request(`${await inFront(socket)}/one`, {
    method: 'DELETE',
    headers: { 'transfer-encoding': 'chunked' },
  });
  const smuggled = 'GET /two HTTP/1.1\r\nhost: a\r\nx-client-address: 203.0.113.9\r\n\r\n';
  asked.end(smuggled);
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  expect([answer.statusCode, await textOf(answer)]).toEqual([200, 'answered']);
  expect(seen).toEqual([`DELETE /one ${smuggled}`]);
});

it('a POST is forwarded on a new connection, since the writer may already have closed a kept one', async () => {
  const socket = newSocket();
  const writer = await listening((_incoming, outgoing) => outgoing.end(), socket);
  let connections = 0;
  writer.on('connection', () => connections++);
  const base = await inFront(socket);
  for (const method of ['GET', 'GET', 'POST']) expect((await fetch(base, { method })).status).toBe(200);
  expect(connections).toBe(2);
});

it('requests of any method wait for a writer that is starting', async () => {
  const socket = newSocket();
  const base = await inFront(socket);
  const answers = [fetch(base), fetch(base, { method: 'POST', body: 'kept' })];
  looked = 0;
  await expect.poll(() => looked).toBeGreaterThan(3);
  await listening(async (incoming, outgoing) => {
    outgoing.end(`${incoming.method} ${await textOf(incoming)}`);
  }, socket);
  expect(await Promise.all(answers.map(async (answer) => (await answer).text()))).toEqual(['GET ', 'POST kept']);
});

it('a request gets 503 when no writer starts within the time limit', async () => {
  expect((await fetch(await inFront(newSocket(), 80))).status).toBe(503);
});

it('a GET is sent again when the writer ends, but a POST is sent only once and gets 503', async () => {
  const socket = newSocket();
  const asked: string[] = [];
  await listening((incoming, outgoing) => {
    asked.push(incoming.method ?? '');
    if (asked.length === 1 || incoming.method === 'POST') incoming.socket.destroy();
    else outgoing.end('answered');
  }, socket);
  const base = await inFront(socket);
  expect(await (await fetch(base)).text()).toBe('answered');
  expect((await fetch(base, { method: 'POST', body: 'pay' })).status).toBe(503);
  expect(asked).toEqual(['GET', 'GET', 'POST']);
});

it('the forwarded request ends when the client disconnects', async () => {
  const socket = newSocket();
  const ended = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  await listening((_, outgoing) => {
    outgoing.once('close', ended.resolve);
    begun.resolve();
  }, socket);
  const { port } = new URL(await inFront(socket));
  const client = connect(Number(port), '127.0.0.1');
  client.write('GET /slow HTTP/1.1\r\nhost: x\r\n\r\n');
  await begun.promise;
  client.destroy();
  await ended.promise;
});
