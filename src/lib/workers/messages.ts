/** Messages between a worker pool and its threads. */

export type ToThread<Task> =
  | { readonly id: number; readonly task: Task }
  | { readonly reply: number; readonly value: unknown };

export type FromThread<Result> =
  | { readonly id: number; readonly result: Result }
  | { readonly id: number; readonly failure: string }
  /** A question of the thread to the main thread, see `askMainThread`. */
  | { readonly call: number; readonly request: unknown };
