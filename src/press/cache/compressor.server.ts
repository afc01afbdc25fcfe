/**
 * Compresses pages in a worker thread. libuv's thread pool could also do it, but a call costs the main thread about a
 * millisecond for each page (two streams, their chunks, and garbage collection); a worker costs a quarter of that.
 */
import { brotliCompressSync, brotliDecompressSync, constants, gzipSync } from 'node:zlib';
import { isCompressible } from '../../lib/http/negotiation.server.ts';
import type { Logger } from '../../lib/logging.ts';
import { createWorkerPool, PoolClosed, ThreadLost } from '../../lib/workers/pool.server.ts';
import { type Bodies, etagOf, type StoredPage } from '../store/stored-page.ts';

/** Compresses a body; a body that is tiny or doesn't shrink stays as it is. */
export type Encode = (body: Buffer, contentType: string) => Promise<Encoded>;

export interface Encoder {
  readonly encode: Encode;
  /** Ends the thread; unfinished pages are compressed in the calling thread. */
  close(): Promise<void>;
}

export interface PageToCompress {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly contentType: string;
}

/** Up to this many bytes, compressing a page takes less time than sending it to the thread. */
const small = 8 * 1024;

const threadModule = new URL('./compression.worker.ts', import.meta.url);

/** @param module another thread, for tests */
export function createEncoder(log: Logger, module: URL = threadModule): Encoder {
  const pool = createWorkerPool<PageToCompress, Encoded>({
    name: 'compression',
    module,
    resourceLimits: { maxOldGenerationSizeMb: 128 },
    tasksPerThread: Number.POSITIVE_INFINITY,
    runLocally: ({ body, contentType }) =>
      encode(Buffer.from(body.buffer, body.byteOffset, body.byteLength), contentType),
    // A view would transfer the whole buffer behind it.
    payload: ({ body, contentType }) => ({
      body: body.byteLength === body.buffer.byteLength ? body : new Uint8Array(body),
      contentType,
    }),
    log,
  });
  return {
    async encode(body, contentType) {
      if (body.byteLength <= small || !isWorthIt(body.byteLength, contentType)) return encode(body, contentType);
      try {
        const { bodies, etags } = await pool.run({ body: body as Buffer<ArrayBuffer>, contentType });
        // The thread's buffers arrive as plain arrays of bytes.
        const buffers = Object.entries(bodies).map(([encoding, { buffer }]) => [encoding, Buffer.from(buffer)]);
        return { bodies: Object.fromEntries(buffers), etags };
      } catch (error) {
        if (error instanceof PoolClosed || error instanceof ThreadLost) return encode(body, contentType);
        throw error;
      }
    },
    close: () => pool.close(),
  };
}

// A page is compressed once, as brotli, which nearly every browser asks for. Compressing again with a higher quality would save a
// seventh of the bytes, but other bytes need another strong ETag (RFC 9110, section 8.8.1), so every browser that has the page would
// fetch it again.

/** Below this many bytes compression saves no packet. */
const tiny = 860;
/** A body that compression doesn't reduce to less than this share is sent uncompressed. */
const worthwhile = 0.9;
/** A page of 100 kB of the demo edition: 34.2 kB in 1.8 ms at quality 5, 33.6 kB in 16 ms at 9, 29.4 kB in 88 ms at 11. */
const brotliQuality = 5;
const gzipLevel = 6;

/** The bytes to store, and their ETag. */
export interface Encoded {
  readonly bodies: Bodies;
  readonly etags: StoredPage['etags'];
}

/** Whether compressing a body would help. */
const isWorthIt = (bytes: number, contentType: string): boolean => bytes >= tiny && isCompressible(contentType);

/** Compresses a body; a body that is tiny or doesn't shrink stays as it is. */
export function encode(body: Buffer, contentType: string): Encoded {
  if (!isWorthIt(body.byteLength, contentType)) return encodeNothing(body);
  const br = brotliCompressSync(body, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      [constants.BROTLI_PARAM_SIZE_HINT]: body.byteLength,
    },
  });
  if (br.byteLength > body.byteLength * worthwhile) return encodeNothing(body);
  return { bodies: { br: own(br) }, etags: { br: etagOf(br, 'br') } };
}

/** Compresses in the calling thread: for a process that does nothing else, on a machine whose other cores are busy, too. */
export const localEncoder: Encoder = {
  encode: async (body, contentType) => encode(body, contentType),
  close: async () => {},
};

/** The bytes before compression, from brotli. */
export const decode = (br: Uint8Array): Buffer => own(brotliDecompressSync(br));

/** A page as gzip, for clients that don't take brotli. */
export const zip = (body: Uint8Array): Buffer => own(gzipSync(body, { level: gzipLevel }));

/** A body that is sent as it is. */
export const encodeNothing = (body: Buffer): Encoded => ({
  bodies: { identity: own(body) },
  etags: { identity: etagOf(body, 'identity') },
});

/** Compressors return slices of larger blocks; a stored slice would keep the whole block in memory, beyond the byte budget. */
function own(bytes: Buffer): Buffer {
  if (bytes.byteLength === bytes.buffer.byteLength) return bytes;
  const copy = Buffer.allocUnsafeSlow(bytes.byteLength);
  bytes.copy(copy);
  return copy;
}
