/**
 * A pooler in transaction mode in front of a PostgreSQL, as strict as PgBouncer 1.20: clients share a few server connections, each of which
 * is a client's for one transaction. Whatever needs a session is refused, while PgBouncer would let it through and break later. It knows no
 * passwords and no encryption.
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Socket, connect as tcpConnect } from 'node:net';

export interface Pooler {
  /** The address of a database behind it, from the address of the database itself. */
  address(database: string): string;
  /** What was refused, one sentence each. */
  readonly refused: readonly string[];
  readonly counts: { clients: number; mostClients: number; servers: number; mostServers: number; transactions: number };
  close(): void;
}

export interface PoolerOptions {
  /** Most server connections for each database (default 2). */
  readonly poolSize?: number;
  /** `ignore_startup_parameters`. */
  readonly ignored?: readonly string[];
}

/** Parameters that PgBouncer follows; others it refuses unless they are ignored. */
const followed = [
  'user',
  'database',
  'client_encoding',
  'application_name',
  'datestyle',
  'timezone',
  'standard_conforming_strings',
];

/** What belongs to a session. */
const sessionOnly: readonly [RegExp, string][] = [
  [/^\s*set\s+(?!local\b|transaction\b|constraints\b)/i, 'SET of the session'],
  [/^\s*reset\b/i, 'RESET'],
  [/^\s*(?:un)?listen\b/i, 'LISTEN'],
  [/\bpg_(?:try_)?advisory_(?:lock|unlock)/i, 'an advisory lock of the session'],
  [/^\s*(?:prepare|deallocate|execute)\b/i, 'a prepared statement of SQL'],
  [/\bwith\s+hold\b/i, 'a cursor with hold'],
  [/^\s*create\s+(?:local\s+|global\s+)?temp/i, 'a temporary table'],
  [/\bset_config\s*\([^)]*,\s*false\s*\)/i, 'set_config of the session'],
  [/^\s*load\b/i, 'LOAD'],
];

interface Server {
  readonly socket: Socket;
  client: Client | null;
}

interface Client {
  readonly socket: Socket;
  server: Server | null;
  /** Messages that wait for a server connection. */
  waiting: Buffer[];
  /** Requests that a ReadyForQuery hasn't answered yet. */
  open: number;
}

interface Pool {
  readonly upstream: URL;
  readonly size: number;
  /** The connection that has been idle longest comes first, so that a client seldom gets the same one again. */
  readonly idle: Server[];
  readonly queue: Client[];
  /** ParameterStatus messages of the first server connection. */
  greeting: Buffer | null;
  servers: number;
}

interface State {
  readonly refused: string[];
  readonly counts: Pooler['counts'];
  readonly ignored: readonly string[];
  readonly pools: Map<string, Pool>;
  readonly sockets: Set<Socket>;
}

export async function startPooler({ poolSize = 2, ignored = [] }: PoolerOptions = {}): Promise<Pooler> {
  const counts = { clients: 0, mostClients: 0, servers: 0, mostServers: 0, transactions: 0 };
  const state: State = { refused: [], counts, ignored, pools: new Map(), sockets: new Set() };
  const listener = createServer((socket) => accept(state, socket));
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  return {
    refused: state.refused,
    counts,
    address(database) {
      const upstream = new URL(database);
      const name = upstream.pathname.slice(1);
      state.pools.set(name, { upstream, size: poolSize, idle: [], queue: [], greeting: null, servers: 0 });
      return `postgres://${upstream.username}@127.0.0.1:${port}/${name}`;
    },
    close() {
      listener.close();
      for (const socket of state.sockets) socket.destroy();
    },
  };
}

// Messages of PostgreSQL's protocol: a letter, except in the first one of a client, a length that counts itself, and the rest.

