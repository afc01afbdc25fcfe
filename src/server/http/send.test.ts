import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { answerWith } from '../../../tests/fixtures/answer.ts';
import { silent } from '../../lib/logging.ts';
import { noThirdParties } from '../../lib/third-party/settings.ts';
import { createHttpServer } from './http-server.ts';
import { securityHeaders } from './security-headers.ts';
import { shutDown } from './shutdown.ts';
import { openStatics } from './static-files.ts';

const siteUrl = 'https://paper.example';
let stop: () => Promise<void> = async () => {};
afterEach(() => stop());

/** A site whose pages are rendered for each request, as Astro renders them: without a body for HEAD. */
async function site(headers: Record<string, string>): Promise<string> {
  const server = createHttpServer({
    siteUrl,
    statics: openStatics('/no-such-folder'),
    security: securityHeaders({
      siteUrl,
      wordpress: null,
      imageHosts: [],
      frameHosts: [],
      thirdParties: noThirdParties,
      stripe: null,
    }),
    render: async ({ method }) => answerWith(method === 'HEAD' ? null : '<h1>Zoë</h1>'.repeat(200), { headers }),
    locals: () => ({ content: { tags: new Set() } }) as unknown as App.Locals,
    editionReady: () => true,
    readiness: () => ({ features: {} }),
    log: silent,
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stop = async () => {
    await shutDown(server, 0);
  };
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/search`;
}

it.each(['gzip', 'identity'])(
  'a HEAD response has the headers of the GET response when the encoding is %s',
  async (encoding) => {
    const address = await site({ 'content-type': 'text/html' });
    const ask = (method: string) => fetch(address, { method, headers: { 'accept-encoding': encoding } });
    const [got, head] = [await ask('GET'), await ask('HEAD')];
    expect(got.headers.get('etag')).not.toBeNull();
    expect((await got.text()).length).toBeGreaterThan(0);
    expect(await head.text()).toBe('');
    for (const name of ['etag', 'content-length', 'content-type', 'content-encoding', 'vary'])
      expect(head.headers.get(name), name).toBe(got.headers.get(name));
  },
);

it('a page that names no character set is sent as UTF-8', async () => {
  expect((await fetch(await site({ 'content-type': 'text/html' }))).headers.get('content-type')).toBe(
    'text/html; charset=utf-8',
  );
});
