/** The thread in which pages are compressed; `encoder.server.ts` starts it and speaks with it. */
import { parentPort } from 'node:worker_threads';
import { encode } from './encode.ts';
import type { FromEncoder, ToEncoder } from './encoder.server.ts';

const port = parentPort;
if (!port) throw new Error('encode.worker.ts is a worker thread and is started by encoder.server.ts');

port.on('message', ({ number, body, contentType }: ToEncoder) => {
  const { bodies, etags } = encode(Buffer.from(body.buffer, body.byteOffset, body.byteLength), contentType);
  // Handed over whole, for each of them is the only one in its memory. The body itself is still there, where it came from.
  const made = Object.entries(bodies).filter(([encoding]) => encoding !== 'identity');
  const message: FromEncoder = { number, bodies: Object.fromEntries(made), etags };
  port.postMessage(
    message,
    made.map(([, bytes]) => bytes.buffer as ArrayBuffer),
  );
});
