/** HTTP servers on free ports, with static files in a temporary folder. */
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { silent } from '../../src/lib/logging.ts';
import { noThirdParties } from '../../src/lib/third-party/settings.ts';
import { createHttpServer } from '../../src/server/http/http-server.ts';
import { securityHeaders } from '../../src/server/http/security-headers.ts';
import type { HttpServer, HttpServerOptions } from '../../src/server/http/server-options.ts';
import { shutDown } from '../../src/server/http/shutdown.ts';
import { openStatics } from '../../src/server/http/static-files.ts';
import { answerWith } from '../fixtures/answer.ts';

export const folder = mkdtempSync(join(tmpdir(), 'front-'));
const client = join(folder, 'client');
export const script = 'console.log("sun");'.repeat(100);

export function writeFiles(): void {
  mkdirSync(join(client, '_assets'), { recursive: true });
  writeFileSync(join(client, '_assets', 'a.123.js'), script);
  writeFileSync(join(client, '_assets', 'a.123.js.br'), brotliCompressSync(script));
  writeFileSync(join(client, '_assets', 'a.123.js.gz'), gzipSync(script));
  writeFileSync(join(client, 'favicon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  writeFileSync(join(client, '.hidden'), 'hidden');
  writeFileSync(join(folder, 'secret.txt'), 'secret');
}

/** Settings of a site without vendors, for {@link securityHeaders}. */
export const bareSettings = {
  siteUrl: 'https://paper.example',
  wordpress: null,
  imageHosts: [],
  frameHosts: [],
  thirdParties: noThirdParties,
  stripe: null,
};

const servers: Server[] = [];
export async function stopServers(): Promise<void> {
  await Promise.all(servers.splice(0).map((server) => shutDown(server, 0)));
}

export const page = (body: string, init: ResponseInit = {}) =>
  answerWith(body, { ...init, headers: { 'content-type': 'text/html; charset=utf-8', ...init.headers } });

/** An HTTP server on a free port; tests pass only the options that matter to them. */
export async function front(options: Partial<HttpServerOptions> = {}): Promise<{ port: number; server: HttpServer }> {
  const server = createHttpServer({
    siteUrl: bareSettings.siteUrl,
    statics: openStatics(client),
    security: securityHeaders({
      ...bareSettings,
      wordpress: { url: 'https://wp.example/news' },
      frameHosts: ['127.0.0.1:8881'],
    }),
    render: async () => page('<h1>Front page</h1>'),
    locals: () => ({ content: { tags: new Set(['latest']) } }) as unknown as App.Locals,
    editionReady: () => true,
    readiness: () => ({ features: {} }),
    log: silent,
    ...options,
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, server };
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Requests exactly the given path, which `fetch` would normalize. */
export function ask(
  port: number,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
  body?: string,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({ port, host: '127.0.0.1', path, method, headers, agent: false }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', () =>
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: Buffer.concat(chunks) }),
      );
      incoming.on('error', reject);
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
