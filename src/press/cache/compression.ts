/**
 * Compression of a page before it is stored; `encoder.server.ts` does it in a thread of its own.
 *
 * One quality, once. A second, harder compression in an idle hour would save a seventh of the bytes, but other bytes are
 * another strong ETag (RFC 9110, section 8.8.1): every browser that holds the page would fetch it again, whole, to see
 * nothing new. That costs more than it saves.
 */
import { brotliCompressSync, constants, gunzipSync, gzipSync } from 'node:zlib';
import { type Bodies, type Encoding, etagOf } from '../store/stored-page.ts';

/** Below this many bytes compression saves no packet. */
const tiny = 860;
/** Bytes that stay above this share of their size are sent as they are. */
const worthwhile = 0.9;
/** A page of 100 kB of the demo edition: 34.2 kB in 1.8 ms at quality 5, 33.6 kB in 16 ms at 9, 29.4 kB in 88 ms at 11. */
const brotliQuality = 5;
const gzipLevel = 6;

const compressible =
  /^(?:text\/|application\/(?:json|javascript|manifest\+json|(?:[a-z.+-]+\+)?xml|[a-z.+-]+\+json|xml)|image\/svg\+xml)/;

/** Compressed bytes and their ETags. */
export interface Encoded {
  readonly bodies: Bodies;
  readonly etags: Readonly<Partial<Record<Encoding, string>>>;
}

/** Whether there is anything to gain from compressing a body. */
export const isWorthIt = (bytes: number, contentType: string): boolean =>
  bytes >= tiny && compressible.test(contentType);

/** Compresses a body; what is tiny or does not shrink stays as it is. */
export function encode(body: Buffer, contentType: string): Encoded {
  if (!isWorthIt(body.byteLength, contentType)) return encodeNothing(body);
  const zipped = gzipSync(body, { level: gzipLevel });
  if (zipped.byteLength > body.byteLength * worthwhile) return encodeNothing(body);
  const br = brotliCompressSync(body, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      [constants.BROTLI_PARAM_SIZE_HINT]: body.byteLength,
    },
  });
  return withEtags({ br: own(br), gzip: own(zipped) });
}

/** The bytes before compression, from gzip. */
export const decode = (zipped: Uint8Array): Buffer => own(gunzipSync(zipped));

/** A body that is sent as it is. */
export const encodeNothing = (body: Buffer): Encoded => withEtags({ identity: own(body) });

function withEtags(bodies: Bodies): Encoded {
  const etags: Partial<Record<Encoding, string>> = {};
  for (const [encoding, bytes] of Object.entries(bodies) as [Encoding, Buffer][]) {
    etags[encoding] = etagOf(bytes, encoding);
  }
  return { bodies, etags };
}

/** Compressors hand out slices of larger blocks; a kept slice would keep the whole block and belie the byte budget. */
function own(bytes: Buffer): Buffer {
  if (bytes.byteLength === bytes.buffer.byteLength) return bytes;
  const copy = Buffer.allocUnsafeSlow(bytes.byteLength);
  bytes.copy(copy);
  return copy;
}
