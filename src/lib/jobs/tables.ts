/** Table of the job queue, made by `src/server/migrations/jobs.ts`. */

/** Each queue belongs to one feature, which runs its jobs. */
export type QueueName = 'mail' | 'comments' | 'stripe';

export interface JobsTable {
  id: string;
  queue: QueueName;
  /** One of the kinds of its queue. */
  kind: string;
  /** The subject, such as an address or a comment's id; `null` once the job has ended. */
  subject: string | null;
  /** Further data for the worker; `null` if there is none, and once the job has ended. */
  payload: string | null;
  /** 0 goes first. */
  priority: number;
  created: number;
  /** When it is due; while it is claimed, the end of the lease. */
  due: number;
  /** After this time the job is dropped; `null`: it is retried until it succeeds. */
  expires: number | null;
  /** When it is due after this run, if it was added again while it ran; otherwise `null`. */
  next_due: number | null;
  /** The claim of a process; `null` while the job waits. */
  claim: string | null;
  tries: number;
  /** How often it was added; a job that was added again while it ran runs again. */
  causes: number;
  /** When it ended; `null` while it waits. */
  ended: number | null;
  /** The outcome, for instance `sent`, `refused`, `expired`. */
  outcome: string | null;
  /** The reason of the outcome. */
  detail: string | null;
}

export interface JobsTables {
  jobs: JobsTable;
}
