/**
 * The accounts database as the features see it. `src/server/database/` opens it: SQLite by default, PostgreSQL by
 * `DATABASE_URL`; each feature brings its own tables.
 *
 * Columns are the same in both engines: ids and JSON are text, times are whole epoch milliseconds unless a name ends in
 * `At` with capital letters before it (those of users, sessions and identities, ISO text), booleans are 0 and 1.
 */
import type { Kysely, Transaction } from 'kysely';
import type { AccessTables } from './access/tables.ts';
import type { AccountsTables } from './accounts/tables.ts';
import type { AlertTables } from './alerts/model.ts';
import type { BillingTables } from './billing/tables.ts';
import type { CommentsTables } from './comments/model.ts';
import type { HeadlineTestTables } from './headline-tests/model.ts';
import type { JobsTables } from './jobs/tables.ts';
import type { PopularityTables } from './most-read/model.ts';
import type { NewsletterTables } from './newsletters/model.ts';
import type { SavedStoriesTables } from './saved/model.ts';
import type { PrivateFeedTables } from './sound/private-feeds.ts';
import type { SupportTables } from './support/schema.ts';

/** Browsers that are signed in with the operators' token; a row that is gone is signed out in every process. */
interface OperatorSessionsTable {
  /** Hash of what the cookie carries. */
  id: string;
  /** Epoch milliseconds. */
  expires: number;
}

/** All tables. A feature adds its own interface here and its migration to `src/server/migrations/`. */
export interface AccountsDatabase
  extends AccountsTables,
    JobsTables,
    BillingTables,
    AccessTables,
    AlertTables,
    HeadlineTestTables,
    NewsletterTables,
    PopularityTables,
    SupportTables,
    CommentsTables,
    SavedStoriesTables,
    PrivateFeedTables {
  operator_sessions: OperatorSessionsTable;
}

export type Queries = Kysely<AccountsDatabase>;
export type AccountsTransaction = Transaction<AccountsDatabase>;
export type Engine = 'sqlite' | 'postgres';

export interface Database {
  readonly engine: Engine;
  /** For reads and single statements; inside {@link transaction} use what it hands over. */
  readonly db: Queries;
  /**
   * Runs `work` in one transaction, which is rolled back when it throws. Under PostgreSQL a deadlock runs it again, so it must
   * do nothing that cannot be repeated. What is read in order to be written belongs into one statement, or behind `for update`.
   *
   * @throws DatabaseUnavailable when the database does not answer, is locked, or is from a newer version
   */
  transaction<T>(work: (tx: AccountsTransaction) => Promise<T>): Promise<T>;
  /** Why the database cannot be used now, a sentence for the operator; `null` when it can. */
  problem(): string | null;
  /** Breaks every query off after this time, in milliseconds: one that gets no answer must not hold up a stop. */
  breakOffAfter(ms: number): void;
  close(): Promise<void>;
}

/** Locks a user's row until the transaction ends: of two changes of one user at once, the second waits here. */
export async function lockUserRow(tx: AccountsTransaction, userId: string): Promise<void> {
  await tx
    .updateTable('users')
    .set((each) => ({ updatedAt: each.ref('updatedAt') }))
    .where('id', '=', userId)
    .execute();
}

/** The database does not answer now. A route says 503; stored pages need no database. */
export class DatabaseUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'DatabaseUnavailable';
  }
}
