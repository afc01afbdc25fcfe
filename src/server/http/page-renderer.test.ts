import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { tempDir } from '../../press/testing.ts';
import { loadPages, type RenderPage } from './page-renderer.ts';

const folder = tempDir();
afterAll(() => folder.remove());

/** Pages as the build exports them; each shows how one address uses Node's request and response. */
const handler = `
export async function handler(incoming, outgoing, next) {
  const html = { 'content-type': 'text/html', 'set-cookie': ['a=1', 'b=2'] };
  switch (incoming.url) {
    case '/chunks': outgoing.writeHead(200, html); outgoing.write(Buffer.from('one ')); outgoing.write('zwö'); return outgoing.end('lf');
    case '/nothing': outgoing.writeHead(204); return outgoing.end();
    case '/breaks': outgoing.writeHead(200, html); outgoing.write('half a page'); return outgoing.destroy(new Error('torn'));
    case '/cut-off': outgoing.writeHead(200, html); outgoing.write('half a page'); return outgoing.destroy();
    case '/waits': outgoing.writeHead(200, html); return outgoing.write('a beginning');
    case '/silent-404': outgoing.writeHead(404); return outgoing.end();
    case '/404': outgoing.writeHead(404, html); return outgoing.end('the page for it');
    case '/never': return;
    default: return next();
  }
}
`;
const file = join(folder.dir, 'entry.mjs');
writeFileSync(file, handler);
const pages = loadPages(file);
const ask = async (path: string, bare = false): ReturnType<RenderPage> =>
  (await pages)(new Request(`https://paper.example${path}`), {} as App.Locals, '127.0.0.1', bare);

describe('a rendered page', () => {
  it('is complete, however many pieces it is written in', async () => {
    const { status, headers, body } = await ask('/chunks');
    expect([status, body.toString(), headers.get('content-type')]).toEqual([200, 'one zwölf', 'text/html']);
    expect(headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  });

  it('may be empty', async () => {
    expect(await ask('/nothing')).toMatchObject({ status: 204, body: Buffer.alloc(0) });
  });

  it.each(['/breaks', '/cut-off'])('that breaks off halfway is an error: %s', async (path) => {
    await expect(ask(path)).rejects.toThrow();
  });

  it.each(['/silent-404', '/unknown'])(
    'that does not exist becomes the 404 page, or an empty 404 on request: %s',
    async (path) => {
      expect((await ask(path)).body.toString()).toBe('the page for it');
      expect(await ask(path, true)).toMatchObject({ status: 404, body: Buffer.alloc(0) });
    },
  );

  it('is aborted when the reader disconnects, whether or not it has begun', async () => {
    for (const path of ['/waits', '/never']) {
      const reader = new AbortController();
      const request = new Request(`https://paper.example${path}`, { signal: reader.signal });
      const asked = (await pages)(request, {} as App.Locals, '127.0.0.1');
      const ended = expect(asked).rejects.toThrow();
      setImmediate(() => reader.abort());
      await ended;
    }
  });
});
