/**
 * The shared dictionary of pages (RFC 9842): a file that browsers have, against which a page is compressed to a fifth of its usual
 * bytes. A thread compresses, because preparing a dictionary of 90 kB costs the calling thread more than the compression itself,
 * even with zlib's asynchronous functions.
 */
import { createHash } from 'node:crypto';
import { type BrotliOptions, brotliCompressSync, constants, zstdCompressSync } from 'node:zlib';
import type { Logger } from '../../lib/logging.ts';
import { createWorkerPool, type WorkerPool } from '../../lib/workers/pool.server.ts';
import { decode } from './compressor.server.ts';

/** Content codings that need the dictionary, the better first: brotli, Zstandard. */
export type DictionaryCoding = 'dcb' | 'dcz';

export interface PageDictionary {
  /** Value of the header `Available-Dictionary` that a browser with this dictionary sends. */
  readonly available: string;
  /**
   * The body of a response in one of the codings.
   *
   * @param stored the page as brotli, as it is stored
   * @throws PoolBusy, PoolClosed, ThreadLost
   */
  compress(stored: Uint8Array, coding: DictionaryCoding): Promise<Buffer>;
  /** Milliseconds that a reader waits for {@link compress} before the page is sent without the dictionary. */
  readonly mostWaitMs: number;
  close(): Promise<void>;
}

export interface PageToCompressWith {
  /** Brotli. */
  readonly stored: Uint8Array;
  readonly coding: DictionaryCoding;
}

/** Bytes before the compressed data (RFC 9842, sections 4 and 5); the dictionary's SHA-256 follows them. */
const magic: Readonly<Record<DictionaryCoding, Buffer>> = {
  dcb: Buffer.from([0xff, 0x44, 0x43, 0x42]),
  /** A skippable frame of Zstandard, 32 bytes long. */
  dcz: Buffer.from([0x5e, 0x2a, 0x4d, 0x18, 0x20, 0, 0, 0]),
};

/** Readers wait for it: 11 would save another 11 % and take seven times as long. */
const brotliQuality = 5;
/** A story of the demo edition, 80 kB: 2.70 kB in 0.8 ms at level 10, 2.71 kB in 9 ms at 12, 2.62 kB in 11 ms at 19. */
const zstdLevel = 10;
/** 1 MB: dictionary and page fit into it, and browsers refuse Zstandard's windows of more than 8 MB or 1.25 times the dictionary. */
const windowLog = 20;

/** Node 24.19's type declarations lack brotli's dictionary option. */
type BrotliWithDictionary = BrotliOptions & { readonly dictionary: Buffer };

const hashOfDictionary = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

/** Compresses a page in the calling thread. @param dictionary the file's content */
export function compressWith(dictionary: Buffer): (page: PageToCompressWith) => Buffer<ArrayBuffer> {
  const hash = hashOfDictionary(dictionary);
  const compress: Readonly<Record<DictionaryCoding, (body: Buffer) => Buffer>> = {
    dcb(body) {
      const options: BrotliWithDictionary = {
        dictionary,
        params: {
          [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
          [constants.BROTLI_PARAM_LGWIN]: windowLog,
          [constants.BROTLI_PARAM_SIZE_HINT]: body.byteLength,
        },
      };
      return brotliCompressSync(body, options);
    },
    dcz: (body) =>
      zstdCompressSync(body, {
        dictionary,
        params: { [constants.ZSTD_c_compressionLevel]: zstdLevel, [constants.ZSTD_c_windowLog]: windowLog },
      }),
  };
  return ({ stored, coding }) => {
    const parts = [magic[coding], hash, compress[coding](decode(stored))];
    const length = parts.reduce((sum, { byteLength }) => sum + byteLength, 0);
    // Its own memory: a slice of a larger block would keep the whole block.
    const whole = Buffer.allocUnsafeSlow(length);
    let at = 0;
    for (const part of parts) at += part.copy(whole, at);
    return whole;
  };
}

const threadModule = new URL('./dictionary.worker.ts', import.meta.url);
/** Compressing takes 3 ms, and starting the thread 50. On a slow phone's line (1.6 Mbit/s) the dictionary saves 40 ms. */
const defaultMostWaitMs = 100;

/**
 * @param bytes the file's content
 * @param mostWaitMs default: {@link defaultMostWaitMs}
 */
export function createPageDictionary(
  bytes: Buffer,
  log: Logger,
  mostWaitMs: number = defaultMostWaitMs,
): PageDictionary {
  const pool: WorkerPool<PageToCompressWith, Uint8Array<ArrayBuffer>> = createWorkerPool({
    name: 'dictionary',
    module: threadModule,
    workerData: new Uint8Array(bytes),
    resourceLimits: { maxOldGenerationSizeMb: 64 },
    runLocally: (page: PageToCompressWith) => compressWith(bytes)(page),
    // A view would send the whole buffer that contains it.
    payload: ({ stored, coding }) => ({ stored: new Uint8Array(stored), coding }),
    tasksPerThread: 4,
    // A page that crashes the thread also affects other pages in it, so its second try runs alone.
    maxTries: 2,
    maxWaiting: 200,
    log,
  });
  return {
    available: `:${hashOfDictionary(bytes).toString('base64')}:`,
    async compress(stored, coding) {
      const { buffer } = await pool.run({ stored, coding });
      return Buffer.from(buffer);
    },
    mostWaitMs,
    close: () => pool.close(),
  };
}
