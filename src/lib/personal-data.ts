/**
 * What a feature stores about a user, declared by the feature itself. `src/server/personal-data.ts` runs all declarations in one order;
 * a test fails when a table that names a user is in none of them.
 */
import type { Caller, Session } from './accounts/service.ts';
import type { AccountsDatabase, AccountsTransaction } from './database.ts';

/** The user whose data it is. */
export type Owner = Pick<Session, 'userId' | 'email' | 'emailVerified'>;

/** What `disown` does to a user's rows: `gone` (deleted, or without the user), or `kept` (paid for, or a record that must stay). */
export type Disowned = 'gone' | 'kept';

export interface PersonalData {
  /** The feature's tables that name a user. */
  readonly tables: Partial<Readonly<Record<keyof AccountsDatabase, Disowned>>>;
  /** Everything stored about a user, for the user. */
  export(user: Owner): Promise<Readonly<Record<string, unknown>>>;
  /**
   * Deletes it because the account is deleted.
   *
   * @param caller the user who deletes the account; `null`: it was abandoned before its address was confirmed
   */
  erase(user: Owner, caller: Caller | null): Promise<void>;
  /** Deletes what was stored before the owner of the email address proved it in another browser. */
  disown(tx: AccountsTransaction, userId: string): Promise<void>;
}

/**
 * What a feature declares. Without `erase`, its rows are deleted with the account's row. Without `disown`, the user's rows of its tables
 * that are `gone` are deleted, by their column `user_id`.
 */
export type DeclaredData = Pick<PersonalData, 'tables' | 'export'> & Partial<PersonalData>;
