/** Every route of the site against every method: by the table, and as the server answers. */
import { globSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answerWith } from '../../../tests/fixtures/answer.ts';
import { bareSettings, front, stopServers } from '../../../tests/world/http-servers.ts';
import type { ContentReader } from '../../lib/content/reader.ts';
import { silent } from '../../lib/logging.ts';
import { createAccessCookie } from '../../press/delivery/access-cookie.ts';
import { openPress, type Press } from '../../press/press.server.ts';
import { openStore, type PageStore } from '../../press/store/page-store.server.ts';
import { tempDir } from '../../press/testing.ts';
import { isUnknownDocument, pageKeys } from '../press/page-keys.ts';
import { createPressRender, pageHeaders } from '../press/render-page.ts';
import { callPaths, methodRules, methodsOf } from './methods.ts';
import { securityHeaders } from './security-headers.ts';

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'] as const;
const folder = 'src/pages';

interface Route {
  readonly file: string;
  /** An address of the route. */
  readonly path: string;
  readonly source: string;
}

const routes: Route[] = globSync('**/*.{ts,astro}', { cwd: folder })
  .sort()
  .map((file) => ({
    file,
    path: `/${file}`
      .replace(/\.(?:ts|astro)$/, '')
      .replace(/(?:^|\/)index$/, '')
      .replace(/\[[^\]]+\]/g, 'some')
      .replace(/^$/, '/'),
    source: readFileSync(`${folder}/${file}`, 'utf8'),
  }));

/** The methods that a route of calls or forms exports, as `GET` and so on; HEAD comes with GET. */
function exported(source: string): string[] {
  const names = [...source.matchAll(/^export (?:const|async function|function) ([A-Z]+)\b/gm)].map(([, name]) => name);
  return names.filter((name): name is string => name !== undefined && name !== 'ALL');
}

