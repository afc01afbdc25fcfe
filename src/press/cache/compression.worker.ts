/** The worker thread that compresses pages; `compressor.server.ts` starts it. */
import { serveTasks } from '../../lib/workers/pool.server.ts';
import { type CompressedPage, encode, type PageToCompress } from './compressor.server.ts';

serveTasks(
  ({ body, contentType }: PageToCompress): CompressedPage => {
    const { bodies, etags } = encode(Buffer.from(body.buffer, body.byteOffset, body.byteLength), contentType);
    // The original body isn't sent back, because the main thread still has it.
    const compressed = Object.entries(bodies).filter(([encoding]) => encoding !== 'identity');
    return { bodies: Object.fromEntries(compressed), etags };
  },
  // `encode` gives each compressed body its own memory, so that all of it can be transferred.
  ({ bodies }) => Object.values(bodies).map(({ buffer }) => buffer),
);
