/** Table of the support inbox, made by `src/server/migrations/mail.ts`. */

export interface SupportMessagesTable {
  id: string;
  created: number;
  /** Account of the sender; `null` when not signed in. */
  user_id: string | null;
  name: string;
  /** In its normal form. */
  email: string;
  phone: string;
  message: string;
  /** Why it was not mailed, one of `Held`; `null` when it was. */
  held: string | null;
}

export interface SupportTables {
  support_messages: SupportMessagesTable;
}
