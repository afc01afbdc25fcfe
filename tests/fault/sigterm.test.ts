/** SIGTERM under load: no connection is reset, and each is told by its last answer, or by its end, that there is no next one. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Paper, startPaper, until } from '../fixtures/paper.ts';

let paper: Paper;

beforeAll(async () => {
  paper = await startPaper();
  await paper.ask('/article/story-1');
});
afterAll(() => paper.close());

interface Client {
  readonly answers: () => number;
  /** Whether the last answer said that the connection ends. */
  readonly told: () => boolean;
  /** Whether a request had been sent that has no answer. */
  readonly waiting: () => boolean;
  readonly reset: () => boolean;
  readonly closed: Promise<unknown>;
}

/** Asks for one address again and again over one connection, or once. */
function client(port: number, path: string, again: boolean): Client {
  const socket: Socket = connect(port, '127.0.0.1');
  const request = `GET ${path} HTTP/1.1\r\nHost: paper.example\r\n\r\n`;
  let [text, answers, told, waiting, reset] = ['', 0, false, true, false];
  socket.write(request);
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
    const end = text.indexOf('\r\n\r\n');
    if (end === -1) return;
    const head = text.slice(0, end).toLowerCase();
    const length = Number(/content-length: (\d+)/.exec(head)?.[1] ?? 0);
    if (text.length < end + 4 + length) return;
    text = '';
    answers++;
    waiting = false;
    told = head.includes('connection: close');
    if (told || !again) return;
    waiting = true;
    socket.write(request);
  });
  socket.on('error', () => {
    reset = true;
  });
  return {
    answers: () => answers,
    told: () => told,
    waiting: () => waiting,
    reset: () => reset,
    closed: once(socket, 'close').catch(() => {}),
  };
}

it('resets none of many connections under load, and ends idle ones in order', async () => {
  const port = paper.port();
  // Stored pages on the fast path, pages that are rendered for each reader, and connections that idle after one answer.
  const busy = Array.from({ length: 32 }, () => client(port, '/article/story-1', true));
  const slow = Array.from({ length: 8 }, (_, at) => client(port, `/search?q=story+${at}`, true));
  const idle = Array.from({ length: 8 }, (_, at) =>
    client(port, at < 4 ? '/article/story-1' : '/search?q=words', false),
  );
  const all = [...busy, ...slow, ...idle];
  await until(() => all.every(({ answers }) => answers() > 0) && busy.every(({ answers }) => answers() > 5));
  await paper.kill('SIGTERM');
  await Promise.all(all.map(({ closed }) => closed));
  expect(all.filter(({ reset }) => reset())).toHaveLength(0);
  expect(all.filter(({ waiting }) => waiting())).toHaveLength(0);
  expect([...busy, ...slow].filter(({ told }) => !told())).toHaveLength(0);
  expect(paper.site()?.exitCode).toBe(0);
});
