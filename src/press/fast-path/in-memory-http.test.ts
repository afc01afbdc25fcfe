import { describe, expect, it } from 'vitest';
import { type Asked, exchange, type PageHandler } from './in-memory-http.ts';

const asked: Asked = {
  method: 'GET',
  url: new URL('https://paper.example/article/a?page=2'),
  headers: { accept: 'text/html' },
  clientAddress: '192.0.2.1',
  signal: new AbortController().signal,
};
const ask = (handler: PageHandler, part: Partial<Asked> = {}) =>
  exchange(handler, { ...asked, ...part }, {} as App.Locals);

describe('the in-memory HTTP request', () => {
  it('carries the public address, the host header, and the client’s address', async () => {
    let seen: object = {};
    await ask(async ({ method, url, headers, socket }, outgoing) => {
      seen = { method, url, headers, encrypted: socket.encrypted, address: socket.remoteAddress };
      outgoing.end();
    });
    expect(seen).toEqual({
      method: 'GET',
      url: '/article/a?page=2',
      headers: { accept: 'text/html', host: 'paper.example' },
      encrypted: true,
      address: '192.0.2.1',
    });
  });

  it('has the body unchanged, with its content-length', async () => {
    const payload = Buffer.from('name=value');
    await ask(
      async (incoming, outgoing) => {
        expect(incoming.body).toBe(payload);
        expect(incoming.headers['content-length']).toBe('10');
        outgoing.end();
      },
      { method: 'POST', payload },
    );
  });

  it('can be read to its end when it has no body', async () => {
    await ask(
      async (incoming, outgoing) => {
        for await (const chunk of incoming) throw new Error(`There is ${chunk}.`);
        outgoing.end();
      },
      { method: 'POST' },
    );
  });
});

describe('the in-memory HTTP response', () => {
  it('reuses the written buffer when the body was written in one piece', async () => {
    const page = Buffer.alloc(50_000, 'page');
    const answer = await ask(async (_, outgoing) => {
      outgoing.writeHead(200, 'OK', { 'content-type': 'text/html', 'content-length': 50_000, connection: 'close' });
      outgoing.write(new Uint8Array(page.buffer, page.byteOffset, page.byteLength));
      outgoing.end();
    });
    expect(answer?.body.buffer).toBe(page.buffer);
    expect([...(answer?.headers ?? [])]).toEqual([['content-type', 'text/html']]);
  });

  it.each([
    ['HEAD', 200],
    ['GET', 204],
    ['GET', 304],
  ])('has no body for %s with status %i', async (method, status) => {
    const answer = await ask(
      async (_, outgoing) => {
        outgoing.writeHead(status);
        outgoing.end('text');
      },
      { method },
    );
    expect(answer).toMatchObject({ status, body: Buffer.alloc(0) });
  });

  it('ends once, and drops anything written later', async () => {
    const answer = await ask(async (_, outgoing) => {
      outgoing.on('close', () => {
        outgoing.write('later');
        outgoing.end('later');
        outgoing.destroy(new Error('later'));
      });
      outgoing.end('now');
    });
    expect(answer?.body.toString()).toBe('now');
  });

  it('rejects a second writeHead', async () => {
    const twice = ask(async (_, outgoing) => {
      outgoing.writeHead(200);
      outgoing.writeHead(500);
    });
    await expect(twice).rejects.toThrow('has been written');
  });
});

describe('an in-memory HTTP exchange without a response', () => {
  it('returns null when the handler calls next()', async () => {
    expect(await ask(async (_, __, next) => next())).toBeNull();
  });

  it.each<[string, PageHandler]>([
    ['calls next() with an error', async (_, __, next) => next(new Error('broken'))],
    ['throws', () => Promise.reject(new Error('broken'))],
    ['destroys the response', async (_, outgoing) => void outgoing.destroy(new Error('broken'))],
  ])('rejects with the error when the handler %s', async (_, handler) => {
    await expect(ask(handler)).rejects.toThrow('broken');
  });

  it('emits close on the handler’s socket and response when the reader aborts', async () => {
    const gone: string[] = [];
    const reader = new AbortController();
    const answer = ask(
      async ({ socket }, outgoing) => {
        socket.on('close', () => gone.push('socket'));
        outgoing.on('close', () => gone.push('answer'));
        queueMicrotask(() => reader.abort(new Error('gone')));
      },
      { signal: reader.signal },
    );
    await expect(answer).rejects.toThrow('gone');
    expect(gone).toEqual(['socket', 'answer']);
    const never = ask(() => Promise.reject(new Error('It was asked.')), { signal: reader.signal });
    await expect(never).rejects.toThrow('gone');
  });
});
