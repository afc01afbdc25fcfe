/**
 * Compression of a page before it is stored, in libuv's threads and not on the main one.
 *
 * One quality, once. A second, harder compression in an idle hour would save a seventh of the bytes, but other bytes are
 * another strong ETag (RFC 9110, section 8.8.1): every browser that holds the page would fetch it again, whole, to see
 * nothing new. That costs more than it saves.
 */
import { promisify } from 'node:util';
import { brotliCompress, constants, gunzipSync, gzip } from 'node:zlib';
import { type Bodies, type Encoding, etagOf } from './stored-page.ts';

const brotli = promisify(brotliCompress);
const gz = promisify(gzip);

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

/** Compresses a body; what is tiny or does not shrink stays as it is. */
export async function encode(body: Buffer, contentType: string): Promise<Encoded> {
  if (body.byteLength < tiny || !compressible.test(contentType)) return withEtags({ identity: own(body) });
  const [br, zipped] = await Promise.all([
    brotli(body, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
        [constants.BROTLI_PARAM_SIZE_HINT]: body.byteLength,
      },
    }),
    gz(body, { level: gzipLevel }),
  ]);
  if (zipped.byteLength > body.byteLength * worthwhile) return withEtags({ identity: own(body) });
  return withEtags({ br: own(br), gzip: own(zipped) });
}

/** The bytes before compression, from gzip. */
export const decode = (zipped: Uint8Array): Buffer => own(gunzipSync(zipped));

/** A body that is sent as it is, for answers that are not kept. */
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
