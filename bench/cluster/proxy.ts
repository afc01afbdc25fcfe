/**
 * A load balancer for a bench, with the rules of `deploy/nginx.conf`: nodes in turn, the next node once when one doesn't answer or answers
 * 503, a request that changes something only if it can't have taken effect yet. As in front of Kubernetes, nodes whose `/readyz` answers
 * 200 come first.
 */
import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Backend {
  readonly port: () => number;
}

export interface LoadBalancer {
  readonly port: number;
  /** Requests that the second node answered, and responses that broke off after their head. */
  readonly counts: { retried: number; broken: number };
  close(): void;
}

const checkEveryMs = 250;
const checkMs = 1000;
/** `proxy_connect_timeout`, and nginx's default for a response. */
const connectMs = 2000;
const answerMs = 60_000;

interface State {
  readonly backends: readonly Backend[];
  readonly ready: Set<Backend>;
  readonly agent: Agent;
  readonly counts: { retried: number; broken: number };
  next: number;
}

/** @param backends may change while the proxy runs */
export async function startProxy(backends: readonly Backend[]): Promise<LoadBalancer> {
  // Shorter than the site's own 65 seconds, as in nginx.conf.
  const agent = new Agent({ keepAlive: true, maxSockets: 256, timeout: 60_000 });
  const state: State = { backends, ready: new Set(backends), agent, counts: { retried: 0, broken: 0 }, next: 0 };
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    await pass(state, incoming, Buffer.concat(chunks), outgoing);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const checks = setInterval(() => {
    for (const backend of backends) void check(state, backend);
  }, checkEveryMs);
  return {
    port: (server.address() as AddressInfo).port,
    counts: state.counts,
    close() {
      clearInterval(checks);
      agent.destroy();
      server.closeAllConnections();
      server.close();
    },
  };
}

async function check({ ready }: State, backend: Backend): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${backend.port()}/readyz`, {
    signal: AbortSignal.timeout(checkMs),
  }).catch(() => null);
  await answer?.arrayBuffer().catch(() => {});
  if (answer?.status === 200) ready.add(backend);
  else ready.delete(backend);
}

/** The nodes in the order in which they are tried: ready ones first, starting with a different one each time. */
function attemptOrder(state: State): Backend[] {
  const { backends, ready } = state;
  const first = state.next++ % backends.length;
  const turned = [...backends.slice(first), ...backends.slice(0, first)];
  return [...turned.filter((each) => ready.has(each)), ...turned.filter((each) => !ready.has(each))];
}

async function pass(state: State, incoming: IncomingMessage, body: Buffer, outgoing: ServerResponse): Promise<void> {
  const [first, second] = attemptOrder(state);
  if (first && (await attempt(state, first, incoming, body, outgoing, false))) return;
  if (!second) return;
  state.counts.retried++;
  await attempt(state, second, incoming, body, outgoing, true);
}

/** @returns whether the request was answered, even with an error; otherwise the next node is tried */
function attempt(
  { agent, counts }: State,
  backend: Backend,
  incoming: IncomingMessage,
  body: Buffer,
  outgoing: ServerResponse,
  isLast: boolean,
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const hasEffects = incoming.method !== 'GET' && incoming.method !== 'HEAD';
  const headers = { ...incoming.headers, connection: 'keep-alive', 'content-length': body.byteLength };
  const { method, url: path } = incoming;
  const sent = request({ host: '127.0.0.1', port: backend.port(), agent, method, path, headers });
  let isConnected = false;
  const connecting = setTimeout(() => sent.destroy(new Error('not connected in time')), connectMs);
  const connected = (): void => {
    isConnected = true;
    clearTimeout(connecting);
  };
  sent.once('socket', (socket) => {
    if (socket.connecting) socket.once('connect', connected);
    else connected();
  });
  sent.setTimeout(answerMs, () => sent.destroy(new Error('no response in time')));
  sent.once('error', () => {
    clearTimeout(connecting);
    if (outgoing.headersSent) return;
    if (!isLast && !(hasEffects && isConnected)) return resolve(false);
    outgoing.writeHead(502).end();
    resolve(true);
  });
  sent.once('response', (response) => {
    if (response.statusCode === 503 && !isLast && !hasEffects) {
      response.resume();
      return resolve(false);
    }
    resolve(true);
    outgoing.writeHead(response.statusCode ?? 502, response.headers);
    response.once('error', () => {
      counts.broken++;
      outgoing.destroy();
    });
    response.pipe(outgoing);
  });
  sent.end(body);
  return promise;
}
