/**
 * The accounts database as the features see it. `src/server/database/` opens it: SQLite by default, PostgreSQL by
 * `DATABASE_URL`; each feature brings its own tables.
 *
 * Columns are the same in both engines: ids and JSON are text, booleans are 0 and 1, and times are whole epoch milliseconds,
 * except in camel-case columns that end in `At` (of users, sessions and identities), which are ISO text.
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

/** Browsers that are signed in with the operators' token; deleting a row signs the browser out in every process. */
interface OperatorSessionsTable {
  /** Hash of the cookie's token. */
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
  /** For reads and single statements; inside {@link transaction} use its argument instead. */
  readonly db: Queries;
  /**
   * Runs `work` in one transaction, which is rolled back if it throws. In PostgreSQL it is run again after a deadlock, so it
   * must be repeatable. Values that are read in order to be changed must be changed in the same statement, or read with `for
   * update`.
   *
   * @throws DatabaseUnavailable if the database doesn't answer, is locked, or is from a newer version
   */
  transaction<T>(work: (tx: AccountsTransaction) => Promise<T>): Promise<T>;
  /** Why the database cannot be used now, a sentence for the operator; `null` when it can. */
  problem(): string | null;
  /** Aborts every query after this time, in milliseconds: a query without an answer must not delay a stop. */
  abortQueriesAfter(ms: number): void;
  close(): Promise<void>;
}

/** Locks a user's row until the transaction ends: of two simultaneous changes of a user, the second waits here. */
export async function lockUserRow(tx: AccountsTransaction, userId: string): Promise<void> {
  await tx
    .updateTable('users')
    .set((each) => ({ updatedAt: each.ref('updatedAt') }))
    .where('id', '=', userId)
    .execute();
}

/** The database doesn't answer now. Routes respond with 503; cached pages need no database. */
export class DatabaseUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'DatabaseUnavailable';
  }
}
