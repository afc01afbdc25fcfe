/** Table of the job queue, made by `src/server/migrations/jobs.ts`. */

/** Each queue is worked on by one feature. */
export type QueueName = 'mail' | 'comments' | 'stripe';

export interface JobsTable {
  id: string;
  queue: QueueName;
  /** One of the kinds of its queue. */
  kind: string;
  /** What the job is about, such as an address or a comment's id; `null` once the job has ended. */
  subject: string | null;
  /** Further data for the worker; `null` where there is none, and once the job has ended. */
  payload: string | null;
  /** 0 goes first. */
  priority: number;
  created: number;
  /** When it may be tried next; while it is claimed, the end of the lease. */
  due: number;
  /** After this time the job is dropped; `null`: it is retried until it succeeds. */
  expires: number | null;
  /** Claim of the process that works on it; `null` while it waits. */
  claim: string | null;
  tries: number;
  /** How often it was added; a job that was added again while it was worked on runs again. */
  causes: number;
  /** When it ended; `null` while it waits. */
  ended: number | null;
  /** How it ended, for instance `sent`, `refused`, `expired`. */
  outcome: string | null;
  /** Why. */
  detail: string | null;
}

export interface JobsTables {
  jobs: JobsTable;
}
