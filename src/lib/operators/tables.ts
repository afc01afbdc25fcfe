/** Table of the operators, made by `src/server/migrations/accounts.ts`. */

/** Browsers that are signed in with the operators' token; a row that is gone is signed out in every process. */
export interface OperatorSessionsTable {
  /** Hash of what the cookie carries. */
  id: string;
  /** Epoch milliseconds. */
  expires: number;
}

export interface OperatorTables {
  operator_sessions: OperatorSessionsTable;
}
