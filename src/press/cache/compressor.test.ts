import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { keepLog, tempDir } from '../testing.ts';
import { createEncoder, decode, type Encoder, encode, zip } from './compressor.server.ts';

const folder = tempDir();
const encoders: Encoder[] = [];
afterEach(async () => {
  for (const encoder of encoders.splice(0)) await encoder.close();
});
afterAll(() => folder.remove());

const html = 'text/html; charset=utf-8';
const page = (number: number): Buffer => Buffer.from(`${number}: ${'It shines for all. '.repeat(1000)}`);

function open(module?: URL): { encoder: Encoder; lines: ReturnType<typeof keepLog>['lines'] } {
  const { log, lines } = keepLog();
  const encoder = createEncoder(log, module);
  encoders.push(encoder);
  return { encoder, lines };
}

const threadOf = (name: string, code: string): URL => {
  const file = join(folder.dir, name);
  writeFileSync(file, code);
  return pathToFileURL(file);
};

describe('the compressor’s thread', () => {
  it('produces the same bytes as the main thread, in a buffer per page', async () => {
    const { encoder, lines } = open();
    const pages = Array.from({ length: 20 }, (_, number) => page(number));
    const encoded = await Promise.all(pages.map((body) => encoder.encode(body, html)));
    expect(encoded).toEqual(pages.map((body) => encode(body, html)));
    for (const { bodies } of encoded) {
      for (const bytes of Object.values(bodies)) expect(bytes.buffer.byteLength).toBe(bytes.byteLength);
    }
    expect(lines).toEqual([]);
  });

  it('compresses a slice of a larger buffer without changing the buffer', async () => {
    const { encoder } = open();
    const whole = Buffer.concat([Buffer.from('before'), page(1), Buffer.from('after')]);
    const part = whole.subarray(6, whole.byteLength - 5);
    expect(await encoder.encode(part, html)).toEqual(encode(page(1), html));
    expect(whole.subarray(0, 6).toString()).toBe('before');
    expect(part.equals(page(1))).toBe(true);
  });

  it('returns incompressible bytes unchanged', async () => {
    const { encoder } = open();
    const body = randomBytes(20_000);
    const { bodies, etags } = await encoder.encode(body, html);
    expect(Object.keys(bodies)).toEqual(['identity']);
    expect(bodies.identity?.equals(body)).toBe(true);
    expect(etags).toEqual(encode(body, html).etags);
  });
});

describe('the compressor', () => {
  it.each([
    ['cannot be started', () => pathToFileURL(join(folder.dir, 'nowhere.mjs'))],
    ['fails at its start', () => threadOf('broken.mjs', 'throw new Error("broken")')],
    [
      'exits at its first page',
      () =>
        threadOf(
          'ends.mjs',
          'import { parentPort } from "node:worker_threads"; parentPort.on("message", () => process.exit(3));',
        ),
    ],
  ])('compresses in the main thread if its thread %s, and logs that once', async (_, module) => {
    const { encoder, lines } = open(module());
    const pages = [page(1), page(2), page(3)];
    const first = await Promise.all(pages.map((body) => encoder.encode(body, html)));
    expect(first).toEqual(pages.map((body) => encode(body, html)));
    expect(await encoder.encode(page(4), html)).toEqual(encode(page(4), html));
    expect(lines).toHaveLength(1);
  });

  it('starts a new thread after one that worked has ended', async () => {
    const module = threadOf(
      'twice.mjs',
      `import { parentPort } from 'node:worker_threads';
       let number = 0;
       parentPort.on('message', (message) => {
         if (++number === 2) process.exit(3);
         const result = { bodies: { br: new Uint8Array([number]) }, etags: { br: '"thread"' } };
         parentPort.postMessage({ id: message.id, result });
       });`,
    );
    const { encoder, lines } = open(module);
    const ask = async () => (await encoder.encode(page(1), html)).etags.br;
    expect([await ask(), await ask(), await ask()]).toEqual(['"thread"', encode(page(1), html).etags.br, '"thread"']);
    expect(lines).toHaveLength(1);
  });

  it('completes waiting calls when it is closed', async () => {
    const { encoder, lines } = open();
    const waiting = encoder.encode(page(1), html);
    await encoder.close();
    expect(await waiting).toEqual(encode(page(1), html));
    expect(await encoder.encode(page(2), html)).toEqual(encode(page(2), html));
    expect(lines).toEqual([]);
  });
});

const text = Buffer.from('It shines for all. '.repeat(1000));

it('encode makes only a Brotli copy, in a buffer of exactly its size', async () => {
  const { bodies, etags } = encode(text, 'text/html; charset=utf-8');
  expect(bodies.identity).toBeUndefined();
  expect(brotliDecompressSync(bodies.br ?? Buffer.alloc(0))).toEqual(text);
  expect(decode(bodies.br ?? Buffer.alloc(0))).toEqual(text);
  expect(gunzipSync(zip(text))).toEqual(text);
  for (const bytes of [...Object.values(bodies), zip(text)]) expect(bytes.buffer.byteLength).toBe(bytes.byteLength);
  expect(etags).toEqual({ br: expect.stringMatching(/^"[\w-]{22}-br"$/) });
});

it('encode gives equal bytes equal ETags', async () => {
  expect(encode(text, 'text/html')).toEqual(encode(Buffer.from(text), 'text/html'));
});

it('encode does not compress tiny, incompressible or already compressed content', async () => {
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
  'encode compresses %s',
  async (type) => expect(encode(text, type).bodies.br).toBeDefined(),
);