/** Pages that check the method accept a form. */
const takesForm = (source: string): boolean => /request\.method|switchPage\(|fieldFormPage\(/.test(source);

describe('the table of allowed methods', () => {
  it('lists every page that accepts a form, and no other page', () => {
    const pages = routes.filter(({ file, path }) => file.endsWith('.astro') && !path.startsWith('/-/'));
    const taking = pages.filter(({ path }) => methodsOf(path).includes('POST')).map(({ file }) => file);
    expect(taking).toEqual(pages.filter(({ source }) => takesForm(source)).map(({ file }) => file));
  });

  it.each(routes.filter(({ file, path }) => file.endsWith('.ts') && !callPaths.test(path)))(
    'agrees with the methods that $file exports',
    ({ path, source }) => {
      const taken = exported(source);
      expect(methodsOf(path).filter((method) => method !== 'HEAD')).toEqual(
        methods.filter((method) => taken.includes(method)),
      );
    },
  );

  it.each(routes.filter(({ file, path }) => file.endsWith('.ts') && callPaths.test(path)))(
    'lists the methods of $file, or leaves them to the route, which refuses the others',
    ({ path, source }) => {
      if (/^export \{ ALL, POST \} from/m.test(source)) return;
      if (!methodsOf(path).includes('PUT')) {
        expect(exported(source)).toEqual(methodsOf(path).filter((method) => method !== 'HEAD'));
        return;
      }
      const [, named = ''] = /^export const ALL(?:: APIRoute)? = allowOnly\(([^)]*)\)/m.exec(source) ?? [];
      expect([...named.matchAll(/'([A-Z]+)'/g)].map(([, name]) => name).sort()).toEqual(exported(source).sort());
    },
  );

  it('has no row without a route', () => {
    const paths = [...routes.map(({ path }) => path), '/-/csp-reports', '/-/vitals'];
    const behind = (path: string) => methodRules.find((rule) => rule.path.test(path));
    expect(methodRules.filter((rule) => !paths.some((path) => behind(path) === rule))).toEqual([]);
  });
});

describe('the HTTP server', () => {
  let dir: ReturnType<typeof tempDir>;
  let store: PageStore;
  let press: Press;
  let port: number;
  let renders: string[];

  beforeEach(async () => {
    dir = tempDir();
    renders = [];
    const security = securityHeaders(bareSettings);
    const locals = () => ({ content: { tags: new Set(['site']) } }) as unknown as App.Locals;
    const content = { resolveSlug: () => ({ kind: 'unknown' }), exists: () => true } as unknown as ContentReader;
    const render = async (request: Request) => {
      renders.push(`${request.method} ${new URL(request.url).pathname}`);
      return answerWith('<p>page</p>', { headers: { 'content-type': 'text/html' } });
    };
    store = openStore({ file: `${dir.dir}/pages.sqlite`, build: 'one', log: silent });
    press = openPress({
      store,
      memoryBytes: 1e6,
      render: createPressRender(
        render,
        bareSettings.siteUrl,
        locals,
        () => 1,
        (key) => isUnknownDocument(content, key),
      ),
      headersOf: pageHeaders(security, { cdn: null, cdnHeaders: false }),
      log: silent,
      everything: 'site',
    });
    ({ port } = await front({
      security,
      render,
      pages: {
        press,
        keyOf: pageKeys(() => content),
        access: createAccessCookie({ name: 'access', keys: [{ id: 'a', secret: 'x'.repeat(32) }] }),
      },
      locals,
    }));
  });
  afterEach(async () => {
    await stopServers();
    await press.close();
    store.close();
    dir.remove();
  });

  /** Speaks HTTP by hand: no client sends TRACE. */
  async function ask(method: string, path: string, body = ''): Promise<{ status: number; head: string }> {
    const socket = connect(port, '127.0.0.1');
    const length = body === '' ? '' : `Content-Length: ${body.length}\r\n`;
    socket.write(`${method} ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${length}\r\n${body}`);
    let text = '';
    for await (const chunk of socket) text += (chunk as Buffer).toString('latin1');
    return { status: Number(text.slice(9, 12)), head: text.split('\r\n\r\n', 1)[0] ?? '' };
  }

  const pagesAndForms = routes.filter(
    ({ path }) => !methodsOf(path).includes('PUT') && methodsOf(path).includes('GET') && !/^\/(?:-|404|500)/.test(path),
  );

  it('follows the table of allowed methods for every route, and renders nothing for a refused method', async () => {
    for (const { path } of pagesAndForms) {
      const taken = methodsOf(path);
      for (const method of methods) {
        if (method === 'GET' || method === 'HEAD') continue;
        renders = [];
        const { status, head } = await ask(method, path);
        if (taken.includes(method)) expect(status, `${method} ${path}`).toBe(200);
        else {
          expect(status, `${method} ${path}`).toBe(method === 'PROPFIND' ? 501 : 405);
          expect(head, `${method} ${path}`).toContain(`allow: ${taken.join(', ')}`);
          expect(head).toContain('x-content-type-options: nosniff');
          expect(renders, `${method} ${path}`).toEqual([]);
        }
      }
    }
  });

  it('does not render a stored page for another method, however many connections ask for it', async () => {
    expect((await ask('GET', '/article/some')).status).toBe(200);
    expect(renders).toHaveLength(1);
    const asked = Array.from({ length: 8 }, async (_, one) => {
      for (let turn = 0; turn < 10; turn++) {
        const method = ['OPTIONS', 'POST', 'PUT', 'DELETE'][(one + turn) % 4] as string;
        const body = method === 'OPTIONS' ? '' : 'x=1';
        expect((await ask(method, '/article/some', body)).status).toBe(405);
      }
    });
    await Promise.all(asked);
    expect(renders).toHaveLength(1);
  });

  it('keeps the connection open after a refusal, and skips the rest of the request’s body', async () => {
    const socket = connect(port, '127.0.0.1');
    const get = 'GET /article/some HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
    socket.write(`POST /article/some HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab`);
    socket.write(`cde${get}`);
    let text = '';
    for await (const chunk of socket) text += (chunk as Buffer).toString('latin1');
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 405', 'HTTP/1.1 200']);
  });

  it('closes the connection when it refuses a request whose body does not end', async () => {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    socket.write('PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n');
    let text = '';
    for await (const chunk of socket) text += (chunk as Buffer).toString('latin1');
    expect(text).toMatch(/^HTTP\/1\.1 405 /);
    expect(text.toLowerCase()).toContain('connection: close');
  });

  it.each([
    ['CONNECT', 'evil.example:443', 405],
    ['FOO', '/', 501],
    ['TRACE', '/', 405],
    ['POST', '/500', 405],
    ['GET', '/api/v1/revalidate', 405],
  ])('answers %s %s with %i', async (method, target, status) => {
    expect((await ask(method, target)).status).toBe(status);
    expect(renders).toEqual([]);
  });

  it('shows the 404 page at the addresses of the error pages', async () => {
    await ask('GET', '/500');
    await ask('GET', '/404');
    await ask('GET', '/500?x=1');
    expect(new Set(renders)).toEqual(new Set(['GET /404']));
  });
});
