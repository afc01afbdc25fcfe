/** The list of all data that features store about a user. Export, deletion, pruning and disowning use all of it: billing first, accounts last. */
import { sql } from 'kysely';
import type { AccountsTransaction } from '../lib/database.ts';
import type { Logger } from '../lib/logging.ts';
import type { DeclaredData, PersonalData } from '../lib/personal-data.ts';

export interface PersonalDataList {
  /** First: after a failed deletion an account can be deleted again, but a subscription without an account would still be charged. */
  readonly billing: PersonalData | null;
  readonly newsletters: DeclaredData;
  readonly support: DeclaredData;
  /** Also while comments are off, because earlier comments are in WordPress. */
  readonly comments: DeclaredData;
  readonly access: DeclaredData;
  readonly savedStories: DeclaredData;
  readonly privateFeeds: DeclaredData;
  /** Last: it deletes the account's row, and with it all rows that reference it. */
  readonly accounts: PersonalData;
}

/** Combines all of them. @param list read at each call: the accounts need it before the comments exist */
export function personalDataOf(list: () => PersonalDataList, log: Pick<Logger, 'error'>): PersonalData {
  const all = (): readonly DeclaredData[] => {
    // The others by their own names, so that a new feature in the list needs no change here.
    const { billing, accounts, ...others } = list();
    return [billing, ...Object.values(others), accounts].filter((one) => one !== null);
  };
  return {
    get tables() {
      return Object.assign({}, ...all().map(({ tables }) => tables)) as PersonalData['tables'];
    },
    async export(user) {
      const parts: Readonly<Record<string, unknown>>[] = [];
      for (const one of all()) parts.push(await one.export(user));
      return Object.assign({}, ...parts) as Readonly<Record<string, unknown>>;
    },
    async erase(user, caller) {
      for (const one of all()) await one.erase?.(user, caller);
      // Again, for a purchase that began while the account was being deleted.
      await list()
        .billing?.erase(user, caller)
        .catch((error: unknown) =>
          log.error({ err: error }, 'Purchases made during the deletion of an account remain'),
        );
    },
    async disown(tx, userId) {
      for (const one of all()) await (one.disown ? one.disown(tx, userId) : deleteRows(one, tx, userId));
    },
  };
}

async function deleteRows({ tables }: DeclaredData, tx: AccountsTransaction, userId: string): Promise<void> {
  for (const [table, becomes] of Object.entries(tables)) {
    if (becomes === 'gone') await sql`delete from ${sql.table(table)} where user_id = ${userId}`.execute(tx);
  }
}
