/** The worker thread that sanitizes documents; `ingester.server.ts` starts it. */
import { workerData } from 'node:worker_threads';
import { askMainThread, serveTasks } from '../../lib/workers/pool.server.ts';
import type { IngestContext } from './ingest.server.ts';
import { createTaskRunner, type MainThreadRequest, type Task } from './task.server.ts';

type Size = { width: number; height: number } | null;

const settings = workerData as Pick<IngestContext, 'wordpress' | 'site' | 'frameHosts' | 'mediaHosts'>;
const runner = createTaskRunner({
  ...settings,
  measure: (url) => askMainThread({ measure: url } satisfies MainThreadRequest) as Promise<Size>,
  captions: (url) => askMainThread({ captions: url } satisfies MainThreadRequest) as Promise<string | null>,
});

serveTasks((task: Task) => runner.perform(task));
