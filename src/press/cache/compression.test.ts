import { randomBytes } from 'node:crypto';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { decode, encode } from './compression.ts';

const text = Buffer.from('It shines for all. '.repeat(1000));

it('compresses both ways, into bytes that hold nothing else in memory', async () => {
  const { bodies, etags } = encode(text, 'text/html; charset=utf-8');
  expect(bodies.identity).toBeUndefined();
  expect(brotliDecompressSync(bodies.br ?? Buffer.alloc(0))).toEqual(text);
  expect(gunzipSync(bodies.gzip ?? Buffer.alloc(0))).toEqual(text);
  expect(decode(bodies.gzip ?? Buffer.alloc(0))).toEqual(text);
  for (const bytes of Object.values(bodies)) expect(bytes.buffer.byteLength).toBe(bytes.byteLength);
  expect(etags).toEqual({
    br: expect.stringMatching(/^"[\w-]{22}-br"$/),
    gzip: expect.stringMatching(/^"[\w-]{22}-gz"$/),
  });
});

it('gives the same bytes the same ETags', async () => {
  expect(encode(text, 'text/html')).toEqual(encode(Buffer.from(text), 'text/html'));
});

it('leaves alone what is tiny, does not shrink or is compressed already', async () => {
  for (const [body, type] of [
    [Buffer.from('short'), 'text/html'],
    [randomBytes(5000), 'text/html'],
    [text, 'image/png'],
  ] as const) {
    const { bodies } = encode(body, type);
    expect(Object.keys(bodies)).toEqual(['identity']);
    expect(bodies.identity).toEqual(body);
  }
});

it.each(['application/rss+xml', 'application/json', 'application/feed+json', 'image/svg+xml', 'application/xml'])(
  'compresses %s',
  async (type) => expect(encode(text, type).bodies.br).toBeDefined(),
);
