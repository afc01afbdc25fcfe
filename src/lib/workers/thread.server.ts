/** The thread's side of a worker pool: a `*.worker.ts` module calls {@link serveTasks} once. */
import { parentPort, type Transferable } from 'node:worker_threads';

const calls = new Map<number, (value: unknown) => void>();
let lastCall = 0;

function port(): NonNullable<typeof parentPort> {
  if (!parentPort) throw new Error('A *.worker.ts module runs in a worker thread; a worker pool starts it.');
  return parentPort;
}

/**
 * Performs the tasks that the pool sends.
 *
 * @param transfer memory that moves to the main thread with a result instead of being copied
 */
export function serveTasks<Task, Result>(
  perform: (task: Task) => Result | Promise<Result>,
  transfer: (result: Result) => readonly Transferable[] = () => [],
): void {
  const send = (message: FromThread<Result>, list: readonly Transferable[] = []): void =>
    port().postMessage(message, list);

  async function work(id: number, task: Task): Promise<void> {
    try {
      const result = await perform(task);
      send({ id, result }, transfer(result));
    } catch (error) {
      send({ id, failure: error instanceof Error ? error.message : String(error) });
    }
  }

  port().on('message', (message: ToThread<Task>) => {
    if ('task' in message) {
      void work(message.id, message.task);
      return;
    }
    calls.get(message.reply)?.(message.value);
    calls.delete(message.reply);
  });
}

/** Asks the main thread in the middle of a task; the pool's `onCall` answers. `null`: it has no answer. */
export function askMainThread(request: unknown): Promise<unknown> {
  return new Promise((resolve) => {
    calls.set(++lastCall, resolve);
    port().postMessage({ call: lastCall, request } satisfies FromThread<never>);
  });
}

/** A message from the pool to its thread. */
export type ToThread<Task> =
  | { readonly id: number; readonly task: Task }
  | { readonly reply: number; readonly value: unknown };

/** A message from a thread to its pool. */
export type FromThread<Result> =
  | { readonly id: number; readonly result: Result }
  | { readonly id: number; readonly failure: string }
  /** A question of the thread to the main thread, see `askMainThread`. */
  | { readonly call: number; readonly request: unknown };
