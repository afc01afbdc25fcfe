/**
 * Compresses pages in a worker thread. libuv's threads would do for the compression; but asking them costs the main thread about a
 * millisecond for each page (two streams, their chunks and their memory, which is V8's to collect), and this a quarter of it.
 */
import type { Logger } from '../../lib/logging.ts';
import { createWorkerPool, PoolClosed, ThreadLost } from '../../lib/workers/pool.server.ts';
import type { Encoding } from '../store/stored-page.ts';
import { type Encoded, encode, encodeNothing, isWorthIt } from './compression.ts';

/** Compresses a body; what is tiny or doesn't shrink stays as it is. */
export type Encode = (body: Buffer, contentType: string) => Promise<Encoded>;

export interface Encoder {
  readonly encode: Encode;
  /** Ends the thread; pages that it hasn't finished are compressed in the calling thread. */
  close(): Promise<void>;
}

export interface PageToCompress {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly contentType: string;
}

export interface CompressedPage {
  /** Empty where the body stays as it is. */
  readonly bodies: Readonly<Partial<Record<Encoding, Uint8Array<ArrayBuffer>>>>;
  readonly etags: Encoded['etags'];
}

/** Up to this many bytes, compressing a page takes less time than sending it to the thread. */
const small = 8 * 1024;

const threadModule = new URL('./compression.worker.ts', import.meta.url);

/** @param module another thread, for tests */
export function createEncoder(log: Logger, module: URL = threadModule): Encoder {
  const pool = createWorkerPool<PageToCompress, CompressedPage>({
    name: 'compression',
    module,
    resourceLimits: { maxOldGenerationSizeMb: 128 },
    tasksPerThread: Number.POSITIVE_INFINITY,
    runLocally: ({ body, contentType }) =>
      encode(Buffer.from(body.buffer, body.byteOffset, body.byteLength), contentType) as CompressedPage,
    // A view would take all of the memory behind it along.
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
        const compressed = Object.entries(bodies).filter(([encoding]) => encoding !== 'identity');
        if (compressed.length === 0) return encodeNothing(body);
        return {
          bodies: Object.fromEntries(compressed.map(([encoding, { buffer }]) => [encoding, Buffer.from(buffer)])),
          etags,
        };
      } catch (error) {
        if (error instanceof PoolClosed || error instanceof ThreadLost) return encode(body, contentType);
        throw error;
      }
    },
    close: () => pool.close(),
  };
}
