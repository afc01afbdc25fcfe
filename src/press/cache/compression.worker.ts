/** The worker thread that compresses pages; `compressor.server.ts` starts it. */
import { serveTasks } from '../../lib/workers/pool.server.ts';
import { type Encoded, encode, type PageToCompress } from './compressor.server.ts';

serveTasks(
  ({ body, contentType }: PageToCompress): Encoded =>
    encode(Buffer.from(body.buffer, body.byteOffset, body.byteLength), contentType),
  // `encode` gives each body its own memory, so that all of it can be transferred.
  ({ bodies }) => Object.values(bodies).map(({ buffer }) => buffer as ArrayBuffer),
);
