/** The worker thread that compresses pages; `compressor.server.ts` starts it. */
import { serveTasks } from '../../lib/workers/pool.server.ts';
import { type CompressedPage, encode, type PageToCompress } from './compressor.server.ts';

serveTasks(
  ({ body, contentType }: PageToCompress): CompressedPage => {
    const { bodies, etags } = encode(Buffer.from(body.buffer, body.byteOffset, body.byteLength), contentType);
    // The body isn't sent back: the main thread still has it.
    const compressed = Object.entries(bodies).filter(([encoding]) => encoding !== 'identity');
    return { bodies: Object.fromEntries(compressed), etags };
  },
  // `encode` gives each compressed body memory of its own, so that the whole of it can move.
  ({ bodies }) => Object.values(bodies).map(({ buffer }) => buffer),
);
