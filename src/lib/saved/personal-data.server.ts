/** What the library keeps of a user. */
import type { PersonalData } from '../personal-data.ts';
import type { Library } from './model.ts';

const tables = { saved_articles: 'gone', reading_history: 'gone', history_refusals: 'gone' } as const;

export const libraryData = (library: Pick<Library, 'exportData'>): PersonalData => ({
  tables,
  export: ({ userId }) => library.exportData(userId),
  // All of it hangs on the account's row.
  erase: async () => {},
  async disown(tx, userId) {
    for (const table of Object.keys(tables) as (keyof typeof tables)[]) {
      await tx.deleteFrom(table).where('user_id', '=', userId).execute();
    }
  },
});
