/** What the meter and the gifts keep of a user. */
import type { PersonalData } from '../personal-data.ts';
import type { Access } from './service.ts';

export const accessData = (access: Pick<Access, 'exportData'>): PersonalData => ({
  tables: { article_reads: 'gone', gifts: 'gone' },
  export: ({ userId }) => access.exportData(userId),
  // All of it hangs on the account's row.
  erase: async () => {},
  async disown(tx, userId) {
    await tx.deleteFrom('article_reads').where('user_id', '=', userId).execute();
    // Links that were given away open nothing any more, and the owner has the whole allowance.
    await tx.deleteFrom('gifts').where('user_id', '=', userId).execute();
  },
});
