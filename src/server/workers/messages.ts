/**
 * Messages between the processes of `WORKERS`: the writer syncs, renders and owns every database; serving workers answer with cached
 * pages. All messages pass through the supervisor (supervisor.ts), which adds the sender.
 */

import type { LiveStory } from '../../lib/content/model.ts';

/** What a serving worker needs to start, and again after a new writer has started. */
export interface Opening {
  readonly kind: 'open';
  /** The writer's Unix socket for all requests that can't be answered from the cache. */
  readonly socket: string;
  /** The page store. */
  readonly file: string;
  readonly build: string;
  /** Whether there is an edition. */
  readonly isReady: boolean;
  readonly isStored: boolean;
  /** The banner that pages show; `null`: none. */
  readonly banner: string | null;
  /** The stories that are live. */
  readonly live: readonly LiveStory[];
}

/** Events of live stories, see `LiveSink`. */
export type LiveMessage =
  | { readonly kind: 'live-stories'; readonly stories: readonly LiveStory[] }
  | { readonly kind: 'live-events'; readonly story: LiveStory; readonly events: string };

/** To a serving worker. A `number` is repeated in the answer. */
export type ToServing =
  | Opening
  /** Pages that must be looked up in the store again. `isStored: false`: it can't be written, so that its pages may be outdated. */
  | {
      readonly kind: 'replaced';
      readonly number: number;
      readonly names: readonly string[] | 'all';
      readonly isReady: boolean;
      readonly isStored: boolean;
    }
  /** The banner that pages show from now on; `null`: none. */
  | { readonly kind: 'banner'; readonly number: number; readonly html: string | null }
  | LiveMessage
  | { readonly kind: 'measure'; readonly number: number }
  | { readonly kind: 'stop' }
  | { readonly kind: 'writer-gone' };

/** To the writer. `from` is the worker's id. */
export type ToWriter = (
  | { readonly kind: 'joined' }
  /** The answer to new pages or a new banner. */
  | { readonly kind: 'done'; readonly number: number }
  | { readonly kind: 'metrics'; readonly number: number; readonly metrics: readonly object[] }
  | { readonly kind: 'reads'; readonly reads: readonly (readonly [name: string, count: number])[] }
  | { readonly kind: 'left' }
) & { readonly from: number };

/** To a restarted writer: counts of processes that have ended, as last reported at `/metrics`. */
export interface CountedBefore {
  readonly kind: 'counted-before';
  readonly counts: readonly (readonly object[])[];
}

/** From a serving worker, to be passed on. */
export type FromServing = ToWriter extends infer One
  ? One extends { from: number }
    ? Omit<One, 'from'>
    : never
  : never;

/** From the writer; `to` is a worker's id. */
export interface FromWriter {
  readonly to: number | 'all';
  readonly message: ToServing;
}

/** The writer gives up on a serving worker that doesn't respond: it may show withdrawn pages. */
export interface Unresponsive {
  readonly unresponsive: number;
}

/** The counts that the writer has reported at `/metrics`, for a later writer. */
export interface Counted {
  readonly counted: {
    /** The writer's own counts, with those of all processes that have ended. */
    readonly ended: readonly object[];
    readonly serving: readonly (readonly [worker: number, counts: readonly object[]])[];
  };
}

/** From a worker to the supervisor. */
export type FromWorker =
  | FromServing
  | FromWriter
  | Counted
  | Unresponsive
  /** The worker is ready for connections. */
  | { readonly ready: true }
  /** It has taken a connection, or its client has gone. */
  | { readonly taken: number }
  /** It has come too late for a connection and hasn't touched it. */
  | { readonly declined: number }
  /** It was asked to stop, and stops. */
  | { readonly stopping: true };

/** A connection, which comes with the message. */
export interface Connection {
  readonly kind: 'connection';
  readonly number: number;
  /**
   * When it was handed over, see {@link machineMs}. After {@link takenWithinMs} the worker must not use it, because another
   * worker gets it.
   */
  readonly at: number;
}

export const takenWithinMs = 1500;

/** Milliseconds on the machine's monotonic clock, which all processes share. */
export const machineMs = (): number => Number(process.hrtime.bigint() / 1_000_000n);
