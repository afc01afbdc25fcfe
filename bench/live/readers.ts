/**
 * Readers with an open page of a live story, as a process of their own: `node bench/live/readers.ts`. Each has a connection, connects again
 * as a browser does, and keeps which entries it has. Controlled by messages; answers each with a message.
 */
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { browsersEncodings, textOf } from '../support/http.ts';

/** Messages to the process. */
export type ToReaders =
  | {
      readonly kind: 'open';
      readonly count: number;
      readonly story: number;
      readonly page: string;
      readonly port: number;
    }
  /** The restarted site listens on another port. */
  | { readonly kind: 'port'; readonly port: number }
  /** How many readers have this entry: asked often, so the answer must be cheap. */
  | { readonly kind: 'arrived'; readonly id: number }
  | { readonly kind: 'report' };

export interface Arrived {
  readonly kind: 'arrived';
  readonly count: number;
}

/** What all readers have by now. */
export interface Report {
  readonly kind: 'report';
  /** Readers with a connection. */
  readonly open: number;
  /** When each entry reached each reader: nanoseconds of the machine's monotonic clock, by the entry's number. */
  readonly arrivals: Readonly<Record<number, readonly number[]>>;
  /** Readers by the list of the entries that they have. */
  readonly holding: Readonly<Record<string, number>>;
  /** Entries that came in a version that the reader had. */
  readonly duplicates: number;
  /** Times that a page was fetched instead. */
  readonly fetched: number;
}

interface Reader {
  readonly from: string;
  socket: Socket | null;
  /** The text of the stream that hasn't been read. */
  rest: string;
  retry: number;
  state: string;
  /** Versions by the entry's number. */
  readonly has: Map<number, string>;
  isOpen: boolean;
}

const readers: Reader[] = [];
const arrivals = new Map<number, number[]>();
let [port, story, page, duplicates, fetched] = [0, 0, '', 0, 0];
/** Connections that are opened at the same time at the beginning. */
const atOnce = 250;

const entryOf = (html: string): readonly [id: number, version: string] => [
  Number(/data-entry="(\d+)"/.exec(html)?.[1] ?? 0),
  /data-version="(\w+)"/.exec(html)?.[1] ?? '',
];

function open(reader: Reader): void {
  const socket = connect({ port, host: '127.0.0.1', localAddress: reader.from });
  reader.socket = socket;
  reader.rest = '';
  socket.setNoDelay(true);
  socket.write(
    `GET /live/${story}?since=${reader.state} HTTP/1.1\r\nHost: paper.example\r\nAccept: text/event-stream\r\nLast-Event-ID: ${reader.state}\r\n\r\n`,
  );
  socket.on('data', (data) => take(reader, data.toString('latin1')));
  socket.on('error', () => {});
  socket.on('close', () => {
    reader.isOpen = false;
    setTimeout(() => open(reader), reader.retry);
  });
}

function take(reader: Reader, text: string): void {
  reader.isOpen = true;
  reader.rest += text;
  for (let end = reader.rest.indexOf('\n\n'); end >= 0; end = reader.rest.indexOf('\n\n')) {
    event(reader, reader.rest.slice(0, end));
    reader.rest = reader.rest.slice(end + 2);
  }
}

function event(reader: Reader, text: string): void {
  // A chunk's length and end are lines of their own before an event.
  const name = /^event: (\w+)$/m.exec(text)?.[1];
  const id = /^id: (\S+)$/m.exec(text)?.[1];
  const retry = /retry: (\d+)/.exec(text)?.[1];
  if (retry !== undefined) reader.retry = Number(retry);
  if (name === 'entry') keep(reader, text);
  if (name === 'gone') reader.has.delete(Number(/^data: (\d+)$/m.exec(text)?.[1]));
  if (id !== undefined) reader.state = id;
  if (name === 'sync') {
    reader.state = /^data: (\S+)$/m.exec(text)?.[1] ?? '';
    void fetchPage(reader);
  }
}

function keep(reader: Reader, html: string): void {
  const [id, version] = entryOf(html);
  if (reader.has.get(id) === version) duplicates++;
  reader.has.set(id, version);
  const times = arrivals.get(id) ?? [];
  if (times.length === 0) arrivals.set(id, times);
  times.push(Number(process.hrtime.bigint()));
}

const ask = (from: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const headers = { 'accept-encoding': browsersEncodings };
    request({ port, host: '127.0.0.1', localAddress: from, path: page, headers, agent: false }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () => {
        resolve(textOf({ headers: incoming.headers, bytes: Buffer.concat(chunks) }));
      });
    })
      .on('error', reject)
      .end();
  });

/**
 * Fetches the page and takes over its entries, again and again until the page has the latest state that the stream has named.
 */
async function fetchPage(reader: Reader): Promise<void> {
  for (let wait = 300; ; wait *= 1.5) {
    fetched++;
    const html = await ask(reader.from).catch(() => '');
    if (html.includes(`data-state="${reader.state}"`)) {
      const shown = [...html.matchAll(/<article class="entry"[^>]*>/g)].map(([tag]) => entryOf(tag));
      reader.has.clear();
      for (const [id, version] of shown) reader.has.set(id, version);
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

async function begin(count: number): Promise<void> {
  const html = await ask('127.0.1.1');
  const state = /data-state="([^"]+)"/.exec(html)?.[1] ?? '';
  const shown = [...html.matchAll(/<article class="entry"[^>]*>/g)].map(([tag]) => entryOf(tag));
  for (let at = 0; at < count; at++) {
    // The site limits connections per address.
    const from = `127.0.1.${1 + Math.floor(at / 150)}`;
    readers.push({ from, socket: null, rest: '', retry: 1000, state, has: new Map(shown), isOpen: false });
  }
  for (let at = 0; at < count; at += atOnce) {
    const some = readers.slice(at, at + atOnce);
    for (const reader of some) open(reader);
    while (some.some(({ isOpen }) => !isOpen)) await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function report(): Report {
  const holding: Record<string, number> = {};
  for (const { has } of readers) {
    const list = [...has.keys()].sort((a, b) => a - b).join();
    holding[list] = (holding[list] ?? 0) + 1;
  }
  const open = readers.filter(({ isOpen }) => isOpen).length;
  return { kind: 'report', open, arrivals: Object.fromEntries(arrivals), holding, duplicates, fetched };
}

if (process.send) {
  process.on('message', (message: ToReaders) => {
    if (message.kind === 'report') process.send?.(report());
    if (message.kind === 'arrived') {
      process.send?.({ kind: 'arrived', count: arrivals.get(message.id)?.length ?? 0 } satisfies Arrived);
    }
    if (message.kind === 'port') port = message.port;
    if (message.kind === 'open') {
      ({ port, story, page } = message);
      void begin(message.count).then(() => process.send?.(report()));
    }
  });
  process.on('disconnect', () => process.exit(0));
}
