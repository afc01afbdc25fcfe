/** A small web server on 127.0.0.1 for the stand-ins: routes by method and path, bodies, and answers. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SetupError } from './setup.mjs';

export interface Call {
  readonly request: IncomingMessage;
  readonly method: string;
  readonly url: URL;
  /** The capture groups of the route's pattern. */
  readonly groups: readonly string[];
  /** The whole body as text. */
  readonly body: () => Promise<string>;
  /** Aborted when the caller disconnects. */
  readonly disconnected: AbortSignal;
}

export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Uint8Array;
}

/** `null` sends no answer, so that the caller runs into its timeout. */
export type Handler = (call: Call) => Answer | null | Promise<Answer | null>;

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'OPTIONS';
  /** Matched against the whole path. */
  readonly path: RegExp;
  readonly handle: Handler;
}

export interface WebServer {
  /** Address without a slash at the end. */
  readonly url: string;
  close(): Promise<void>;
}

/** Larger bodies are refused. */
const largestBody = 1024 * 1024;

/** A body above the limit, which is answered with 413. */
export class BodyTooLarge extends Error {}

export const json = (value: unknown, status = 200, headers: Record<string, string> = {}): Answer => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', ...headers },
  body: JSON.stringify(value),
});

export const html = (body: string, status = 200, headers: Record<string, string> = {}): Answer => ({
  status,
  headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store', ...headers },
  body,
});

export const text = (body: string, status = 200): Answer => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' },
  body,
});

export const redirect = (location: string): Answer => ({
  status: 302,
  headers: { location, 'cache-control': 'no-store' },
});

/** Text for HTML, inside elements and quoted attributes. */
export const escapeHtml = (value: string): string =>
  value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/**
 * Starts the server.
 *
 * @param port 0 chooses a free one
 * @param name for messages, and the setting that changes the port
 * @throws {SetupError} when the port is in use
 */
export async function listenWeb(
  routes: readonly Route[],
  { port, name, setting }: { readonly port: number; readonly name: string; readonly setting?: string },
): Promise<WebServer> {
  const server = createServer((request, response) => {
    answer(routes, request, response).catch((error: unknown) => {
      if (error instanceof BodyTooLarge) {
        write(response, text('The body is too large.\n', 413), false);
        return;
      }
      process.stderr.write(`${name}: ${request.method} ${request.url?.split('?')[0]}: ${String(error)}\n`);
      if (response.headersSent) response.destroy();
      else write(response, text('The stand-in failed.\n', 500), false);
    });
  });
  // By default a connection closes after 5 seconds without a request, which a busy client may learn too late.
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(portInUse(error, port, name, setting)));
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The error to throw when a server cannot listen. */
export function portInUse(error: NodeJS.ErrnoException, port: number, name: string, setting?: string): Error {
  if (error.code !== 'EADDRINUSE') return error;
  const hint = setting ? `, or choose another port with ${setting}` : '';
  return new SetupError(`Port ${port} is in use, and ${name} needs it.`, `Stop what is using it${hint}.`);
}

async function answer(routes: readonly Route[], request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://127.0.0.1');
  const head = request.method === 'HEAD';
  const method = head ? 'GET' : (request.method ?? 'GET');
  const matches = routes.flatMap((route) => {
    const match = route.path.exec(url.pathname);
    return match ? [{ route, groups: match.slice(1).map((part) => part ?? '') }] : [];
  });
  const chosen = matches.find(({ route }) => route.method === method);
  if (!chosen) {
    const allow = matches.map(({ route }) => route.method).join(', ');
    write(response, matches.length > 0 ? { status: 405, headers: { allow } } : text('Not found.\n', 404), head);
    return;
  }
  const disconnected = new AbortController();
  response.once('close', () => disconnected.abort());
  const result = await chosen.route.handle({
    request,
    method,
    url,
    groups: chosen.groups,
    body: async () => (await readBody(request)).toString('utf8'),
    disconnected: disconnected.signal,
  });
  if (result) write(response, result, head);
}

function write(response: ServerResponse, { status = 200, headers = {}, body }: Answer, head: boolean): void {
  response.writeHead(status, { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer', ...headers });
  response.end(head ? undefined : body);
}

/**
 * The whole body. One that is too large is read to its end, because the caller reads no answer before it has sent everything.
 * @throws {BodyTooLarge}
 */
export async function readBody(request: IncomingMessage): Promise<Buffer<ArrayBuffer>> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request) {
    size += (part as Buffer).length;
    if (size <= largestBody) parts.push(part as Buffer);
  }
  if (size > largestBody) throw new BodyTooLarge();
  return Buffer.concat(parts);
}
