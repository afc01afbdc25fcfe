/** Table of the mail, made by `src/server/migrations/0002-mail.ts`. */

export interface OutboxTable {
  id: string;
  /** `link`, `code`, `welcome`. */
  kind: string;
  /** Address; `null` once the message has ended. */
  recipient: string | null;
  /** The message, JSON, with its link or code; `null` once the message has ended. */
  payload: string | null;
  created: number;
  /** After this it is dropped, never sent. */
  expires: number;
  /** When it may be tried next; while it is being sent, when somebody else may take it over. */
  due: number;
  /** Who is sending it; `null` before the first time. */
  claim: string | null;
  tries: number;
  /** When it ended; `null` while it waits. */
  ended: number | null;
  /** `sent`, `refused`, `expired`. */
  outcome: string | null;
  /** What the mail server said, in numbers. */
  detail: string | null;
}

export interface MailTables {
  mail_outbox: OutboxTable;
}