const message = (letter: string, ...parts: Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(letter.length + 4);
  head.write(letter, 'latin1');
  head.writeInt32BE(body.byteLength + 4, letter.length);
  return Buffer.concat([head, body]);
};
const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};
const cString = (text: string): Buffer => Buffer.from(`${text}\0`);
const fatal = (code: string, sentence: string): Buffer =>
  message('E', cString('SFATAL'), cString('VFATAL'), cString(`C${code}`), cString(`M${sentence}`), Buffer.from([0]));

/** Cuts a stream into messages. @param letters 1, or 0 for the first message of a client */
function* messagesIn(stream: { rest: Buffer }, letters: 0 | 1): Generator<Buffer> {
  while (stream.rest.byteLength >= letters + 4) {
    const length = letters + stream.rest.readInt32BE(letters);
    if (stream.rest.byteLength < length) return;
    const whole = stream.rest.subarray(0, length);
    stream.rest = stream.rest.subarray(length);
    yield whole;
  }
}

function keep(state: State, socket: Socket): void {
  state.sockets.add(socket);
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  socket.once('close', () => state.sockets.delete(socket));
}

const sslRequest = 80_877_103;

function accept(state: State, socket: Socket): void {
  keep(state, socket);
  const stream = { rest: Buffer.alloc(0) };
  let session: { pool: Pool; client: Client } | null = null;
  socket.on('data', async (bytes) => {
    stream.rest = Buffer.concat([stream.rest, bytes]);
    if (!session) {
      const [first] = messagesIn(stream, 0);
      if (!first) return;
      if (first.readInt32BE(4) === sslRequest) return void socket.write('N');
      socket.pause();
      session = await begin(state, socket, first);
      socket.resume();
      if (!session) return;
    }
    for (const each of messagesIn(stream, 1)) fromClient(state, session.pool, session.client, each);
  });
  socket.once('close', () => {
    if (session) leave(state, session.pool, session.client);
  });
}

/** Answers the first message of a client. @returns `null` when it was refused */
async function begin(state: State, socket: Socket, first: Buffer): Promise<{ pool: Pool; client: Client } | null> {
  const words = first.subarray(8).toString().split('\0');
  const given = new Map<string, string>();
  for (let at = 0; words[at]; at += 2) given.set((words[at] as string).toLowerCase(), words[at + 1] ?? '');
  const refuse = (sentence: string): null => {
    state.refused.push(sentence);
    socket.end(fatal('08P01', sentence));
    return null;
  };
  for (const name of given.keys())
    if (!followed.includes(name) && !state.ignored.includes(name))
      return refuse(`unsupported startup parameter: ${name}`);
  const pool = state.pools.get(given.get('database') ?? '');
  if (!pool) return refuse(`no such database: ${given.get('database')}`);
  if (!pool.greeting) {
    const server = await open(state, pool).catch(() => null);
    if (!server) {
      socket.end(fatal('08006', 'server connection failed'));
      return null;
    }
    rest(state, pool, server);
  }
  const greeting = pool.greeting ?? Buffer.alloc(0);
  const client: Client = { socket, server: null, waiting: [], open: 0 };
  state.counts.mostClients = Math.max(state.counts.mostClients, ++state.counts.clients);
  const key = message('K', int32(1), int32(1));
  socket.write(Buffer.concat([message('R', int32(0)), greeting, key, message('Z', Buffer.from('I'))]));
  return { pool, client };
}

function fromClient(state: State, pool: Pool, client: Client, bytes: Buffer): void {
  const letter = String.fromCharCode(bytes[0] as number);
  if (letter === 'X') return void client.socket.end();
  const reason = whyRefused(letter, bytes.subarray(5));
  if (reason !== null) {
    state.refused.push(reason);
    client.socket.end(fatal('0A000', `not in transaction mode: ${reason}`));
    return;
  }
  if (letter === 'Q' || letter === 'S' || letter === 'F') client.open++;
  if (client.server) return void client.server.socket.write(bytes);
  client.waiting.push(bytes);
  if (client.waiting.length === 1) void serve(state, pool, client);
}

