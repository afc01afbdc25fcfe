/** The worker thread that compresses pages with the shared dictionary; `dictionary.server.ts` starts it. */
import { workerData } from 'node:worker_threads';
import { serveTasks } from '../../lib/workers/pool.server.ts';
import { compressWith } from './dictionary.server.ts';

const bytes = workerData as Uint8Array;

serveTasks(compressWith(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)), ({ buffer }) => [buffer]);
