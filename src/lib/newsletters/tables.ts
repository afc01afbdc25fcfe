/** Tables of the newsletters, made by `src/server/migrations/mail.ts`. */

/** A choice of a reader. */
export interface MailChoicesTable {
  user_id: string;
  /** Slug of a newsletter, `breaking` or `offers`. */
  choice: string;
  since: number;
}

/** The issue of one day, or an alert, and how far it has been sent. */
export interface NewsletterIssuesTable {
  /** Newsletter and day, such as `morning:2026-11-21`; of an alert `breaking` and its id. */
  id: string;
  letter: string;
  /** Calendar day in the newspaper's time zone. */
  day: string;
  /** The issue as JSON. */
  content: string;
  /** Id of the last reader whose copy is in the outbox; empty before the first. */
  cursor: string;
  /** Readers whose copy is in the outbox. */
  addressed: number;
  created: number;
  finished: number | null;
}

export interface NewsletterTables {
  mail_choices: MailChoicesTable;
  newsletter_issues: NewsletterIssuesTable;
}
