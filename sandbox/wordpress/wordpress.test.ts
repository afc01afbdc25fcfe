import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { launchSandbox, type SandboxForTests, signIn, startSandboxForTests } from '../testing.ts';

/** Another test run may make the snapshot first, for which this one waits five minutes. */
const BOOT = 600_000;
let sandbox: SandboxForTests;
let admin: Awaited<ReturnType<typeof signIn>>;
/** Stands in for the newspaper's site: records requests and answers them. */
let answer: (body: string, waiting: () => boolean) => Promise<void> = async () => {};
const site = http.createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  await answer(body, () => !request.socket.destroyed);
  response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true,"refreshed":[],"ms":1}');
});

const json = (value: unknown): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
});
const article = async (values: Record<string, unknown>) => {
  const response = await admin('/wp/v2/articles', json({ status: 'publish', content: 'x', ...values }));
  expect(response.status).toBe(201);
  return (await response.json()) as { id: number; slug: string; status: string };
};
const asSite = (access = sandbox.wordpress) => ({
  headers: { authorization: `Basic ${btoa(`${access.siteUser}:${access.siteApplicationPassword}`)}` },
});

beforeAll(async () => {
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  sandbox = await startSandboxForTests({
    edition: 'none',
    siteUrl: `http://127.0.0.1:${(site.address() as AddressInfo).port}`,
  });
  admin = await signIn(sandbox.wordpress);
}, BOOT);

afterAll(async () => {
  await sandbox?.stop();
  site.closeAllConnections();
  site.close();
});

describe('the sandbox’s WordPress', () => {
  it('lists articles and the ten sections over REST', async () => {
    const articles = await fetch(`${sandbox.wordpress.url}/wp-json/wp/v2/articles`);
    expect([articles.status, articles.headers.get('x-wp-total')]).toEqual([200, '0']);
    const terms = await fetch(`${sandbox.wordpress.url}/wp-json/wp/v2/categories?per_page=100&orderby=id`);
    const sections = ((await terms.json()) as { id: number; slug: string; newsroom: { home_count: number } }[]).filter(
      ({ id }) => id < 90,
    );
    expect(sections.map(({ id, slug, newsroom }) => `${slug} ${id}/${newsroom.home_count}`)).toEqual([
      'editorials 1/5',
      'national 2/6',
      'foreign 3/6',
      'politics 4/5',
      'culture 5/12',
      'economy 6/4',
      'education 7/3',
      'justice 8/4',
      'columnists 9/3',
      'opinion 13/4',
    ]);
  });

  it('recognizes the site only by its application password', async () => {
    const status = `${sandbox.wordpress.url}/wp-json/newsroom/v1/status`;
    expect(await (await fetch(status, asSite())).json()).toMatchObject({ credentials: true });
    expect(await (await fetch(status)).json()).toMatchObject({ credentials: false });
    const wrong = asSite({ ...sandbox.wordpress, siteApplicationPassword: 'wrong' });
    expect((await fetch(`${sandbox.wordpress.url}/wp-json/wp/v2/users/me`, wrong)).status).toBe(401);
  });

  it('answers a request of the site while it waits for the site’s answer to its webhook', async () => {
    // A WordPress that can't do this always gives up before its own answer comes; on a busy machine even a working one
    // sometimes does.
    await vi.waitFor(
      async () => {
        const read = Promise.withResolvers<{ title: string; waiting: boolean }>();
        answer = async (body, waiting) => {
          const { id } = JSON.parse(body) as { id: number };
          const own = await fetch(`${sandbox.wordpress.url}/wp-json/wp/v2/articles/${id}`, asSite());
          const { title } = (await own.json()) as { title: { rendered: string } };
          read.resolve({ title: title.rendered, waiting: waiting() });
        };
        await article({ title: 'Read while being delivered' });
        expect(await read.promise).toEqual({ title: 'Read while being delivered', waiting: true });
      },
      { timeout: 90_000, interval: 1_000 },
    );
  });

  it('saves a story without waiting for a slow site, and keeps serving other requests', async () => {
    const arrived = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    answer = async () => {
      arrived.resolve();
      await held.promise;
    };
    await article({ title: 'Saved before the site has answered' });
    await arrived.promise;
    const others = await Promise.all(
      [1, 2, 3, 4].map(() => fetch(`${sandbox.wordpress.url}/wp-json/wp/v2/articles?per_page=1`)),
    );
    expect(others.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    held.resolve();
  });

  it('accepts uploads, serves them, and refuses files over 64 MB', async () => {
    const pixel = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
      'base64',
    );
    const form = new FormData();
    form.append('file', new Blob([pixel], { type: 'image/png' }), 'dot.png');
    const response = await admin('/wp/v2/media', { method: 'POST', body: form });
    expect(response.status).toBe(201);
    const file = await fetch(((await response.json()) as { source_url: string }).source_url);
    expect(Buffer.from(await file.arrayBuffer()).equals(pixel)).toBe(true);
    const large = await admin('/wp/v2/media', { method: 'POST', body: Buffer.alloc(64 * 1024 * 1024 + 1) }).catch(
      (error: Error) => error.message,
    );
    // Node may see the closed connection before it has read the answer.
    if (typeof large === 'string') expect(large).toContain('fetch failed');
    else expect(large.status).toBe(413);
  });

  it('answers 404 for files outside its public folders', async () => {
    const { port } = new URL(sandbox.wordpress.url);
    const paths = [
      '/wp-content/database/.ht.sqlite',
      '/wp-content/uploads/../database/.ht.sqlite',
      '/wp-content/uploads/..%2fdatabase/.ht.sqlite',
      '/wp-content//database/.ht.sqlite',
      '/wp-content/uploads/..%2f..%2fcredentials.json',
      '/%2e%2e/%2e%2e/credentials.json',
    ];
    for (const path of paths) {
      const status = await new Promise((resolve, reject) => {
        http
          .get({ host: '127.0.0.1', port, path }, (response) => {
            response.resume();
            resolve(response.statusCode);
          })
          .on('error', reject);
      });
      expect([path, status]).toEqual([path, 404]);
    }
  });

  it('fails when it is asked to fetch from another machine', async () => {
    expect((await admin('/wp/v2/url-details?url=https%3A%2F%2Fexample.com%2F')).ok).toBe(false);
  });

  it('cannot be started a second time with the same data', async () => {
    const { data } = sandbox;
    await expect(launchSandbox({ data, port: 0, siteUrl: 'http://127.0.0.1:9', edition: 'none' })).rejects.toThrow(
      /Another sandbox is using/,
    );
  });
});
