/** Tables of what readers want by mail, made by `src/server/migrations/mail.ts`. */

/** What a reader has chosen; what is not there was not chosen. */
export interface MailChoicesTable {
  user_id: string;
  /** Slug of a newsletter, or `offers`. */
  choice: string;
  since: number;
}

/** A letter of one day, and how far it has been addressed. */
export interface NewsletterIssuesTable {
  /** Letter and day, for instance `morning:2026-11-21`: there is one of each. */
  id: string;
  letter: string;
  /** Calendar day in the paper's zone. */
  day: string;
  /** What stands in it, JSON. */
  content: string;
  /** Number of the last reader for whom it was handed to the outbox; empty before the first. */
  cursor: string;
  /** Readers for whom it was handed to the outbox. */
  addressed: number;
  created: number;
  finished: number | null;
}

export interface NewsletterTables {
  mail_choices: MailChoicesTable;
  newsletter_issues: NewsletterIssuesTable;
}
