/** How connections end when a server stops. */
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { shutDown, trackConnections } from './shutdown.ts';

let server: Server;
let waiting: ServerResponse[];

beforeEach(async () => {
  waiting = [];
  server = createServer((incoming, outgoing) => {
    if (incoming.url === '/slow') waiting.push(outgoing);
    else outgoing.end('quick');
  });
  trackConnections(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  server.closeAllConnections();
});

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

async function open(): Promise<{ socket: Socket; text: () => string; ended: Promise<unknown> }> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  // Rejects with the error of a reset.
  const ended = once(socket, 'close');
  ended.catch(() => {});
  await once(socket, 'connect');
  return { socket, text: () => text, ended };
}

it('at shutdown, a connection closes with its current response, or with its next one if it is kept alive', async () => {
  const [slow, kept] = await Promise.all([open(), open()]);
  slow.socket.write(get('/slow'));
  kept.socket.write(get('/quick'));
  await expect.poll(() => waiting.length === 1 && kept.text().endsWith('quick')).toBe(true);
  expect(kept.text()).toContain('Connection: keep-alive');
  const stopped = shutDown(server, 60_000, 30_000);
  kept.socket.write(get('/quick'));
  await kept.ended;
  waiting[0]?.end('finished');
  await slow.ended;
  expect(kept.text()).toMatch(/Connection: close[\s\S]*quick$/);
  expect(slow.text()).toMatch(/Connection: close[\s\S]*finished$/);
  expect(await stopped).toBe(true);
});

it('at shutdown, an idle connection ends with a FIN, and a request on its way causes no reset', async () => {
  const idle = await open();
  idle.socket.write(get('/quick'));
  await expect.poll(() => idle.text().endsWith('quick')).toBe(true);
  idle.socket.allowHalfOpen = true;
  const stopped = shutDown(server, 60_000, 60);
  await once(idle.socket, 'end');
  // The client sends a request before it has noticed the end.
  idle.socket.write(get('/quick'));
  idle.socket.end();
  await idle.ended;
  expect(await stopped).toBe(true);
});

it('at shutdown, a connection may send its next request before it counts as idle', async () => {
  const kept = await open();
  kept.socket.write(get('/quick'));
  await expect.poll(() => kept.text().endsWith('quick')).toBe(true);
  const stopped = shutDown(server, 60_000, 60_000);
  let over = false;
  void stopped.then(() => {
    over = true;
  });
  server.closeIdleConnections();
  kept.socket.write(get('/quick'));
  await kept.ended;
  expect(kept.text().match(/200 OK/g)).toHaveLength(2);
  await expect.poll(() => over).toBe(true);
});

it('shutdown does not wait forever for a client that keeps its side open', async () => {
  const silent = await open();
  silent.socket.allowHalfOpen = true;
  const began = performance.now();
  expect(await shutDown(server, 10_000, 50)).toBe(true);
  expect(performance.now() - began).toBeLessThan(8000);
  silent.socket.destroy();
});
