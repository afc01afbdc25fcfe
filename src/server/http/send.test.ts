import { afterEach, expect, it } from 'vitest';
import { answerWith } from '../../../tests/fixtures/answer.ts';
import { front, stopServers } from '../../../tests/world/http-servers.ts';

afterEach(stopServers);

/** A site whose pages are rendered for each request, as Astro renders them: without a body for HEAD. */
async function site(headers: Record<string, string>): Promise<string> {
  const { port } = await front({
    render: async ({ method }) => answerWith(method === 'HEAD' ? null : '<h1>Zoë</h1>'.repeat(200), { headers }),
  });
  return `http://127.0.0.1:${port}/search`;
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
