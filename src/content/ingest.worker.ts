/** The thread in which documents are sanitised; `ingester.server.ts` starts it and speaks with it. */
import { parentPort, workerData } from 'node:worker_threads';
import type { IngestContext } from './ingest.server.ts';
import type { FromWorker, Task, ToWorker } from './ingest-messages.ts';
import { createLocalWorker } from './ingest-task.server.ts';

const port = parentPort;
if (!port) throw new Error('ingest.worker.ts is a worker thread and is started by ingester.server.ts');

const send = (message: FromWorker): void => port.postMessage(message);

type Size = { width: number; height: number } | null;
const measuring = new Map<number, (size: Size) => void>();
let measures = 0;

const reading = new Map<number, (text: string | null) => void>();
let reads = 0;

const settings = workerData as Pick<IngestContext, 'wordpress' | 'site' | 'frameHosts' | 'mediaHosts'>;
const context: IngestContext = {
  ...settings,
  measure: (url) =>
    new Promise<Size>((resolve) => {
      measuring.set(++measures, resolve);
      send({ measure: measures, url });
    }),
  captions: (url) =>
    new Promise<string | null>((resolve) => {
      reading.set(++reads, resolve);
      send({ captions: reads, url });
    }),
};

const local = createLocalWorker(context);

async function work(task: number, what: Task): Promise<void> {
  try {
    send({ task, result: await local.perform(what) });
  } catch (error) {
    send({ task, failure: error instanceof Error ? error.message : String(error) });
  }
}

port.on('message', (message: ToWorker) => {
  if ('task' in message) void work(message.task, message.what);
  else if ('captioned' in message) {
    reading.get(message.captioned)?.(message.text);
    reading.delete(message.captioned);
  } else {
    measuring.get(message.measured)?.(message.size);
    measuring.delete(message.measured);
  }
});
