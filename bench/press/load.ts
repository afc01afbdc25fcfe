/**
 * The bench's own load generator, for machines without wrk: `node load.ts <port> <paths file> <connections> <seconds>
 * <turn>`. Keep-alive connections of one request at a time; prints requests per second, p99 and wrong answers.
 */
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';

const [port = '0', pathsFile = '', connections = '32', seconds = '3', first = '0'] = process.argv.slice(2);
const requests = readFileSync(pathsFile, 'utf8')
  .trim()
  .split('\n')
  .map((line) => {
    const [path, ...headers] = line.split('\t');
    return Buffer.from(`GET ${path} HTTP/1.1\r\n${['Host: 127.0.0.1', ...headers].join('\r\n')}\r\n\r\n`);
  });

/** Latencies in steps of 10 µs, up to a second. */
const histogram = new Uint32Array(100_000);
let turn = Number(first);
let answered = 0;
let total = 0;
let wrong = 0;
let counting = false;
let over = false;

/** What ends an answer in chunks, with the end of the chunk before it. */
const lastChunk = '\r\n0\r\n\r\n';

/** Bytes of an answer's body, infinite where it comes in chunks. @throws where the head does not tell its end */
function lengthOf(head: string): number {
  if (head.startsWith('HTTP/1.1 304')) return 0;
  if (/^transfer-encoding: chunked$/im.test(head)) return Number.POSITIVE_INFINITY;
  const length = /^content-length: (\d+)$/im.exec(head)?.[1];
  if (length === undefined) throw new Error(`The length of this response is unknown: ${head}`);
  return Number(length);
}

function open(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: Number(port), host: '127.0.0.1', noDelay: true });
    let asked = 0;
    /** Bytes of the body that are still to come: -1 before the head is read, infinite where it comes in chunks. */
    let missing = 0;
    let held = '';
    const ask = (): void => {
      asked = performance.now();
      missing = -1;
      socket.write(requests[turn++ % requests.length] ?? '');
    };
    const take = (body: Buffer): void => {
      if (missing !== Number.POSITIVE_INFINITY) missing -= body.byteLength;
      else {
        held = (held + body.subarray(-lastChunk.length).toString('latin1')).slice(-lastChunk.length);
        if (held !== lastChunk) return;
        held = '';
        missing = 0;
      }
      if (missing === 0) done();
    };
    const done = (): void => {
      total++;
      if (counting) {
        answered++;
        const step = Math.min(histogram.length - 1, Math.floor((performance.now() - asked) * 100));
        histogram[step] = (histogram[step] ?? 0) + 1;
      }
      if (over) socket.destroy();
      else ask();
    };
    socket.on('connect', ask);
    socket.on('data', (chunk) => {
      if (missing >= 0) return take(chunk);
      held += chunk.toString('latin1');
      const end = held.indexOf('\r\n\r\n');
      if (end === -1) return;
      const head = held.slice(0, end);
      const body = Buffer.from(held.slice(end + 4), 'latin1');
      if (!/^HTTP\/1\.1 (?:200|304)/.test(head)) wrong++;
      missing = lengthOf(head);
      held = '';
      take(body);
    });
    socket.on('close', () => (over ? resolve() : reject(new Error('The server closed a connection.'))));
    socket.on('error', reject);
  });
}

const sockets = Promise.all(Array.from({ length: Number(connections) }, open));
await new Promise((resolve) => setTimeout(resolve, 300));
counting = true;
const began = performance.now();
await new Promise((resolve) => setTimeout(resolve, Number(seconds) * 1000));
counting = false;
const passed = (performance.now() - began) / 1000;
over = true;
await sockets;
let left = answered * 0.01;
let p99 = histogram.length - 1;
while (p99 > 0 && left > 0) left -= histogram[p99--] ?? 0;
process.stdout.write(`${JSON.stringify({ rate: answered / passed, requests: total, p99: p99 / 100, wrong })}\n`);
