/**
 * The shared dictionary of pages (RFC 9842): a file that browsers have, against which a page is compressed to a fifth of its usual
 * bytes. The format is `dcz`, Zstandard: brotli at its quality 5 would save 4 % more in twice the time.
 */
import { createHash } from 'node:crypto';
import { constants, zstdCompressSync } from 'node:zlib';

export interface PageDictionary {
  /** The header `Available-Dictionary` of a browser that has it. */
  readonly available: string;
  /** The body of a response with `Content-Encoding: dcz`. */
  compress(body: Uint8Array): Buffer;
}

/** A skippable frame of Zstandard, 32 bytes long, in which the dictionary's hash stands (RFC 9842, section 5). */
const magic = Buffer.from([0x5e, 0x2a, 0x4d, 0x18, 0x20, 0, 0, 0]);

/** A story of the demo edition, 80 kB: 2.70 kB in 0.8 ms at level 10, 2.71 kB in 9 ms at 12, 2.62 kB in 11 ms at 19. */
const level = 10;
/** 1 MB: dictionary and page fit into it, and browsers refuse windows of more than 8 MB or 1.25 times the dictionary. */
const windowLog = 20;

/** @param bytes the file's content */
export function createPageDictionary(bytes: Buffer): PageDictionary {
  const hash = createHash('sha256').update(bytes).digest();
  return {
    available: `:${hash.toString('base64')}:`,
    compress: (body) =>
      Buffer.concat([
        magic,
        hash,
        zstdCompressSync(body, {
          dictionary: bytes,
          params: { [constants.ZSTD_c_compressionLevel]: level, [constants.ZSTD_c_windowLog]: windowLog },
        }),
      ]),
  };
}
