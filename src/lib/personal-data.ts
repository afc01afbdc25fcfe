/**
 * What a feature keeps of a user, declared by the feature itself. `src/server/personal-data.ts` lists all of them in order; a table
 * with a user's data that none of them names fails a test.
 */
import type { Session } from './accounts/service.ts';
import type { AccountsDatabase, AccountsTransaction } from './database.ts';

/** Whose data it is. */
export type Owner = Pick<Session, 'userId' | 'email' | 'emailVerified'>;

/**
 * What becomes of a user's rows when the address is proven by someone else than the one who made the account: `gone` (deleted, or
 * without the user), or `kept` (it was paid for, or is a record that must stay).
 */
export type Disowned = 'gone' | 'kept';

export interface PersonalData {
  readonly tables: Partial<Readonly<Record<keyof AccountsDatabase, Disowned>>>;
  /** Everything kept about a user, for the user. */
  export(user: Owner): Promise<Readonly<Record<string, unknown>>>;
  /** Before the account is deleted. What hangs on the account's row goes with it. */
  erase(user: Owner): Promise<void>;
  /** After the account was deleted: what came in between. Must not fail. */
  erased?(user: Owner): Promise<void>;
  /** The address is proven, and not by the browser that is signed in: what was put in before was not the owner's. */
  disown(tx: AccountsTransaction, userId: string): Promise<void>;
}

/** Nothing is kept beside the account itself. */
export const noPersonalData: PersonalData = {
  tables: {},
  export: async () => ({}),
  erase: async () => {},
  disown: async () => {},
};
