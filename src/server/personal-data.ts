/** The list of all data that features store about a user. Export, deletion, pruning and disowning use all of it: billing first, accounts last. */
import type { Logger } from '../lib/logging.ts';
import type { PersonalData } from '../lib/personal-data.ts';

export interface PersonalDataList {
  /** First: after a failed deletion an account can be deleted again, but a subscription without an account would still be charged. */
  readonly billing: PersonalData | null;
  readonly newsletters: PersonalData;
  readonly support: PersonalData;
  /** Also while comments are off, because earlier comments are in WordPress. */
  readonly comments: PersonalData;
  readonly access: PersonalData;
  readonly savedStories: PersonalData;
  readonly privateFeeds: PersonalData;
  /** Last: it deletes the account's row, and with it all rows that reference it. */
  readonly accounts: PersonalData;
}

/** Combines all of them. @param list read at each call: the accounts need it before the comments exist */
export function personalDataOf(list: () => PersonalDataList, log: Pick<Logger, 'error'>): PersonalData {
  const all = (): readonly PersonalData[] => {
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
      for (const one of all()) await one.erase(user, caller);
      // Again, for a purchase that began while the account was being deleted.
      await list()
        .billing?.erase(user, caller)
        .catch((error: unknown) =>
          log.error({ err: error }, 'Purchases made during the deletion of an account remain'),
        );
    },
    async disown(tx, userId) {
      for (const one of all()) await one.disown(tx, userId);
    },
  };
}