function whyRefused(letter: string, body: Buffer): string | null {
  const words = body.toString().split('\0');
  const [name = '', second = ''] = words;
  if (letter === 'P' && name !== '') return `the named prepared statement ${name}`;
  // Bind: portal and statement. Describe and Close: a letter, then the name of a statement or a portal.
  if (letter === 'B' && second !== '') return `the named prepared statement ${second}`;
  if ((letter === 'D' || letter === 'C') && name.startsWith('S') && name !== 'S')
    return `the named prepared statement ${name}`;
  const text = letter === 'Q' ? name : letter === 'P' ? second : '';
  const found = sessionOnly.find(([pattern]) => pattern.test(text));
  return found ? `${found[1]}: ${text.trim().slice(0, 80)}` : null;
}

/** Gives a client a server connection, or queues it. */
async function serve(state: State, pool: Pool, client: Client): Promise<void> {
  const idle = pool.idle.shift();
  if (idle) return attach(state, idle, client);
  if (pool.servers >= pool.size) return void pool.queue.push(client);
  try {
    attach(state, await open(state, pool), client);
  } catch {
    client.socket.end(fatal('08006', 'server connection failed'));
  }
}

function attach(state: State, server: Server, client: Client): void {
  state.counts.transactions++;
  server.client = client;
  client.server = server;
  server.socket.write(Buffer.concat(client.waiting));
  client.waiting = [];
}

/** Gives a server connection to the next client in the queue. */
function rest(state: State, pool: Pool, server: Server): void {
  server.client = null;
  const next = pool.queue.shift();
  if (next) attach(state, server, next);
  else pool.idle.push(server);
}

function leave(state: State, pool: Pool, client: Client): void {
  state.counts.clients--;
  const at = pool.queue.indexOf(client);
  if (at >= 0) pool.queue.splice(at, 1);
  // During a transaction PgBouncer closes the server connection, too.
  client.server?.socket.destroy();
}

/** Opens a connection to PostgreSQL. @throws Error when it doesn't answer */
function open(state: State, pool: Pool): Promise<Server> {
  const { promise, resolve, reject } = Promise.withResolvers<Server>();
  const { upstream } = pool;
  const socket = tcpConnect(Number(upstream.port), upstream.hostname);
  const server: Server = { socket, client: null };
  keep(state, socket);
  pool.servers++;
  state.counts.mostServers = Math.max(state.counts.mostServers, ++state.counts.servers);
  const parameters = { user: upstream.username, database: upstream.pathname.slice(1), client_encoding: 'UTF8' };
  const words = Object.entries(parameters).flatMap(([name, value]) => [cString(name), cString(value)]);
  socket.once('connect', () => socket.write(message('', int32(196_608), ...words, Buffer.from([0]))));
  const stream = { rest: Buffer.alloc(0) };
  const statuses: Buffer[] = [];
  let isReady = false;
  socket.on('data', (bytes) => {
    stream.rest = Buffer.concat([stream.rest, bytes]);
    for (const each of messagesIn(stream, 1)) {
      const letter = String.fromCharCode(each[0] as number);
      if (isReady) fromServer(state, pool, server, letter, each);
      else if (letter === 'S') statuses.push(each);
      else if (letter === 'Z') {
        isReady = true;
        pool.greeting ??= Buffer.concat(statuses);
        resolve(server);
      }
    }
  });
  socket.once('close', () => {
    pool.servers--;
    state.counts.servers--;
    const at = pool.idle.indexOf(server);
    if (at >= 0) pool.idle.splice(at, 1);
    server.client?.socket.end(fatal('08006', 'server connection closed'));
    reject(new Error('PostgreSQL does not answer'));
    const next = pool.queue.shift();
    if (next) void serve(state, pool, next);
  });
  return promise;
}

function fromServer(state: State, pool: Pool, server: Server, letter: string, bytes: Buffer): void {
  const { client } = server;
  client?.socket.write(bytes);
  if (letter !== 'Z' || !client) return;
  client.open--;
  if (client.open > 0 || String.fromCharCode(bytes[5] as number) !== 'I') return;
  client.server = null;
  rest(state, pool, server);
}
