/**
 * Searches off the main thread. A search of common words goes through the words of the whole archive, a tenth of a second and more,
 * and nobody's page must wait for that. One question is answered after the other; how many wait, and how long, is bounded.
 */
import { Worker } from 'node:worker_threads';
import type { Logger } from '../lib/logging.ts';
import type { FoundArticles, SearchFilter } from './search.server.ts';
import { SearchBusy } from './search-busy.ts';
import type { FromSearch, ToSearch } from './search-messages.ts';

export type LookUp = (text: string, filter: SearchFilter) => FoundArticles;

export interface SearchThread {
  /** @throws SearchBusy when too much is asked at once */
  ask(text: string, filter: SearchFilter): Promise<FoundArticles>;
  close(): Promise<void>;
}

export interface SearchThreadOptions {
  /** The mirror's file. */
  readonly file: string;
  readonly generation: () => number;
  /** Searches in this thread, where others cannot start. */
  readonly local: LookUp;
  readonly log: Logger;
  /** What runs in the thread; another one in tests. */
  readonly module?: URL;
  /** Questions that may wait, 50 by default. */
  readonly most?: number;
  /** Milliseconds that one may wait for its turn, 3,000 by default: after that nobody looks at the answer. */
  readonly patienceMs?: number;
}

interface Job {
  readonly text: string;
  readonly filter: SearchFilter;
  readonly since: number;
  resolve(found: FoundArticles): void;
  reject(error: Error): void;
}

/** The thread starts with the first question. */
export function createSearchThread(options: SearchThreadOptions): SearchThread {
  const { file, generation, local, log, most = 50, patienceMs = 3000 } = options;
  const module = options.module ?? new URL('./search.worker.ts', import.meta.url);
  const waiting: Job[] = [];
  let worker: Worker | null = null;
  let current: { readonly number: number; readonly job: Job } | null = null;
  let numbers = 0;
  let worked = false;
  let unable = false;
  let closed = false;

  function next(): void {
    while (!current && !closed) {
      const job = waiting.shift();
      if (!job) return;
      if (performance.now() - job.since > patienceMs) {
        job.reject(new SearchBusy());
        continue;
      }
      if (unable) {
        here(job);
        continue;
      }
      worker ??= spawn();
      current = { number: ++numbers, job };
      const { text, filter } = job;
      worker.postMessage({ number: numbers, generation: generation(), text, filter } satisfies ToSearch);
    }
  }

  function here({ text, filter, resolve, reject }: Job): void {
    try {
      resolve(local(text, filter));
    } catch (error) {
      reject(error as Error);
    }
  }

  function spawn(): Worker {
    const started = new Worker(module, { workerData: { file }, resourceLimits: { maxOldGenerationSizeMb: 96 } });
    started.unref();
    started.on('message', (message: FromSearch) => {
      if (current?.number !== message.number) return;
      const { job } = current;
      current = null;
      worked = true;
      if ('found' in message) job.resolve(message.found);
      else job.reject(new Error(message.failure));
      next();
    });
    const lost = (error: unknown): void => {
      if (worker !== started || closed) return;
      worker = null;
      const job = current?.job;
      current = null;
      unable ||= !worked;
      if (unable) {
        log.error({ error: String(error) }, 'search: threads do not start here, working without them');
        if (job) here(job);
      } else {
        log.error({ error: String(error) }, 'search: the thread was lost, another one is started');
        // Not asked again: it may be the one to blame.
        job?.reject(new Error(`search failed: ${String(error)}`));
      }
      next();
    };
    started.on('error', lost);
    started.on('exit', (code) => lost(`thread ended with ${code}`));
    return started;
  }

  return {
    ask: (text, filter) =>
      new Promise((resolve, reject) => {
        if (closed) return reject(new Error('the search is closed'));
        if (waiting.length >= most) return reject(new SearchBusy());
        waiting.push({ text, filter, since: performance.now(), resolve, reject });
        next();
      }),
    async close() {
      closed = true;
      const left = [...(current ? [current.job] : []), ...waiting.splice(0)];
      current = null;
      for (const job of left) job.reject(new Error('the search is closed'));
      await worker?.terminate();
      worker = null;
    },
  };
}
