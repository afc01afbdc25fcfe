import { expect, it } from 'vitest';
import { listenWeb, text } from './web.ts';

it('a stand-in answers a body of more than a megabyte with 413', async () => {
  const handle = async ({ body }: { body: () => Promise<string> }) => text(await body());
  const server = await listenWeb([{ method: 'POST', path: /^\/$/, handle }], { port: 0, name: 'a stand-in' });
  try {
    const post = (body: string) => fetch(server.url, { method: 'POST', body });
    expect((await post('x'.repeat(1024 * 1024 + 1))).status).toBe(413);
    expect(await (await post('é')).text()).toBe('é');
  } finally {
    await server.close();
  }
});
