/**
 * Compresses pages in a thread of its own. libuv's threads would do for the compression; but asking them costs the main thread about a
 * millisecond for each page (two streams, their chunks and their memory, which is V8's to collect), and this a quarter of it.
 */
import { Worker } from 'node:worker_threads';
import type { Logger } from '../lib/logging.ts';
import { type Encoded, encode, encodeNothing, isWorthIt } from './encode.ts';
import type { Bodies, Encoding } from './stored-page.ts';

/** Compresses a body; what is tiny or does not shrink stays as it is. */
export type Encode = (body: Buffer, contentType: string) => Promise<Encoded>;

export interface Encoder {
  readonly encode: Encode;
  /** Ends the thread; what it has not answered is compressed here. */
  close(): Promise<void>;
}

export interface ToEncoder {
  readonly number: number;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly contentType: string;
}

export interface FromEncoder {
  readonly number: number;
  /** Empty where the body stays as it is. */
  readonly bodies: Readonly<Partial<Record<Encoding, Uint8Array<ArrayBuffer>>>>;
  readonly etags: Encoded['etags'];
}

interface Job {
  readonly body: Buffer;
  readonly contentType: string;
  resolve(encoded: Encoded): void;
  reject(error: unknown): void;
}

/** Up to this many bytes a page is compressed before the thread has heard of it. */
const small = 8 * 1024;

const threadModule = new URL('./encode.worker.ts', import.meta.url);

/** @param module another thread, for tests */
export function createEncoder(log: Logger, module: URL = threadModule): Encoder {
  const jobs = new Map<number, Job>();
  let thread: Worker | null = null;
  let numbers = 0;
  /** A thread that cannot be had is not asked for with every page. */
  let unable = false;
  let closed = false;

  function here({ body, contentType, resolve, reject }: Job): void {
    try {
      resolve(encode(body, contentType));
    } catch (error) {
      reject(error);
    }
  }

  function start(): Worker {
    const started = new Worker(module, { resourceLimits: { maxOldGenerationSizeMb: 128 } });
    let worked = false;
    started.unref();
    started.on('message', ({ number, bodies, etags }: FromEncoder) => {
      worked = true;
      const job = jobs.get(number);
      jobs.delete(number);
      if (jobs.size === 0) started.unref();
      if (!job) return;
      const made: Bodies = Object.fromEntries(
        Object.entries(bodies).map(([encoding, { buffer }]) => [encoding, Buffer.from(buffer)]),
      );
      job.resolve(Object.keys(made).length > 0 ? { bodies: made, etags } : encodeNothing(job.body));
    });
    const lost = (error: unknown): void => {
      if (thread !== started) return;
      thread = null;
      unable ||= !worked;
      if (!closed)
        log.error({ err: error, unable }, 'The thread that compresses pages was lost; pages are compressed without it');
      const left = [...jobs.values()];
      jobs.clear();
      for (const job of left) here(job);
    };
    started.on('error', lost);
    started.on('exit', (code) => lost(new Error(`The thread ended with ${code}.`)));
    return started;
  }

  return {
    encode: (body, contentType) =>
      new Promise((resolve, reject) => {
        const job: Job = { body, contentType, resolve, reject };
        if (unable || closed || body.byteLength <= small || !isWorthIt(body.byteLength, contentType)) return here(job);
        thread ??= start();
        // Whoever waits for a page must not run out of things to wait for.
        if (jobs.size === 0) thread.ref();
        jobs.set(++numbers, job);
        const { buffer, byteOffset, byteLength } = body as Buffer<ArrayBuffer>;
        // A view takes all of the memory behind it along.
        const alone = byteLength === buffer.byteLength;
        const sent = alone ? new Uint8Array(buffer, byteOffset, byteLength) : new Uint8Array(body);
        thread.postMessage({ number: numbers, body: sent, contentType } satisfies ToEncoder);
      }),
    async close() {
      closed = true;
      await thread?.terminate();
    },
  };
}
