/** The HTTP server with the press, the content store and a WordPress in memory; its pages print all that they can see of a request. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Content } from '../../src/content/service.ts';
import { silent } from '../../src/lib/logging.ts';
import { parseConfig } from '../../src/server/config/config.ts';
import { createHttpServer } from '../../src/server/http/http-server.ts';
import type { RenderPage } from '../../src/server/http/page-renderer.ts';
import { securityHeaders } from '../../src/server/http/security-headers.ts';
import type { HttpServer } from '../../src/server/http/server-options.ts';
import { shutDown } from '../../src/server/http/shutdown.ts';
import { openStatics } from '../../src/server/http/static-files.ts';
import { openSitePress, type SitePress } from '../../src/server/press/open-press.ts';
import { createPublishing, type Publishing } from '../../src/server/press/publishing.ts';
import { answerWith } from '../fixtures/answer.ts';
import { contentOf } from '../fixtures/open-content.ts';
import { fakeWordPress, type Json, wirePost, wireSection } from '../fixtures/wordpress.ts';

const siteUrl = 'https://paper.example';
export const secret = 'a-secret-that-only-the-plugin-knows';
export const key = { id: 'k1', secret: 'a-secret-for-the-access-cookie-of-tests' };
const folder = mkdtempSync(join(tmpdir(), 'press-security-'));
const config = parseConfig({
  SITE_URL: siteUrl,
  DATA_DIR: folder,
  ACCESS_KEYS: `${key.id}:${key.secret}`,
  CDN_HEADERS: 'on',
});
export const wordpress = fakeWordPress();
let content: Content;
export let room: SitePress;
let server: HttpServer;
let port: number;
export const renders: string[] = [];

/** Prints everything that a page could see of the reader's request. */
const render: RenderPage = async (request, locals) => {
  const url = new URL(request.url);
  if (url.pathname === '/api/v1/revalidate') {
    const answer = await locals.services.content.receive({
      headers: Object.fromEntries(request.headers),
      rawBody: new Uint8Array(await request.arrayBuffer()),
    });
    return answerWith(JSON.stringify(answer.body), { status: answer.status });
  }
  renders.push(url.pathname + url.search);
  const slug = decodeURIComponent(/^\/article\/([^/]+)$/.exec(url.pathname)?.[1] ?? '');
  const article = slug ? locals.content.article(slug) : null;
  const list = url.pathname === '/' ? locals.content.articles({ limit: 50 }).items : [];
  if (!article && url.pathname !== '/') return answerWith('nothing here', { status: 404 });
  if (article) locals.markAccess(article.access);
  const paid = article?.access === 'subscriber' || article?.access === 'registered';
  const body = article ? (paid && locals.variant !== 'full' ? article.openingHtml : article.bodyHtml) : '';
  const seen = JSON.stringify([request.url, [...request.headers]]);
  const headers = { 'content-type': 'text/html', 'set-cookie': 'session=of-a-reader' };
  return answerWith(`${body}${list.map((card) => card.title).join()}<pre>${seen}</pre>`, {
    // A cookie would prevent storing the page; only this address sets one.
    headers: url.search.includes('cookie') ? headers : { 'content-type': 'text/html' },
  });
};

export async function startSite(): Promise<void> {
  wordpress.put('categories', wireSection(2, 'politics', 1) as Json & { id: number });
  for (let id = 1; id <= 40; id++) {
    wordpress.put('articles', {
      ...wirePost({
        id,
        slug: `story-${id}`,
        access: id === 4 ? 'registered' : id === 5 ? 'subscriber' : 'free',
        content: { rendered: `<p>Opening.</p>${'<p>Words.</p>'.repeat(9)}<p>ENDING-${id}</p>`, protected: false },
      }),
      id,
    });
  }
  let publishing: Publishing | undefined;
  content = contentOf(wordpress, {
    file: join(folder, 'content.sqlite'),
    siteUrl,
    secret,
    onChange: (change) => publishing?.changed(change),
  });
  await content.syncNow();
  const services = { content, features: {}, accounts: null, log: silent } as unknown as App.Locals['services'];
  const locals = (): App.Locals => ({
    content: content.reader(),
    variant: 'public',
    markAccess: () => {},
    config,
    services,
  });
  const security = securityHeaders(config);
  room = openSitePress({ config, app: { locals, services }, render, security, build: 'one', log: silent });
  publishing = createPublishing({
    press: room.press,
    prioritize: room.prioritize,
    cdn: { purge: () => {}, idle: async () => {} },
    indexNow: { announce: () => {} },
    reader: content.reader,
    log: silent,
    published: () => {},
  });
  server = createHttpServer({
    siteUrl,
    statics: openStatics(join(folder, 'none')),
    security,
    render,
    pages: { press: room.press, keyOf: room.keyOf, access: room.access },
    locals,
    editionReady: () => true,
    readiness: () => ({}),
    log: silent,
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
}

export async function stopSite(): Promise<void> {
  await shutDown(server, 0);
  await content.stop();
  await room.close();
  rmSync(folder, { recursive: true, force: true });
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export function ask(
  path: string,
  headers: Record<string, string | string[]> = {},
  method = 'GET',
  body?: string,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({ port, host: '127.0.0.1', path, method, headers, agent: false }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () =>
        resolve({
          status: incoming.statusCode ?? 0,
          headers: incoming.headers,
          text: Buffer.concat(chunks).toString(),
        }),
      );
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
